//! Another root key for an open store, in shares or whole.

use gatehouse_barrier::{Keyring, RootKey, Sharing};
use gatehouse_ports::Change;

use super::record::SealRecord;
use crate::layout::{SEAL_KEY, put, unsealable};
use crate::{Backend, SealedBackend, UnsealError};

impl<B: Backend> SealedBackend<B> {
    /// Seals the keyring of an open store by `replacement`, which is split as `sharing` says, whatever its seal was before. In one commit.
    ///
    /// # Errors
    ///
    /// When the store is sealed or the backend fails.
    pub async fn split_root_key(
        &self,
        replacement: &RootKey,
        sharing: Sharing,
    ) -> Result<(), UnsealError> {
        let current = self.held_root_key()?;
        self.split_key(&current, replacement, sharing).await
    }

    /// Seals the keyring of an open store by `replacement`, which is not split, whatever its seal was before. In one commit.
    ///
    /// # Errors
    ///
    /// When the store is sealed or the backend fails.
    pub async fn join_root_key(&self, replacement: &RootKey) -> Result<(), UnsealError> {
        let current = self.held_root_key()?;
        let key = SEAL_KEY.to_owned();
        self.change_root_key_and(&current, replacement, move |_| {
            Ok(vec![Change::Delete(key.clone())])
        })
        .await
    }

    pub(super) async fn split_key(
        &self,
        current: &RootKey,
        replacement: &RootKey,
        sharing: Sharing,
    ) -> Result<(), UnsealError> {
        let beside = |keyring: &Keyring| {
            let record = SealRecord::new(keyring, sharing).map_err(unsealable)?;
            Ok(vec![put(SEAL_KEY, record.write())])
        };
        self.change_root_key_and(current, replacement, beside).await
    }
}
