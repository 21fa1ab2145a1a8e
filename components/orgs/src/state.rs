//! The state of the capability: a store, a clock and randomness, and the records that it keeps decoded.

use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Cacheable, Loaded, RecordCache, Records};

use crate::directory::{self, Directory, Shape};
use crate::name::FoldedName;
use crate::record::{OrganizationRecord, View, organization_key};
use crate::{Edition, ServiceError};

/// Bytes of stored records of late requests that an instance keeps decoded.
const LATE_BYTES: usize = 128 * 1024;

/// Organizations kept in a store.
///
/// It holds no state but decoded records, most of them parts of the directory, which are compared with the store at every read.
pub struct Orgs<S, C, R> {
    pub(crate) records: Records<S>,
    pub(crate) clock: C,
    pub(crate) random: R,
    pub(crate) cache: RecordCache,
    /// The users, memberships, teams and organizations of late requests. Apart from the directory, which they would push out.
    pub(crate) late: RecordCache,
    pub(crate) edition: Edition,
    directory_shape: Shape,
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Organizations of the self-hosted edition in `store`, which must be theirs alone.
    pub const fn new(store: S, clock: C, random: R) -> Self {
        Self {
            records: Records::new(store),
            cache: RecordCache::with_room_for(directory::CACHED_BYTES),
            late: RecordCache::with_room_for(LATE_BYTES),
            edition: Edition::SelfHosted,
            directory_shape: Shape::USUAL,
            clock,
            random,
        }
    }

    /// The same organizations in this edition.
    #[must_use]
    pub const fn with_edition(mut self, edition: Edition) -> Self {
        self.edition = edition;
        self
    }

    pub(crate) fn load(
        &self,
        name: &FoldedName,
    ) -> Result<Option<Loaded<OrganizationRecord>>, ServiceError> {
        Ok(self.records.get(&organization_key(name))?)
    }

    pub(crate) fn view(&self) -> View {
        View {
            edition: self.edition,
            now: self.clock.now_milliseconds(),
        }
    }

    /// The record of this key, which is not decoded again as long as it has not changed.
    pub(crate) fn read_cached<T: Cacheable>(
        &self,
        key: &str,
    ) -> Result<Option<Arc<T>>, ServiceError> {
        let mut reads = self.cache.read(self.records.store(), [key.to_owned()])?;
        Ok(reads.next_record()?.map(|loaded| loaded.record))
    }

    pub(crate) const fn directory(&self) -> Directory<'_, S> {
        Directory::new(&self.records, &self.cache, self.directory_shape)
    }

    /// The same organizations, with a directory that a test can see through.
    #[cfg(test)]
    pub const fn with_directory_shape(mut self, shape: Shape) -> Self {
        self.directory_shape = shape;
        self
    }
}
