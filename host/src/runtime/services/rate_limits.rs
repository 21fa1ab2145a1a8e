//! The import `gatehouse:host/rate-limits`: rate limits, counted over all instances.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::bindings::gatehouse::host::rate_limits as wit;
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/rate-limits@0.1.0";

pub use wit::{Bucket, Level};

/// Buckets that all instances share. The WIT interface is the specification.
pub trait RateLimits: Send + Sync {
    /// Takes one out of each bucket if all have one, and says how far they are filled then.
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

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    limits: &Arc<dyn RateLimits>,
) -> wasmtime::Result<()> {
    let bound = Arc::clone(limits);
    linker
        .instance(INTERFACE)?
        .func_wrap("take", move |_, (buckets,): (Vec<Bucket>,)| {
            Ok((bound.take(&buckets),))
        })
}
