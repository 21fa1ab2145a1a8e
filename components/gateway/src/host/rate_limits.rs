//! How often something may happen (SEC-R1).

/// A bucket that fills by itself, and of which every event takes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// What is counted.
    pub key: String,
    /// How many it gains in a period.
    pub events: u32,
    /// The period in milliseconds.
    pub period: u32,
    /// How many it holds when it is full, which it is at first.
    pub burst: u32,
}

/// Buckets that all instances share.
pub trait RateLimits {
    /// Takes one out of each bucket if all have one; else says after how many milliseconds it is worth trying again.
    fn take(&self, buckets: &[Bucket]) -> Option<u32>;
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRateLimits;

impl RateLimits for NoRateLimits {
    fn take(&self, _: &[Bucket]) -> Option<u32> {
        None
    }
}
