//! What every store decides alike.

use crate::{Entry, Item, Page, Requirement, Version};

/// Bytes of keys and values beyond which a page ends, so that the memory for a scan has a bound (SEC-S14).
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Whether an entry that ends at `expires_at` reads as absent at `now`, both in milliseconds since 1970.
#[must_use]
pub fn has_expired(expires_at: Option<u64>, now: u64) -> bool {
    expires_at.is_some_and(|end| end <= now)
}

/// Whether `requirement` holds for a key whose entry, if it has one that has not expired, is at `live`.
#[must_use]
pub fn holds(requirement: Requirement, live: Option<Version>) -> bool {
    match requirement {
        Requirement::Absent => live.is_none(),
        Requirement::AtVersion(version) => live == Some(version),
    }
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
    #[must_use]
    pub fn finish(self) -> Page {
        self.page
    }
}
