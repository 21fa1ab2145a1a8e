//! The ancestors that a token rests on: all of them, or those below the last that ended without its children.

use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store, Version};
use gatehouse_storage::CachedReads;

use crate::api::ServiceError;
use crate::records::{MountRecord, RelinquishedRecord, TokenRecord, mount_key, relinquished_key};
use crate::secret::TokenHash;
use crate::service::AccessService;

/// The place in a chain of ancestors, oldest first, of the youngest that is not alive. Its [`RelinquishedRecord`] says
/// if its descendants stand without it; what is above it does not matter either way.
pub(crate) fn youngest_gone(
    mut alive: impl ExactSizeIterator<Item = bool> + DoubleEndedIterator,
) -> Option<usize> {
    alive.rposition(|alive| !alive)
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The ancestors that the validity of a token rests on, as [`lineage`](Self::lineage) has them, out of `reads`, which come to them
    /// next. `issuer` is the mount that issued the token; `now` is in seconds.
    pub(crate) fn read_lineage(
        &self,
        descendant: &TokenRecord,
        has_place: bool,
        issuer: Option<&Arc<MountRecord>>,
        reads: &mut CachedReads<'_>,
        now: u64,
    ) -> Result<Option<Vec<(TokenHash, Version)>>, ServiceError> {
        let mut alive = Vec::with_capacity(descendant.ancestors.len());
        for _ in &descendant.ancestors {
            let ancestor = reads.next_uncached::<TokenRecord>()?;
            alive.push(match ancestor {
                Some(ancestor)
                    if ancestor.record.is_alive_at(now)
                        // A batch token cannot be cleared away before a chosen identifier is used again: it
                        // never comes to descend from the younger token.
                        && (has_place
                            || ancestor.record.creation_time <= descendant.creation_time)
                        && self.is_honoured(&ancestor.record, issuer.map(Arc::as_ref))? =>
                {
                    Some(ancestor.version)
                }
                _ => None,
            });
        }
        self.lineage(&descendant.ancestors, &alive, has_place)
    }

    /// True if the mount that issued an ancestor still honours it. `token_mount` is what issued the descendant; only the oldest
    /// ancestor can come from a login, whose mount takes a round trip of its own.
    fn is_honoured(
        &self,
        ancestor: &TokenRecord,
        token_mount: Option<&MountRecord>,
    ) -> Result<bool, ServiceError> {
        Ok(match (&ancestor.origin, ancestor.issuer()) {
            (_, None) => true,
            (None, Some(_)) => token_mount.is_some_and(|mount| mount.honours(ancestor)),
            (Some(origin), Some(_)) => self
                .read_cached([mount_key(&origin.mount_path)])?
                .next_record::<MountRecord>()?
                .is_some_and(|mount| mount.record.honours(ancestor)),
        })
    }

    /// Of `ancestors`, oldest first, those that a descendant's validity rests on; `alive` holds a version for each that is alive.
    /// `None` when the descendant is not valid. Takes a round trip only when one of them is not alive.
    ///
    /// `has_place` says whether the descendant has a place in the index of its parent's children. A batch token has none: it cannot
    /// be left behind, and ends with its parent.
    fn lineage(
        &self,
        ancestors: &[TokenHash],
        alive: &[Option<Version>],
        has_place: bool,
    ) -> Result<Option<Vec<(TokenHash, Version)>>, ServiceError> {
        let gone = youngest_gone(alive.iter().map(Option::is_some));
        let parent_is_gone = gone.is_some_and(|at| at + 1 == ancestors.len());
        if let Some(gone) = gone.and_then(|at| ancestors.get(at))
            && ((parent_is_gone && !has_place) || !self.is_relinquished(gone)?)
        {
            return Ok(None);
        }
        let counting = ancestors
            .iter()
            .zip(alive)
            .skip(gone.map_or(0, |at| at + 1));
        let lineage = counting.filter_map(|(hash, version)| Some((hash.clone(), (*version)?)));
        Ok(Some(lineage.collect()))
    }

    /// True if the token of this hash ended without its children.
    pub(crate) fn is_relinquished(&self, hash: &TokenHash) -> Result<bool, ServiceError> {
        let found = self
            .records
            .get::<RelinquishedRecord>(&relinquished_key(hash))?;
        Ok(found.is_some())
    }
}
