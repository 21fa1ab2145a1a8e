//! Values that instances of one capability share and can lose: the Rust face of the WIT interface `gatehouse:storage/cache`, which is its
//! specification.

use crate::{Entry, Version};

/// A private, forgetful map that all instances of a capability on one host share.
///
/// Without such a place [`NoCache`] does: everything works, and every instance fetches for itself.
pub trait Cache {
    /// The entry of `key`; `None` where there is none, it has expired, or it was forgotten.
    fn get(&self, key: &str) -> Option<Entry>;

    /// Puts `value` under `key` if its entry is still at version `expected`, or is absent for `None`; whether it did. `expires_at` is in
    /// milliseconds since 1970.
    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool;
}

impl<C: Cache + ?Sized> Cache for &C {
    fn get(&self, key: &str) -> Option<Entry> {
        (**self).get(key)
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        (**self).swap(key, expected, value, expires_at)
    }
}

/// A cache that forgets at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCache;

impl Cache for NoCache {
    fn get(&self, _: &str) -> Option<Entry> {
        None
    }

    fn swap(&self, _: &str, _: Option<Version>, _: &[u8], _: u64) -> bool {
        true
    }
}
