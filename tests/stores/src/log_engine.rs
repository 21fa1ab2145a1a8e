//! A log before redb: a batch is one append and one sync, and its pages are written later, many batches at a time.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use redb::Durability;

use crate::engine::{Engine, Outcome, Row};
use crate::redb_engine::{Redb, Tables};

/// Beyond this the pages are written and the log begins again from the front.
const LOG_BYTES: u64 = 4 * 1024 * 1024;
const HEADER_BYTES: usize = 24;
const APPLIED: &str = "applied";

pub struct LogRedb {
    redb: Redb,
    log: File,
    /// Where the next batch goes.
    place: u64,
    /// The number of the last batch.
    number: u64,
}

impl LogRedb {
    pub fn open(directory: &Path) -> Outcome<Self> {
        let redb = Redb::open(directory, Tables::Two, false)?;
        let mut options = OpenOptions::new();
        let log = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(directory.join("log"))?;
        if log.metadata()?.len() == 0 {
            // Blocks that were written once need no change of metadata when they are written again.
            log.write_all_at(&vec![0; LOG_BYTES as usize], 0)?;
            log.sync_all()?;
        }
        let number = redb.number(APPLIED)?;
        let mut engine = Self {
            redb,
            log,
            place: 0,
            number,
        };
        engine.replay()?;
        Ok(engine)
    }

    fn replay(&mut self) -> Outcome<()> {
        let mut bytes = vec![0; self.log.metadata()?.len() as usize];
        self.log.read_exact_at(&mut bytes, 0)?;
        let mut rest = bytes.as_slice();
        let mut replayed = 0;
        while let Some((header, after)) = rest.split_at_checked(HEADER_BYTES) {
            let word =
                |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
            let (number, length, checksum) = (word(0), word(8) as usize, word(16));
            let Some((body, after)) = after.split_at_checked(length) else {
                break;
            };
            if number != self.number + 1 || checksum_of(number, body) != checksum {
                break;
            }
            let (rows, now, budget) = decode(body);
            let rows: Vec<&Row> = rows.iter().collect();
            let applied = Some((APPLIED, number));
            self.redb
                .apply(&rows, now, budget, Durability::None, || Ok(()), applied)?;
            self.number = number;
            replayed += 1;
            rest = after;
        }
        if replayed > 0 {
            self.checkpoint()?;
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Outcome<()> {
        let number = Some((APPLIED, self.number));
        self.redb
            .apply(&[], 0, 0, Durability::Immediate, || Ok(()), number)?;
        self.place = 0;
        Ok(())
    }
}

impl Engine for LogRedb {
    fn commit(&mut self, rows: &[&Row], now: u64, budget: usize) -> Outcome<usize> {
        let body = encode(rows, now, budget);
        let number = self.number + 1;
        let mut record = Vec::with_capacity(HEADER_BYTES + body.len());
        record.extend_from_slice(&number.to_le_bytes());
        record.extend_from_slice(&(body.len() as u64).to_le_bytes());
        record.extend_from_slice(&checksum_of(number, &body).to_le_bytes());
        record.extend_from_slice(&body);
        if self.place + record.len() as u64 > LOG_BYTES {
            self.checkpoint()?;
        }
        let (log, place) = (&self.log, self.place);
        let append = || {
            log.write_all_at(&record, place)?;
            Ok(log.sync_data()?)
        };
        // With each batch, since redb may make it durable without being asked, as when it is closed.
        let applied = Some((APPLIED, number));
        let purged = self
            .redb
            .apply(rows, now, budget, Durability::None, append, applied)?;
        self.number = number;
        self.place += record.len() as u64;
        Ok(purged)
    }

    fn get(&mut self, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        self.redb.get(key)
    }

    fn compact(&mut self) -> Outcome<()> {
        self.checkpoint()?;
        self.redb.compact()
    }
}

fn encode(rows: &[&Row], now: u64, budget: usize) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&now.to_le_bytes());
    body.extend_from_slice(&(budget as u64).to_le_bytes());
    for row in rows {
        body.extend_from_slice(&row.end.to_le_bytes());
        for part in [&row.key, &row.value] {
            body.extend_from_slice(&(part.len() as u32).to_le_bytes());
            body.extend_from_slice(part);
        }
    }
    body
}

/// Trusts its input, since the checksum of it matched.
fn decode(mut body: &[u8]) -> (Vec<Row>, u64, usize) {
    let mut take = |length: usize| {
        let (part, rest) = body.split_at(length.min(body.len()));
        body = rest;
        part.to_vec()
    };
    let number = |bytes: Vec<u8>| {
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let (now, budget) = (number(take(8)), number(take(8)) as usize);
    let mut rows = Vec::new();
    loop {
        let end = take(8);
        if end.is_empty() {
            return (rows, now, budget);
        }
        let length = number(take(4)) as usize;
        let key = take(length);
        let length = number(take(4)) as usize;
        let value = take(length);
        rows.push(Row {
            key,
            value,
            end: number(end),
        });
    }
}

/// Enough to find the end of what was written: FNV-1a over words.
fn checksum_of(number: u64, body: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let (words, rest) = body.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(step(0xcbf2_9ce4_8422_2325, number), |hash, word| {
            step(hash, u64::from_le_bytes(*word))
        });
    rest.iter()
        .fold(step(hash, body.len() as u64), |hash, byte| {
            step(hash, u64::from(*byte))
        })
}
