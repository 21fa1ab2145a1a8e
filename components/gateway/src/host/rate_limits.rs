//! Rate limits that the host counts over all instances (SEC-R1).

pub use super::bindings::gatehouse::host::rate_limits::{Bucket, Level};

/// Buckets that all instances share. The WIT interface is the specification.
pub trait RateLimits {
    /// Takes one out of each bucket if all have one, and says how far they are filled then, in their order.
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
