//! What every backend decides alike.

use std::sync::Arc;

use gatehouse_ports::{Clock, Entry, Item, Page, Requirement, Version};

/// The clock by which entries expire.
pub type SharedClock = Arc<dyn Clock + Send + Sync>;

/// Bytes of keys and values beyond which a page ends, so that the memory for a scan has a bound (SEC-S14).
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// How many entries a commit may purge beyond those it writes: more than it can add, so that a backlog shrinks.
const PURGE_HEAD_START: usize = 32;

/// Whether an entry that ends at `expires_at` reads as absent at `now`, both in milliseconds since 1970.
pub fn has_expired(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_some_and(|end| end <= now)
}

/// Whether `requirement` holds for a key whose entry, if it has one that has not expired, is at `live`.
pub fn holds(requirement: Requirement, live: Option<Version>) -> bool {
    match requirement {
        Requirement::Absent => live.is_none(),
        Requirement::AtVersion(version) => live == Some(version),
    }
}

/// How many expired entries may be dropped together with `changes` changes.
pub fn purge_budget(changes: usize) -> usize {
    changes.saturating_mul(2).saturating_add(PURGE_HEAD_START)
}

/// Fills a page with what matches, up to its limits.
pub struct PageBuilder {
    page: Page,
    limit: usize,
    bytes: usize,
}

impl PageBuilder {
    /// An empty page for at most `limit` items.
    pub fn new(limit: u32) -> Self {
        Self {
            page: Page::default(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            bytes: 0,
        }
    }

    /// Whether another match of `bytes` bytes has room; if not, the page is complete and says that there is more.
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
    pub fn finish(self) -> Page {
        self.page
    }
}
