//! A map that forgets: every entry has an expiry, and there is a bound on their number.

use std::collections::HashMap;

/// Values by name until they expire. When the map is full, the value that would expire first is dropped.
#[derive(Debug)]
pub(super) struct Bounded<V> {
    entries: HashMap<String, (V, u64)>,
    capacity: usize,
}

impl<V: Clone> Bounded<V> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: HashMap::new(),
            capacity,
        }
    }

    /// The value under `name`, unless it has expired by `now`. Times are milliseconds since 1970.
    pub(super) fn get(&self, name: &str, now: u64) -> Option<V> {
        self.entries
            .get(name)
            .filter(|(_, expires)| now < *expires)
            .map(|(value, _)| value.clone())
    }

    pub(super) fn insert(&mut self, name: &str, value: V, expires: u64, now: u64) {
        if self.entries.len() >= self.capacity && !self.entries.contains_key(name) {
            self.make_room(now);
        }
        self.entries.insert(name.to_owned(), (value, expires));
    }

    fn make_room(&mut self, now: u64) {
        self.entries.retain(|_, (_, expires)| now < *expires);
        if self.entries.len() < self.capacity {
            return;
        }
        let first = self.entries.iter().min_by_key(|(_, (_, expires))| *expires);
        if let Some(name) = first.map(|(name, _)| name.clone()) {
            self.entries.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bounded;

    #[test]
    fn g8_the_number_of_entries_is_bounded() {
        let mut map = Bounded::with_capacity(2);
        map.insert("a", 1, 100, 0);
        map.insert("b", 2, 50, 0);
        map.insert("c", 3, 200, 0);
        assert_eq!(map.get("b", 0), None, "what expires first gave way");
        assert_eq!((map.get("a", 0), map.get("c", 0)), (Some(1), Some(3)));
        map.insert("d", 4, 300, 150);
        assert_eq!(map.entries.len(), 2);
        assert_eq!((map.get("c", 150), map.get("d", 150)), (Some(3), Some(4)));
    }

    #[test]
    fn an_entry_ends_with_its_expiry() {
        let mut map = Bounded::with_capacity(2);
        map.insert("a", 1, 100, 0);
        assert_eq!((map.get("a", 99), map.get("a", 100)), (Some(1), None));
    }
}
