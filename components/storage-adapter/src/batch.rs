//! Many records at once.

use crate::bucket::{Bucket, BucketError};

/// Most records, and about the most bytes, that are written at once.
const BATCH_RECORDS: usize = 64;
const BATCH_BYTES: usize = 1024 * 1024;

/// Records on their way to the bucket.
pub struct Batch<'a, B> {
    bucket: &'a B,
    waiting: Vec<(String, Vec<u8>)>,
    bytes: usize,
}

impl<'a, B: Bucket> Batch<'a, B> {
    /// Nothing yet, or one record.
    pub fn beginning_with(bucket: &'a B, first: Option<(String, Vec<u8>)>) -> Self {
        Self {
            bucket,
            bytes: first.as_ref().map_or(0, |(_, bytes)| bytes.len()),
            waiting: Vec::from_iter(first),
        }
    }

    /// Adds a record; it is written when enough have come together.
    pub fn put(&mut self, name: String, bytes: Vec<u8>) -> Result<(), BucketError> {
        self.bytes += bytes.len();
        self.waiting.push((name, bytes));
        if self.waiting.len() >= BATCH_RECORDS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is still waiting.
    pub fn flush(&mut self) -> Result<(), BucketError> {
        let batch = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        self.bucket.set_many(batch)
    }
}

/// Deletes the records of these names.
pub fn delete_all(bucket: &impl Bucket, names: &[String]) -> Result<(), BucketError> {
    for batch in names.chunks(BATCH_RECORDS) {
        bucket.delete_many(batch.to_vec())?;
    }
    Ok(())
}
