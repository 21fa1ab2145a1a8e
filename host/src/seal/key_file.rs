//! The automatic seal: the root key is in a file.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use gatehouse_ports::OsRandom;
use gatehouse_store::{RootKey, UnsealError, Unsealed, read_key_file};
use zeroize::Zeroizing;

use super::{Store, wrong_kind};
use crate::runtime::services::{
    Answer, AutomaticSeal, InitializeError, Progress, Seal, SealFailure, UnsealError as ShareError,
};

/// Opens `store` with the key in `key_file`.
pub(super) async fn unseal(store: &Store, key_file: Option<&Path>) -> Result<()> {
    let key = match key_file {
        Some(file) => read_key_file(file)?,
        // Only a store in memory may do without: it ends together with this key.
        None => RootKey::generate(&OsRandom)?,
    };
    match store.unseal(&key).await {
        Ok(Unsealed::Created) => tracing::info!("the store is new; its keyring has been made"),
        Ok(_) => tracing::info!("the store is unsealed"),
        Err(UnsealError::Keyring(error)) => {
            tracing::error!(%error, "the store stays sealed: seal.key_file is not the key that it was made with");
        }
        Err(error) => return Err(wrong_kind(error)),
    }
    Ok(())
}

/// Can be closed, and opens at the next start: the key was read once and is not kept.
pub(super) struct KeyFileSeal {
    store: Arc<Store>,
}

impl KeyFileSeal {
    pub(super) const fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

impl Seal for KeyFileSeal {
    fn status(&self) -> Answer<'_, Result<Option<Progress>, SealFailure>> {
        AutomaticSeal.status()
    }

    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Answer<'_, Result<Vec<Zeroizing<Vec<u8>>>, InitializeError>> {
        AutomaticSeal.begin_initialization(shares, threshold)
    }

    fn finish_initialization(&self) -> Answer<'_, Result<(), SealFailure>> {
        AutomaticSeal.finish_initialization()
    }

    fn abandon_initialization(&self) -> Answer<'_, Result<(), SealFailure>> {
        AutomaticSeal.abandon_initialization()
    }

    fn unseal(&self, share: Zeroizing<Vec<u8>>) -> Answer<'_, Result<Progress, ShareError>> {
        AutomaticSeal.unseal(share)
    }

    fn reset_unseal(&self) -> Answer<'_, Result<Progress, SealFailure>> {
        AutomaticSeal.reset_unseal()
    }

    fn seal(&self) -> Answer<'_, Result<(), SealFailure>> {
        self.store.seal();
        tracing::warn!("the store was sealed by a caller, until the next start");
        Box::pin(async { Ok(()) })
    }
}
