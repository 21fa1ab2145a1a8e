//! Versions that no other server gives, now or later.

use std::sync::{Mutex, PoisonError};

/// How many versions are reserved at a time, so that hardly any commit has to.
pub const VERSIONS_AT_ONCE: i64 = 1 << 20;

/// The versions that are reserved and were not given yet.
#[derive(Default)]
pub struct Versions(Mutex<Block>);

#[derive(Default)]
struct Block {
    last: i64,
    end: i64,
}

impl Versions {
    /// The next version; `None` when more must be reserved first.
    pub fn take(&self) -> Option<i64> {
        let mut block = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if block.last >= block.end {
            return None;
        }
        block.last += 1;
        Some(block.last)
    }

    /// Forgets those that were not given yet.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Block::default();
    }

    /// Adds the block that ends with `end`. Where others have added one meanwhile, it is not used.
    pub fn add(&self, end: i64) {
        let mut block = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if block.last >= block.end {
            *block = Block {
                last: end.saturating_sub(VERSIONS_AT_ONCE),
                end,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_a_block_is_given_once() {
        let versions = Versions::default();
        assert_eq!(versions.take(), None);
        versions.add(2 * VERSIONS_AT_ONCE);
        versions.add(3 * VERSIONS_AT_ONCE);
        for version in VERSIONS_AT_ONCE + 1..=2 * VERSIONS_AT_ONCE {
            assert_eq!(versions.take(), Some(version));
        }
        assert_eq!(versions.take(), None);
    }

    #[test]
    fn s11_versions_that_were_forgotten_are_not_given() {
        let versions = Versions::default();
        versions.add(VERSIONS_AT_ONCE);
        versions.forget();
        assert_eq!(versions.take(), None);
        versions.add(9 * VERSIONS_AT_ONCE);
        assert_eq!(versions.take(), Some(8 * VERSIONS_AT_ONCE + 1));
    }
}
