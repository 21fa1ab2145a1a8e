//! Indexes that stores of earlier releases lack: a request that needs one finds it complete or is put off.

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Index, Transaction};

use crate::api::ServiceError;
use crate::service::AccessService;

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Makes sure that `index` is complete; `stage` adds what the index is to hold about one entry.
    ///
    /// # Errors
    ///
    /// When more work is left than one call does: the next call continues it.
    pub(crate) fn require_index(
        &self,
        index: Index<'_>,
        stage: impl Fn(&mut Transaction, &Item) -> Result<(), ServiceError>,
    ) -> Result<(), ServiceError> {
        if self.advance_index(index, stage)? {
            return Ok(());
        }
        let why = "an index is being made, which takes a while once: try again";
        Err(ServiceError::Unavailable(why.to_owned()))
    }

    /// Does a bounded part of the work on `index`, and returns true if it is complete.
    pub(crate) fn advance_index(
        &self,
        index: Index<'_>,
        stage: impl Fn(&mut Transaction, &Item) -> Result<(), ServiceError>,
    ) -> Result<bool, ServiceError> {
        index.advance(&self.records, &self.clock, &self.random, stage)
    }
}
