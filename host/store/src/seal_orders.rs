//! An order to all hosts that share a store to seal themselves (SEC-A8).
//!
//! It is a number beside the keyring, which each host holds against the one that it read when it began to open.

use std::sync::atomic::Ordering;

use gatehouse_ports::{Check, CommitError, Entry, Requirement, StoreError};

use crate::layout::{SEAL_ORDERS_KEY, put};
use crate::sealed::KEYRING_ATTEMPTS;
use crate::{Backend, Namespace, SealedBackend, UnsealError};

impl<B: Backend> SealedBackend<B> {
    /// Orders all hosts that share the store to seal themselves, those that are open by now, this one among them.
    ///
    /// # Errors
    ///
    /// When the backend fails, or others order the same at the same time.
    pub async fn order_seal(&self) -> Result<(), UnsealError> {
        for _ in 0..KEYRING_ATTEMPTS {
            let (orders, requirement) = match self.seal_orders().await? {
                Some((orders, entry)) => (orders, Requirement::AtVersion(entry.version)),
                None => (0, Requirement::Absent),
            };
            let check = Check {
                key: SEAL_ORDERS_KEY.to_owned(),
                requirement,
            };
            let orders = orders.saturating_add(1).to_be_bytes().to_vec();
            let changes = vec![put(SEAL_ORDERS_KEY, orders)];
            let commit = self
                .backend()
                .commit(Namespace::Keyring, vec![check], changes);
            match commit.await {
                Ok(()) => return Ok(()),
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Failed(error)) => return Err(error.into()),
            }
        }
        Err(UnsealError::Contended)
    }

    /// Tells whether this host is open and was ordered to seal itself since it began to open.
    ///
    /// # Errors
    ///
    /// When the backend fails. That is no order.
    pub async fn is_seal_ordered(&self) -> Result<bool, StoreError> {
        if !self.backend().is_shared() || self.is_sealed() {
            return Ok(false);
        }
        let orders = self.seal_orders().await?.map_or(0, |(orders, _)| orders);
        Ok(!self.is_sealed() && orders > self.opened_after.load(Ordering::Acquire))
    }

    /// Notes the orders so far: to be called before the store is opened, for which only later ones count.
    pub(crate) async fn note_seal_orders(&self) -> Result<(), StoreError> {
        if self.backend().is_shared() {
            let orders = self.seal_orders().await?.map_or(0, |(orders, _)| orders);
            self.opened_after.store(orders, Ordering::Release);
        }
        Ok(())
    }

    async fn seal_orders(&self) -> Result<Option<(u64, Entry)>, StoreError> {
        let keys = [SEAL_ORDERS_KEY];
        let entries = self.backend().get(Namespace::Keyring, &keys).await?;
        let Some(entry) = entries.into_iter().next().flatten() else {
            return Ok(None);
        };
        let orders = <[u8; 8]>::try_from(entry.value.as_slice());
        let orders = orders.map_err(|_| StoreError::Corrupt(SEAL_ORDERS_KEY.to_owned()))?;
        Ok(Some((u64::from_be_bytes(orders), entry)))
    }
}
