//! The engines by their names.

use std::path::Path;

use crate::engine::{Engine, Outcome};
use crate::{fjall_engine, log_engine, redb_engine, sqlite_engine};

pub const NAMES: [&str; 6] = [
    "redb",
    "redb-one-table",
    "redb-gathered-writes",
    "log-redb",
    "fjall",
    "sqlite",
];

/// Opens the engine called `name` in `directory`, which it may find as a killed process left it.
pub fn open(name: &str, directory: &Path) -> Outcome<Box<dyn Engine>> {
    Ok(match name {
        "redb" => Box::new(redb_engine::Redb::open(
            directory,
            redb_engine::Tables::Two,
            false,
        )?),
        "redb-one-table" => Box::new(redb_engine::Redb::open(
            directory,
            redb_engine::Tables::One,
            false,
        )?),
        "redb-gathered-writes" => Box::new(redb_engine::Redb::open(
            directory,
            redb_engine::Tables::Two,
            true,
        )?),
        "log-redb" => Box::new(log_engine::LogRedb::open(directory)?),
        "fjall" => Box::new(fjall_engine::Fjall::open(directory)?),
        "sqlite" => Box::new(sqlite_engine::Sqlite::open(directory)?),
        other => return Err(format!("no engine is called {other}").into()),
    })
}
