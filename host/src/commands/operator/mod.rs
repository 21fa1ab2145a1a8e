//! `gatehouse operator`: work on a server's machine, and what its first administrators need.

mod backup;
mod clock;
mod database;
mod root_token;
mod seal;
mod shares;
mod store_source;
mod user;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use gatehouse_store::create_key_file;

use self::store_source::StoreSource;
use super::configuration::Source;
use super::output::tell;
use super::runtime::on_runtime;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Creates a file with a new root key, for seal.key_file; an existing file is never replaced
    SealKey {
        /// The file to create
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Makes the first root token of a server that is yet to be initialized, and prints it with its hash, for bootstrap.root_token_hash or, under
    /// Spin, the variable root_token_hash
    RootToken,
    /// Makes a root token in the store of a stopped server whose seal is a key file, or of an installation under Spin, and prints it once
    GenerateRoot(StoreSource),
    /// Gives the store of a stopped server a new key in a new key file; the old file is kept beside it
    Rekey(Source),
    /// How the key of a store is kept
    #[command(subcommand)]
    Seal(seal::Command),
    /// Writes everything that a store holds at one moment to a file: of a stopped server, of a database beside its servers, of an
    /// installation under Spin or, with --address, of a running server
    Backup(backup::Backup),
    /// Checks that a backup is complete and, with the key of its store, that it is genuine
    Verify(backup::Verify),
    /// Puts a backup into the empty store that the settings name, or into new files or an empty database for Spin. All tokens end, unless they are to be kept
    Restore(backup::Restore),
    /// Shows the latest time in the store of a stopped server, and corrects it with --reset
    Clock(clock::Command),
    /// The tables of a store in a database
    #[command(subcommand)]
    Database(database::Command),
    /// People who manage organizations
    #[command(subcommand)]
    User(user::Command),
}

pub(super) fn run(command: Command) -> Result<()> {
    match command {
        Command::SealKey { file } => {
            create_key_file(&file)?;
            tell(format_args!(
                "{} holds a new root key. Keep a copy in a safe place: without it the records of its store are lost.",
                file.display()
            ));
            Ok(())
        }
        Command::RootToken => root_token::run(),
        Command::GenerateRoot(source) => seal::generate_root(&source),
        Command::Rekey(source) => seal::rekey(&source),
        Command::Seal(command) => seal::migrate(command),
        Command::Backup(command) => on_runtime(backup::run(&command)),
        Command::Verify(command) => backup::verify(&command),
        Command::Restore(command) => on_runtime(backup::restore(&command)),
        Command::Clock(command) => clock::run(&command),
        Command::Database(command) => on_runtime(database::run(command)),
        Command::User(command) => on_runtime(user::run(command)),
    }
}
