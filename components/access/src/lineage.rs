//! The ancestors that a token rests on: all of them, or those below the last that ended without its children.

use gatehouse_ports::{Clock, Random, Store, Version};

use crate::api::Failure;
use crate::records::{RelinquishedRecord, relinquished_key};
use crate::secret::TokenHash;
use crate::service::AccessService;

/// The place in a chain of ancestors, oldest first, of the youngest that is not alive. Whether its descendants stand without it
/// is for its [`RelinquishedRecord`] to say; what is above it does not matter either way.
pub(crate) fn youngest_gone(
    mut alive: impl ExactSizeIterator<Item = bool> + DoubleEndedIterator,
) -> Option<usize> {
    alive.rposition(|alive| !alive)
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Of `ancestors`, oldest first, those that a descendant's validity rests on; `alive` holds a version for each that is alive.
    /// `None` when the descendant is not valid. Takes a round trip only when one of them is not alive.
    ///
    /// `has_place` says whether the descendant has a place in the index of its parent's children. A batch token has none: it cannot
    /// be left behind, and ends with its parent.
    pub(crate) fn lineage(
        &self,
        ancestors: &[TokenHash],
        alive: &[Option<Version>],
        has_place: bool,
    ) -> Result<Option<Vec<(TokenHash, Version)>>, Failure> {
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
    pub(crate) fn is_relinquished(&self, hash: &TokenHash) -> Result<bool, Failure> {
        let found = self
            .records
            .get::<RelinquishedRecord>(&relinquished_key(hash))?;
        Ok(found.is_some())
    }
}
