//! Rules that every store shares, and every caller that tries again.

use std::time::Duration;

use crate::{Entry, Item, Page, Random, Requirement, Version};

/// Bytes of keys and values beyond which a page ends, so that the memory for a scan has a bound (SEC-S14).
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// True if an entry that ends at `expires_at` reads as absent at `now`, both in milliseconds since 1970.
#[must_use]
pub fn has_expired(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_some_and(|end| end <= now)
}

/// True if `requirement` holds for a key whose entry, if it has one that has not expired, is at `live`.
#[must_use]
pub fn holds(requirement: Requirement, live: Option<Version>) -> bool {
    match requirement {
        Requirement::Absent => live.is_none(),
        Requirement::AtVersion(version) => live == Some(version),
    }
}

/// The pause before the next attempt of a caller that was outrun `times` times in a row: a random part of a bound that doubles each time,
/// up to 64 times `unit`.
#[must_use]
pub fn pause(unit: Duration, times: u32, random: &impl Random) -> Duration {
    jittered(unit.saturating_mul(1 << times.min(6)), random)
}

/// The name of the engine that describes itself by this `version()`, if it speaks PostgreSQL's protocol and orders commits otherwise: a commit
/// that waited for another one may not see there what that has changed, so it is refused as a store.
#[must_use]
pub fn other_engine(version: &str) -> Option<&'static str> {
    let engines = [("CockroachDB", "CockroachDB"), ("-YB-", "YugabyteDB")];
    let mut engines = engines.into_iter();
    engines.find_map(|(sign, engine)| version.contains(sign).then_some(engine))
}

/// A random part of `bound`, so that callers who failed together do not try again together.
#[must_use]
pub fn jittered(bound: Duration, random: &impl Random) -> Duration {
    let mut bytes = [u8::MAX; 2];
    // Without randomness the pause is the longest: slower, never wrong.
    if random.fill(&mut bytes).is_err() {
        return bound;
    }
    bound.mul_f64(f64::from(u16::from_be_bytes(bytes)) / f64::from(u16::MAX))
}

/// Fills a page with what matches, up to its limits.
pub struct PageBuilder {
    page: Page,
    limit: usize,
    bytes: usize,
}

impl PageBuilder {
    /// An empty page for at most `limit` items.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            page: Page::default(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            bytes: 0,
        }
    }

    /// True if another match of `bytes` bytes has room; if not, the page is complete and says that there is more.
    pub fn has_room(&mut self, bytes: usize) -> bool {
        let first = self.page.items.is_empty();
        self.bytes = self.bytes.saturating_add(bytes);
        self.page.more = self.page.items.len() >= self.limit || (!first && self.bytes > PAGE_BYTES);
        !self.page.more
    }

    /// Adds the next match.
    pub fn push(&mut self, key: String, entry: Entry) {
        self.page.items.push(Item { key, entry });
    }

    /// The page as it is now.
    #[must_use]
    pub fn finish(self) -> Page {
        self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RandomError;

    /// Answers with this byte again and again, or fails.
    struct Repeated(Option<u8>);

    impl Random for Repeated {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
            bytes.fill(self.0.ok_or(RandomError)?);
            Ok(())
        }
    }

    #[test]
    fn s6_a_pause_is_a_random_part_of_a_bound_that_doubles_six_times() {
        let unit = Duration::from_millis(3);
        for (times, longest) in [(0, 3), (1, 6), (5, 96), (6, 192), (7, 192), (u32::MAX, 192)] {
            let longest = Duration::from_millis(longest);
            let pause = |byte| pause(unit, times, &Repeated(byte));
            assert_eq!(pause(None), longest);
            assert_eq!(pause(Some(u8::MAX)), longest);
            assert_eq!(pause(Some(0)), Duration::ZERO);
            let third = longest / 3;
            assert!(pause(Some(0x55)).abs_diff(third) < Duration::from_micros(1));
        }
    }
}
