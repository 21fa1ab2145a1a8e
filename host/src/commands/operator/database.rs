//! `gatehouse operator database`: the tables of a store in a database.

use anyhow::Result;
use clap::Subcommand;
use gatehouse::database;

use crate::commands::configuration::Source;
use crate::commands::output::tell;

#[derive(Debug, Subcommand)]
pub(in crate::commands) enum Command {
    /// Makes the tables in the database that storage.url names, or brings them up to date
    Migrate(Source),
}

pub(super) async fn run(Command::Migrate(source): Command) -> Result<()> {
    let settings = source.load()?;
    tell(database::migrate(&settings).await?);
    Ok(())
}
