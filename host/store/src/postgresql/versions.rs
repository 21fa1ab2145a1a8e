//! Versions that no other server gives, now or later.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gatehouse_ports::{StoreError, Version};

use super::error::Failure;
use super::statements::SKIP_VERSIONS;
use super::{CALL_TIME, STATEMENT_TIME, Shared, unavailable};

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

impl Shared {
    /// Has the database give only versions above `version` from now on, to every server.
    pub(super) async fn skip_versions(&self, version: Version) -> Result<(), StoreError> {
        let above = i64::try_from(version);
        let above = above.map_err(|_| unavailable("there are no versions left"))?;
        let deadline = Instant::now() + CALL_TIME;
        let mut times = 0;
        loop {
            self.check_standing()?;
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            match self.connections.query(SKIP_VERSIONS, &[&above], by).await {
                Ok(_) => break,
                Err(failure @ Failure::Refused(_)) => return Err(failure.into()),
                // Skipping them twice is skipping them once.
                Err(failure) => self.wait(&mut times, deadline, failure).await?,
            }
        }
        self.versions.forget();
        Ok(())
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
