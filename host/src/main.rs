//! The `gatehouse` command.

mod commands;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

// Requests allocate many small pieces for a short time; the system's allocator took a tenth of a login.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match commands::run(commands::CommandLine::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
