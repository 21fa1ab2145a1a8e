//! fjall: a log-structured tree in a directory, with threads of its own that merge.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::engine::{Engine, Outcome, Row, key_of, not_due};

pub struct Fjall {
    database: Database,
    entries: Keyspace,
    expiries: Keyspace,
    /// The last expiry row that was purged. Without it each search begins with all that were purged before, which stay as marks until
    /// they are merged away: purging was quadratic.
    purged: Vec<u8>,
}

impl Fjall {
    pub fn open(directory: &Path) -> Outcome<Self> {
        let database = Database::builder(directory.join("fjall"))
            .cache_size(64 * 1024 * 1024)
            .max_journaling_size(64 * 1024 * 1024)
            .worker_threads(1)
            .open()?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(16 * 1024 * 1024);
        let entries = database.keyspace("entries", options)?;
        let expiries = database.keyspace("expiries", options)?;
        Ok(Self {
            database,
            entries,
            expiries,
            purged: Vec::new(),
        })
    }
}

impl Engine for Fjall {
    fn commit(&mut self, rows: &[&Row], now: u64, budget: usize) -> Outcome<usize> {
        let mut batch = self
            .database
            .batch()
            .durability(Some(PersistMode::SyncData));
        for row in rows {
            if self.entries.contains_key(&row.key)? {
                return Err("a row is there already".into());
            }
            batch.insert(&self.entries, row.key.as_slice(), row.value.as_slice());
            batch.insert(&self.expiries, row.expiry(), [].as_slice());
        }
        let mut purged = 0;
        for row in self
            .expiries
            .range(self.purged.clone()..not_due(now).to_vec())
            .take(budget)
        {
            let row = row.key()?;
            batch.remove(&self.entries, key_of(&row));
            self.purged = row.to_vec();
            batch.remove(&self.expiries, row);
            purged += 1;
        }
        batch.commit()?;
        Ok(purged)
    }

    fn get(&mut self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        Ok(self.entries.get(key)?.map(|value| value.to_vec()))
    }

    fn compact(&mut self) -> Outcome<()> {
        self.entries.major_compact()?;
        self.expiries.major_compact()?;
        Ok(())
    }
}
