//! Reading what callers made many or large, in rounds that stay small.
//!
//! A scan is asked for a number of entries and answered with all of their bytes at once. How large entries are is up to callers,
//! and stores that are older than the bounds hold some that are larger than these allow; so the first round asks for a few, and
//! each next one for as many as the last one lets expect to be small together.

use crate::{Orgs, ServiceError};
use gatehouse_ports::{Clock, Item, Page, Random, Store};
use gatehouse_storage::{Loaded, Record, decode};

/// How many entries the first round asks for.
const FIRST: u32 = 16;

/// Most entries in one round.
const MOST: u32 = 500;

/// How many bytes a round is meant to have.
const BYTES: usize = 256 * 1024;

/// How many entries the next round asks for, after one that asked for `asked` and got these.
fn next_round(asked: u32, items: &[Item]) -> u32 {
    let bytes = bytes_of(items);
    if bytes > BYTES {
        (asked / 2).max(1)
    } else if bytes * 2 <= BYTES {
        (asked * 2).min(MOST)
    } else {
        asked
    }
}

fn bytes_of(items: &[Item]) -> usize {
    let bytes = items
        .iter()
        .map(|item| item.key.len() + item.entry.value.len());
    bytes.sum()
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Does `work` with every entry under `prefix`, in byte order.
    pub(crate) fn for_each_item(
        &self,
        prefix: &str,
        mut work: impl FnMut(Item) -> Result<(), ServiceError>,
    ) -> Result<(), ServiceError> {
        let mut after: Option<String> = None;
        let mut asked = FIRST;
        loop {
            let store = self.records.store();
            let page = store.scan(prefix, after.as_deref(), asked)?;
            asked = next_round(asked, &page.items);
            after = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                work(item)?;
            }
            if !page.more {
                return Ok(());
            }
        }
    }

    /// The same with every record under `prefix`.
    pub(crate) fn for_each_record<T: Record>(
        &self,
        prefix: &str,
        mut work: impl FnMut(Loaded<T>) -> Result<(), ServiceError>,
    ) -> Result<(), ServiceError> {
        self.for_each_item(prefix, |item| {
            work(Loaded {
                record: decode(&item.entry.value)?,
                version: item.entry.version,
            })
        })
    }

    /// The entries under `prefix` behind the key `after`: `limit`, or fewer where they are large.
    pub(crate) fn scan_some(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page, ServiceError> {
        let mut found = Page::default();
        let mut asked = FIRST;
        loop {
            let last = found.items.last().map(|item| item.key.as_str()).or(after);
            let left = limit.saturating_sub(u32::try_from(found.items.len()).unwrap_or(limit));
            let page = self.records.store().scan(prefix, last, asked.min(left))?;
            asked = next_round(asked, &page.items);
            found.more = page.more;
            found.items.extend(page.items);
            let is_full = found.items.len() >= limit as usize || bytes_of(&found.items) >= BYTES;
            if is_full || !found.more {
                return Ok(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::Entry;

    use super::*;

    fn items(count: usize, bytes: usize) -> Vec<Item> {
        let item = Item {
            key: String::new(),
            entry: Entry {
                value: vec![0; bytes],
                version: 1,
            },
        };
        vec![item; count]
    }

    #[test]
    fn a_round_after_large_entries_asks_for_fewer_and_after_small_ones_for_more() {
        assert_eq!(next_round(16, &items(16, 100)), 32);
        assert_eq!(next_round(400, &items(400, 100)), MOST);
        assert_eq!(next_round(16, &items(16, 10_000)), 16);
        assert_eq!(next_round(16, &items(16, 1024 * 1024)), 8);
        assert_eq!(next_round(1, &items(1, 1024 * 1024)), 1);
    }
}
