//! The versions of entries that have been opened, so that one which its reader still holds need not be read again.

use std::collections::HashMap;

use gatehouse_ports::Version;
use gatehouse_ports::rules::has_expired;

/// How many entries are noted down at most; beyond that it begins anew.
const MAXIMUM_ENTRIES: usize = 4096;

/// Notes at which version an entry opened last, and when it ends by its sealed word: the database may say something else.
#[derive(Default)]
pub struct Verified(HashMap<String, (Version, Option<u64>)>);

impl Verified {
    /// Notes that the entry of `key` opened at `version` and ends at `expires_at`, in milliseconds since 1970.
    pub fn note(&mut self, key: &str, version: Version, expires_at: Option<u64>) {
        if self.0.len() >= MAXIMUM_ENTRIES && !self.0.contains_key(key) {
            self.0.clear();
        }
        self.0.insert(key.to_owned(), (version, expires_at));
    }

    /// True if the entry of `key` opened at `version` and has not ended at `now`.
    pub fn contains(&self, key: &str, version: Version, now: u64) -> bool {
        self.0
            .get(key)
            .is_some_and(|(noted, expires_at)| *noted == version && !has_expired(*expires_at, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_at_its_version_and_until_its_end_and_notes_have_a_bound() {
        let mut verified = Verified::default();
        verified.note("a", 1, Some(100));
        assert!(verified.contains("a", 1, 99));
        assert!(!verified.contains("a", 1, 100));
        assert!(!verified.contains("a", 2, 99));
        assert!(!verified.contains("b", 1, 99));
        for number in 0..3 * MAXIMUM_ENTRIES {
            verified.note(&number.to_string(), 1, None);
            assert!(verified.0.len() <= MAXIMUM_ENTRIES);
        }
    }
}
