//! `gatehouse operator`: work on a server's machine, and what its first administrators need.

mod user;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use gatehouse_store::create_key_file;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Creates a file with a new root key, for seal.key_file; an existing file is never replaced
    SealKey {
        /// The file to create
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// People who manage organizations
    #[command(subcommand)]
    User(user::Command),
}

pub(super) fn run(command: Command) -> Result<()> {
    match command {
        Command::SealKey { file } => {
            create_key_file(&file)?;
            eprintln!(
                "{} holds a new root key. Keep a copy in a safe place: without it the records of its store are lost.",
                file.display()
            );
            Ok(())
        }
        Command::User(command) => super::on_runtime(user::run(command)),
    }
}
