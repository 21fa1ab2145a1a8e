//! The engines that are compared, each with the same rows.

use std::error::Error;

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A record of a login.
pub struct Row {
    pub key: Vec<u8>,
    pub value: Vec<u8>,
    /// Milliseconds since 1970 from which on it may be purged.
    pub end: u64,
}

impl Row {
    /// The row that finds it when its time has come.
    pub fn expiry(&self) -> Vec<u8> {
        [&self.end.to_be_bytes()[..], &self.key].concat()
    }
}

/// The key that an expiry row is about.
pub fn key_of(expiry: &[u8]) -> &[u8] {
    expiry.get(8..).unwrap_or_default()
}

/// The first expiry row that is not due at `now`.
pub fn not_due(now: u64) -> [u8; 8] {
    (now + 1).to_be_bytes()
}

pub trait Engine: Send {
    /// Checks that none of `rows` is there, adds them, purges up to `budget` entries that are due at `now`, and returns once all of it
    /// is on the disk. Tells how many were purged.
    fn commit(&mut self, rows: &[&Row], now: u64, budget: usize) -> Outcome<usize>;

    fn get(&mut self, key: &[u8]) -> Outcome<Option<Vec<u8>>>;

    /// Gives space back to the file system, if that is something to be asked for.
    fn compact(&mut self) -> Outcome<()>;
}
