//! The content of the file at one point in time.

use std::ops::Bound;
use std::sync::Arc;

use gatehouse_ports::{StoreError, Version};
use redb::{Database, ReadOnlyTable, ReadableDatabase as _};

use super::committer::{Shared, unavailable};
use super::layout::{ENTRIES, EntryKey, Header, STORE, VERSIONS_RESERVED, key_of};
use crate::backend::{SnapshotPage, StoredEntry};
use crate::{Answer, Namespace, Snapshot};

/// A read transaction: pages of the file that it may still read are not written over, so the file grows by what changes meanwhile.
///
/// It keeps the file open, also when the backend is dropped. When the file fails and is opened again, it ends with an error.
pub struct FileSnapshot {
    entries: ReadOnlyTable<&'static [u8], &'static [u8]>,
    last_version: Version,
    _held: Arc<Shared>,
}

impl FileSnapshot {
    /// The content of `database` as it is now, which `held` holds.
    pub fn take(database: &Database, held: Arc<Shared>) -> Result<Self, StoreError> {
        let transaction = database.begin_read().map_err(unavailable)?;
        let store = transaction.open_table(STORE).map_err(unavailable)?;
        let reserved = store.get(VERSIONS_RESERVED).map_err(unavailable)?;
        Ok(Self {
            entries: transaction.open_table(ENTRIES).map_err(unavailable)?,
            last_version: reserved.map_or(0, |reserved| reserved.value()),
            _held: held,
        })
    }

    fn page_now(
        &self,
        namespace: Namespace,
        after: Option<&str>,
    ) -> Result<Vec<StoredEntry>, StoreError> {
        let beginning = EntryKey::new(namespace, "");
        // No key is empty, so all keys come after that.
        let start = EntryKey::new(namespace, after.unwrap_or_default());
        let range = (Bound::Excluded(start.as_bytes()), Bound::Unbounded);
        let mut page = SnapshotPage::default();
        let rows = self.entries.range::<&[u8]>(range);
        for row in rows.map_err(unavailable)? {
            let (place, stored) = row.map_err(unavailable)?;
            if !place.value().starts_with(beginning.as_bytes()) {
                break;
            }
            let key = key_of(place.value());
            let Some((header, value)) = Header::split(stored.value()) else {
                return Err(StoreError::Corrupt(key));
            };
            let has_room = page.push(StoredEntry {
                key,
                value: value.to_vec(),
                expires_at: header.expires_at,
            });
            if !has_room {
                break;
            }
        }
        Ok(page.finish())
    }
}

impl Snapshot for FileSnapshot {
    fn page<'a>(
        &'a mut self,
        namespace: Namespace,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<Vec<StoredEntry>, StoreError>> {
        Box::pin(async move { self.page_now(namespace, after) })
    }

    fn last_version(&self) -> Version {
        self.last_version
    }
}
