//! How often something may happen (SEC-R1).

/// A bucket that fills by itself, and of which every event takes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The name of what is counted.
    pub key: String,
    /// How many it gains in a period.
    pub events: u32,
    /// The period in milliseconds.
    pub period: u32,
    /// How many it holds when it is full, which it is at first.
    pub burst: u32,
}

/// How far a bucket is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// How many can be taken out of it at once.
    pub remaining: u32,
    /// Milliseconds until it is full again.
    pub full_in: u32,
}

/// Buckets that all instances share.
pub trait RateLimits {
    /// Takes one out of each bucket if all have one, and says how far they are filled then, in their order.
    ///
    /// # Errors
    ///
    /// After how many milliseconds it is worth trying again; nothing has been taken.
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32>;
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRateLimits;

impl RateLimits for NoRateLimits {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        let full = |bucket: &Bucket| Level {
            remaining: bucket.burst,
            full_in: 0,
        };
        Ok(buckets.iter().map(full).collect())
    }
}
