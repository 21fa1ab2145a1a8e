//! The `gatehouse` command.

// They panic where nothing takes the text, such as on a full disk: see `commands::output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod commands;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

// Requests allocate many small pieces for a short time; the system's allocator took a tenth of a login.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let line = match commands::CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => return commands::not_understood(&error),
    };
    match commands::run(line) {
        Ok(code) => code,
        Err(error) => commands::failed(&error),
    }
}
