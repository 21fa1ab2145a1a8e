//! The map itself: conditional changes, expiry, and what gives way when it is full.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use zeroize::Zeroizing;

/// Bytes of the longest key, as for a store.
const LONGEST_KEY: usize = 512;
/// Bytes of the largest value, as for a store.
const LARGEST_VALUE: usize = 1 << 20;

/// A bounded map whose entries expire. Times are milliseconds since 1970.
pub(super) struct Entries {
    by_key: HashMap<Arc<str>, Held>,
    /// The key of every entry by its expiry; the version tells those apart that expire together.
    by_expiry: BTreeMap<(u64, u64), Arc<str>>,
    bytes: usize,
    last_version: u64,
    maximum_entries: usize,
    maximum_bytes: usize,
}

struct Held {
    value: Zeroizing<Vec<u8>>,
    version: u64,
    expires_at: u64,
}

impl Entries {
    pub(super) fn new(maximum_entries: usize, maximum_bytes: usize) -> Self {
        Self {
            by_key: HashMap::new(),
            by_expiry: BTreeMap::new(),
            bytes: 0,
            last_version: 0,
            maximum_entries,
            maximum_bytes,
        }
    }

    /// Value and version of an entry that has not expired at `now`.
    pub(super) fn get(&mut self, key: &str, now: u64) -> Option<(&[u8], u64)> {
        self.drop_expired(now);
        let held = self.by_key.get(key)?;
        Some((&held.value, held.version))
    }

    /// As the interface has it. What cannot be kept (a malformed key, a value that is too large or has expired) is taken like
    /// everything else and forgotten at once: a cache has no errors.
    pub(super) fn swap(
        &mut self,
        key: &str,
        expected: Option<u64>,
        value: Zeroizing<Vec<u8>>,
        expires_at: u64,
        now: u64,
    ) -> bool {
        self.drop_expired(now);
        if self.by_key.get(key).map(|held| held.version) != expected {
            return false;
        }
        self.remove(key);
        let size = size(key, &value);
        let fits = value.len() <= LARGEST_VALUE && size <= self.maximum_bytes;
        if !is_key(key) || !fits || expires_at <= now {
            return true;
        }
        self.make_room(size);
        // One counter for all keys: a key that comes back never gets a version that it had.
        self.last_version += 1;
        let version = self.last_version;
        let key: Arc<str> = Arc::from(key);
        self.bytes += size;
        self.by_expiry
            .insert((expires_at, version), Arc::clone(&key));
        self.by_key.insert(
            key,
            Held {
                value,
                version,
                expires_at,
            },
        );
        true
    }

    fn drop_expired(&mut self, now: u64) {
        while let Some((&(expires_at, _), key)) = self.by_expiry.first_key_value()
            && expires_at <= now
        {
            let key = Arc::clone(key);
            self.remove(&key);
        }
    }

    /// Makes room for one more entry of `size` bytes: those go that would have gone first.
    fn make_room(&mut self, size: usize) {
        while (self.by_key.len() >= self.maximum_entries || self.bytes + size > self.maximum_bytes)
            && let Some((_, key)) = self.by_expiry.first_key_value()
        {
            let key = Arc::clone(key);
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &str) {
        if let Some(held) = self.by_key.remove(key) {
            self.bytes -= size(key, &held.value);
            self.by_expiry.remove(&(held.expires_at, held.version));
        }
    }
}

fn size(key: &str, value: &[u8]) -> usize {
    key.len() + value.len()
}

fn is_key(key: &str) -> bool {
    (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000;

    fn entries() -> Entries {
        Entries::new(3, 1 << 10)
    }

    /// A swap at [`NOW`].
    fn swap(
        entries: &mut Entries,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
        expires_at: u64,
    ) -> bool {
        entries.swap(
            key,
            expected,
            Zeroizing::new(value.to_vec()),
            expires_at,
            NOW,
        )
    }

    fn version(entries: &mut Entries, key: &str) -> Option<u64> {
        entries.get(key, NOW).map(|(_, version)| version)
    }

    fn keys(entries: &Entries) -> Vec<&str> {
        let mut keys: Vec<&str> = entries.by_key.keys().map(|key| &**key).collect();
        keys.sort_unstable();
        assert_eq!(keys.len(), entries.by_expiry.len());
        keys
    }

    #[test]
    fn the_first_to_fill_an_absent_key_wins() {
        let mut entries = entries();
        assert!(swap(&mut entries, "a", None, b"first", 2_000));
        assert!(!swap(&mut entries, "a", None, b"second", 2_000));
        assert_eq!(entries.get("a", NOW).unwrap().0, b"first");
    }

    #[test]
    fn a_change_applies_to_the_version_that_was_read_and_to_no_other() {
        let mut entries = entries();
        assert!(!swap(&mut entries, "a", Some(1), b"x", 2_000), "absent");
        assert!(swap(&mut entries, "a", None, b"1", 2_000));
        let read = version(&mut entries, "a");
        assert!(swap(&mut entries, "a", read, b"2", 2_000));
        assert!(!swap(&mut entries, "a", read, b"3", 2_000), "a lost race");
        assert_eq!(entries.get("a", NOW).unwrap().0, b"2");
    }

    #[test]
    fn a_key_never_gets_a_version_again() {
        let mut entries = entries();
        let mut seen = Vec::new();
        for _ in 0..3 {
            assert!(swap(&mut entries, "a", None, b"1", 2_000));
            seen.extend(version(&mut entries, "a"));
            entries.remove("a");
        }
        seen.dedup();
        assert_eq!(seen.len(), 3, "{seen:?}");
    }

    #[test]
    fn an_entry_is_absent_from_the_moment_it_expires() {
        let mut entries = entries();
        assert!(swap(&mut entries, "a", None, b"1", 2_000));
        assert!(entries.get("a", 1_999).is_some());
        assert!(entries.get("a", 2_000).is_none());
        assert!(keys(&entries).is_empty());
        assert_eq!(entries.bytes, 0);
        assert!(swap(&mut entries, "a", None, b"2", 3_000));
    }

    #[test]
    fn what_expires_first_gives_way_to_one_entry_too_many() {
        let mut entries = entries();
        for (key, expires_at) in [("a", 4_000), ("b", 2_000), ("c", 3_000), ("d", 1_500)] {
            assert!(swap(&mut entries, key, None, b"1", expires_at));
        }
        assert_eq!(keys(&entries), ["a", "c", "d"]);
    }

    #[test]
    fn what_expires_first_gives_way_to_too_many_bytes() {
        let mut entries = entries();
        for (key, expires_at) in [("a", 4_000), ("b", 2_000)] {
            assert!(swap(&mut entries, key, None, &[0; 500], expires_at));
        }
        assert!(swap(&mut entries, "c", None, &[0; 500], 3_000));
        assert_eq!(keys(&entries), ["a", "c"]);
        assert_eq!(entries.bytes, 1_002);
    }

    #[test]
    fn what_cannot_be_kept_replaces_what_was_there_and_is_forgotten() {
        for (value, expires_at) in [(vec![0; 1_024], 2_000), (vec![0], NOW)] {
            let mut entries = entries();
            assert!(swap(&mut entries, "a", None, b"1", 2_000));
            let read = version(&mut entries, "a");
            assert!(swap(&mut entries, "a", read, &value, expires_at));
            assert!(keys(&entries).is_empty());
            assert_eq!(entries.bytes, 0);
        }
        let mut entries = entries();
        for key in ["", "a b", "\u{e9}", &"a".repeat(513)] {
            assert!(swap(&mut entries, key, None, b"1", 2_000));
        }
        assert!(keys(&entries).is_empty());
    }
}
