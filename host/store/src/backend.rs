//! The operations that a backend must provide.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Requirement, StoreError, Version,
};

use crate::Namespace;

/// The future result of a call to a backend.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An entry of [`Namespace::Keyring`] that has to be as it was for a commit to any namespace to be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The key of the entry.
    pub key: String,
    /// The version that it must have.
    pub version: Version,
}

impl Guard {
    /// The same as a check of a commit to [`Namespace::Keyring`].
    #[must_use]
    pub fn check(&self) -> Check {
        Check {
            key: self.key.clone(),
            requirement: Requirement::AtVersion(self.version),
        }
    }

    /// The error of a commit whose guard did not hold.
    #[must_use]
    pub fn lost() -> CommitError {
        let text = "another server has taken over what this commit is part of";
        StoreError::Unavailable(text.to_owned()).into()
    }
}

/// An ordered map with a conditional, atomic commit for each [`Namespace`].
///
/// The four functions mean what the WIT interface `gatehouse:storage/key-value` says. Callers go through a
/// [`PrivateStore`](crate::PrivateStore), which has checked keys, sizes and counts by then; a backend need not repeat that.
///
/// Futures are boxed so that the host can choose a backend at run time: the allocation costs little beside a sync or a B-tree descent. None
/// of them may block its thread for longer than a read from the page cache takes. A commit whose future is dropped may still be applied.
pub trait Backend: Send + Sync + 'static {
    /// Reads entries at one point in time, in the order of `keys`, without those that are still at the version held.
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>>;

    /// Reads entries at one point in time, in the order of `keys`.
    fn get<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [&'a str],
    ) -> Answer<'a, Result<Vec<Option<Entry>>, StoreError>> {
        Box::pin(async move {
            let keys: Vec<HeldKey> = keys.iter().map(|key| HeldKey::unknown(*key)).collect();
            let found = self.get_changed(namespace, &keys).await?;
            let entry = |difference| match difference {
                Difference::Changed(entry) => Some(entry),
                Difference::Absent | Difference::Unchanged => None,
            };
            Ok(found.into_iter().map(entry).collect())
        })
    }

    /// Reads at most `limit` entries that start with `prefix` and come after `after`, in byte order.
    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>>;

    /// Applies all `changes` durably if every check holds, and otherwise nothing.
    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>>;

    /// Commits as [`Self::commit`] does if the entry of `guard` is unchanged at that same moment, and answers [`Guard::lost`] otherwise.
    ///
    /// This implementation looks at the entry first and commits then, which is enough only where no other host can change that entry: a
    /// backend that [is shared](Self::is_shared) does both at once.
    fn commit_under(
        &self,
        guard: Guard,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            let keys = [guard.key.as_str()];
            let found = self.get(Namespace::Keyring, &keys).await?;
            let found = found.into_iter().next().flatten();
            if found.is_none_or(|entry| entry.version != guard.version) {
                return Err(Guard::lost());
            }
            self.commit(namespace, checks, changes).await
        })
    }

    /// True if other servers may use the same entries at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// All that is held now, to be read for as long as that takes while commits continue.
    ///
    /// Only backends below a barrier have it: what is read is what is stored.
    fn snapshot(&self) -> Answer<'_, Result<Box<dyn Snapshot>, StoreError>> {
        Box::pin(ready(Err(without_snapshots())))
    }

    /// From now on gives only versions above `version`, durably.
    fn skip_versions(&self, version: Version) -> Answer<'_, Result<(), StoreError>> {
        let _ = version;
        Box::pin(ready(Err(without_snapshots())))
    }
}

/// The content of a backend at one point in time. It is given up by dropping it.
///
/// It takes no locks that commits wait for. A backend keeps what is deleted and replaced meanwhile, so it should not be held for longer than
/// it is read.
pub trait Snapshot: Send {
    /// Reads entries that come after `after`, in byte order, also those whose time has come: at most a thousand, and not many more than
    /// [`SNAPSHOT_PAGE_BYTES`]. Empty at the end.
    fn page<'a>(
        &'a mut self,
        namespace: Namespace,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<Vec<StoredEntry>, StoreError>>;

    /// A version that no version given until then exceeds.
    fn last_version(&self) -> Version;
}

/// Bytes of keys and values after which a page of a snapshot ends. Less than for a scan: each page is read at one go.
pub const SNAPSHOT_PAGE_BYTES: usize = 512 * 1024;

/// Entries after which a page of a snapshot ends.
pub(crate) const SNAPSHOT_PAGE_ENTRIES: usize = 1000;

/// An entry as a backend keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    /// The whole key.
    pub key: String,
    /// The value, sealed.
    pub value: Vec<u8>,
    /// Milliseconds since 1970 from which on it reads as absent; `None` means never.
    pub expires_at: Option<u64>,
}

/// A page of a snapshot that is being filled.
#[derive(Default)]
pub(crate) struct SnapshotPage {
    entries: Vec<StoredEntry>,
    bytes: usize,
}

impl SnapshotPage {
    /// Adds an entry; says whether another one has room.
    pub(crate) fn push(&mut self, entry: StoredEntry) -> bool {
        self.bytes = self
            .bytes
            .saturating_add(entry.key.len())
            .saturating_add(entry.value.len());
        self.entries.push(entry);
        self.bytes < SNAPSHOT_PAGE_BYTES && self.entries.len() < SNAPSHOT_PAGE_ENTRIES
    }

    /// The entries that were added.
    pub(crate) fn finish(self) -> Vec<StoredEntry> {
        self.entries
    }
}

fn without_snapshots() -> StoreError {
    StoreError::Invalid("this store gives no snapshots of what is below a barrier".to_owned())
}

impl<B: Backend + ?Sized> Backend for Arc<B> {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        (**self).get_changed(namespace, keys)
    }

    fn get<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [&'a str],
    ) -> Answer<'a, Result<Vec<Option<Entry>>, StoreError>> {
        (**self).get(namespace, keys)
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        (**self).scan(namespace, prefix, after, limit)
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        (**self).commit(namespace, checks, changes)
    }

    fn snapshot(&self) -> Answer<'_, Result<Box<dyn Snapshot>, StoreError>> {
        (**self).snapshot()
    }

    fn skip_versions(&self, version: Version) -> Answer<'_, Result<(), StoreError>> {
        (**self).skip_versions(version)
    }

    fn commit_under(
        &self,
        guard: Guard,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        (**self).commit_under(guard, namespace, checks, changes)
    }

    fn is_shared(&self) -> bool {
        (**self).is_shared()
    }
}
