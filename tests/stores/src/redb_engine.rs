//! redb: a copy-on-write B-tree in one file, as the product uses it, and two variations.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use redb::backends::FileBackend;
use redb::{
    Database, Durability, ReadableDatabase as _, ReadableTable as _, StorageBackend, Table,
    TableDefinition,
};

use crate::engine::{Engine, Outcome, Row, key_of, not_due};

const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("entries");
const EXPIRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("expiries");
const STORE: TableDefinition<'_, &str, u64> = TableDefinition::new("store");
const CACHE_BYTES: usize = 128 * 1024 * 1024;

/// Where the rows that order entries by their end lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    Two,
    One,
}

pub struct Redb {
    database: Database,
    tables: Tables,
}

impl Redb {
    pub fn open(directory: &Path, tables: Tables, gathered: bool) -> Outcome<Self> {
        let path = directory.join("store.redb");
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let database = if gathered {
            builder.create_with_backend(Gathered::new(file)?)?
        } else {
            builder.create_with_backend(FileBackend::new(file)?)?
        };
        let transaction = database.begin_write()?;
        transaction.open_table(ENTRIES)?;
        transaction.open_table(EXPIRIES)?;
        transaction.open_table(STORE)?;
        transaction.commit()?;
        Ok(Self { database, tables })
    }

    /// Walks the whole file, as the product does when it opens one.
    pub fn verify(&mut self) -> Outcome<bool> {
        Ok(self.database.check_integrity()?)
    }

    /// The number under `name` that was stored last.
    pub fn number(&self, name: &str) -> Outcome<u64> {
        let transaction = self.database.begin_read()?;
        let number = transaction.open_table(STORE)?.get(name)?;
        Ok(number.map_or(0, |number| number.value()))
    }

    /// Applies a batch; `before` is called when nothing can be refused any more and nothing can be seen yet.
    pub fn apply(
        &mut self,
        rows: &[&Row],
        now: u64,
        budget: usize,
        durability: Durability,
        before: impl FnOnce() -> Outcome<()>,
        number: Option<(&str, u64)>,
    ) -> Outcome<usize> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        let purged;
        {
            let mut entries = transaction.open_table(ENTRIES)?;
            purged = if self.tables == Tables::Two {
                let mut expiries = transaction.open_table(EXPIRIES)?;
                put(&mut entries, rows)?;
                for row in rows {
                    expiries.insert(row.expiry().as_slice(), &[][..])?;
                }
                let due = due(&expiries, &[], now, budget)?;
                for row in &due {
                    entries.remove(key_of(row))?;
                    expiries.remove(row.as_slice())?;
                }
                due.len()
            } else {
                put(&mut entries, rows)?;
                for row in rows {
                    entries.insert([&[0][..], &row.expiry()].concat().as_slice(), &[][..])?;
                }
                let due = due(&entries, &[0], now, budget)?;
                for row in &due {
                    entries.remove(key_of(&row[1..]))?;
                    entries.remove(row.as_slice())?;
                }
                due.len()
            };
            if let Some((name, number)) = number {
                transaction.open_table(STORE)?.insert(name, number)?;
            }
        }
        before()?;
        transaction.commit()?;
        Ok(purged)
    }
}

fn put(entries: &mut Table<'_, &'static [u8], &'static [u8]>, rows: &[&Row]) -> Outcome<()> {
    for row in rows {
        if entries.get(row.key.as_slice())?.is_some() {
            return Err("a row is there already".into());
        }
        entries.insert(row.key.as_slice(), row.value.as_slice())?;
    }
    Ok(())
}

fn due(
    table: &Table<'_, &'static [u8], &'static [u8]>,
    prefix: &[u8],
    now: u64,
    budget: usize,
) -> Outcome<Vec<Vec<u8>>> {
    let end = [prefix, &not_due(now)].concat();
    let rows = table.range::<&[u8]>(prefix..end.as_slice())?.take(budget);
    rows.map(|row| Ok(row?.0.value().to_vec())).collect()
}

impl Engine for Redb {
    fn commit(&mut self, rows: &[&Row], now: u64, budget: usize) -> Outcome<usize> {
        self.apply(rows, now, budget, Durability::Immediate, || Ok(()), None)
    }

    fn get(&mut self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let transaction = self.database.begin_read()?;
        let entries = transaction.open_table(ENTRIES)?;
        Ok(entries.get(key)?.map(|value| value.value().to_vec()))
    }

    fn compact(&mut self) -> Outcome<()> {
        while self.database.compact()? {}
        Ok(())
    }
}

/// A file whose writes wait for the sync, and then go in the order of their places, neighbours in one call.
#[derive(Debug)]
struct Gathered {
    file: File,
    waiting: Mutex<BTreeMap<u64, Vec<u8>>>,
}

impl Gathered {
    fn new(file: File) -> io::Result<Self> {
        let waiting = Mutex::default();
        Ok(Self { file, waiting })
    }

    fn write_out(&self, waiting: &mut BTreeMap<u64, Vec<u8>>) -> io::Result<()> {
        let mut run: Vec<u8> = Vec::new();
        let mut start = 0;
        for (offset, bytes) in std::mem::take(waiting) {
            if start + run.len() as u64 != offset && !run.is_empty() {
                self.file.write_all_at(&run, start)?;
                run.clear();
            }
            if run.is_empty() {
                start = offset;
            }
            run.extend_from_slice(&bytes);
        }
        self.file.write_all_at(&run, start)
    }
}

impl StorageBackend for Gathered {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let end = offset + out.len() as u64;
        if let Some((at, bytes)) = waiting.range(..end).next_back()
            && at + bytes.len() as u64 > offset
        {
            self.write_out(&mut waiting)?;
        }
        self.file.read_exact_at(out, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.write_out(&mut waiting)?;
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.write_out(&mut waiting)?;
        drop(waiting);
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // A page that was given back and taken again with another length may overlap.
        let overlaps = |(at, bytes): (&u64, &Vec<u8>)| {
            at + bytes.len() as u64 > offset && (*at, bytes.len()) != (offset, data.len())
        };
        if waiting
            .range(..offset + data.len() as u64)
            .next_back()
            .is_some_and(overlaps)
        {
            self.write_out(&mut waiting)?;
        }
        waiting.insert(offset, data.to_vec());
        Ok(())
    }
}
