//! Rate limits that the host counts over all instances (SEC-R1).

pub use super::bindings::gatehouse::host::rate_limits::{Bucket, Level};

/// Buckets that all instances share. The WIT interface is the specification.
pub trait RateLimits {
    /// Takes one token out of each bucket if none is empty, and returns the new levels in the order of the buckets. Otherwise returns the
    /// milliseconds to wait.
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32>;
}

/// A host that limits nothing.
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
