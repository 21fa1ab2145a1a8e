//! SQLite with a write-ahead log that is synced at each commit.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::engine::{Engine, Outcome, Row, key_of, not_due};

const SCHEMA: &str = "
    PRAGMA page_size = 4096;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -65536;
    CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS expiries (row BLOB PRIMARY KEY) WITHOUT ROWID;
";

pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub fn open(directory: &Path) -> Outcome<Self> {
        let connection = Connection::open(directory.join("store.sqlite"))?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }
}

impl Engine for Sqlite {
    fn commit(&mut self, rows: &[&Row], now: u64, budget: usize) -> Outcome<usize> {
        let transaction = self.connection.transaction()?;
        let purged = {
            // Fails where the row is there already, so that nothing is looked for twice.
            let mut insert = transaction.prepare_cached("INSERT INTO entries VALUES (?, ?)")?;
            let mut note = transaction.prepare_cached("INSERT INTO expiries VALUES (?)")?;
            for row in rows {
                insert.execute((&row.key, &row.value))?;
                note.execute([row.expiry()])?;
            }
            let mut due = transaction
                .prepare_cached("SELECT row FROM expiries WHERE row < ? ORDER BY row LIMIT ?")?;
            let due = due.query_map((not_due(now), budget as i64), |row| {
                row.get::<_, Vec<u8>>(0)
            })?;
            let due = due.collect::<Result<Vec<_>, _>>()?;
            let mut delete = transaction.prepare_cached("DELETE FROM entries WHERE key = ?")?;
            let mut forget = transaction.prepare_cached("DELETE FROM expiries WHERE row = ?")?;
            for row in &due {
                delete.execute([key_of(row)])?;
                forget.execute([row])?;
            }
            due.len()
        };
        transaction.commit()?;
        Ok(purged)
    }

    fn get(&mut self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT value FROM entries WHERE key = ?")?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }

    fn compact(&mut self) -> Outcome<()> {
        self.connection
            .execute_batch("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(())
    }
}
