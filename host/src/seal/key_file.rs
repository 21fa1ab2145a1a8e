//! The automatic seal: the root key is in a file.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use gatehouse_ports::OsRandom;
use gatehouse_store::{
    KeyringError, RootKey, UnsealError, Unsealed, create_key_file, read_key_file,
};
use zeroize::Zeroizing;

use super::following::order_seal;
use super::store::{Store, wrong_kind};
use super::witness::sync_folder_of;
use crate::runtime::services::{
    Answer, AutomaticSeal, InitializeError, Keys, Progress, Seal, SealError,
    UnsealError as ShareError,
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
        Err(UnsealError::Keyring(KeyringError::WrongRootKey))
            if finish_replacement(store, key_file).await? =>
        {
            tracing::info!("the store is unsealed; the replacement of its key file was finished");
        }
        Err(UnsealError::Keyring(error)) => {
            tracing::error!(%error, "the store stays sealed: seal.key_file is not the key that it was made with");
        }
        Err(error) => return Err(wrong_kind(error)),
    }
    Ok(())
}

/// Where the next key of a store waits while its key file is replaced.
fn beside(key_file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(key_file);
    name.push(ending);
    PathBuf::from(name)
}

/// Replaces the key of the store of a stopped server, and says where the old key file is kept.
///
/// The new key is on disk before the store is sealed by it, and takes the name of the old one afterwards. After a crash in between, the
/// next start or the next call finds both and finishes.
///
/// # Errors
///
/// When a file cannot be had or written, or the store does not open.
pub(super) async fn replace(store: &Store, key_file: &Path) -> Result<PathBuf> {
    let (next, former) = (beside(key_file, ".new"), beside(key_file, ".old"));
    let current = read_key_file(key_file)?;
    match store.unseal(&current).await {
        Ok(_) => {}
        Err(UnsealError::Keyring(KeyringError::WrongRootKey))
            if finish_replacement(store, Some(key_file)).await? =>
        {
            return Ok(former);
        }
        Err(error) => return Err(wrong_kind(error)),
    }
    if former.exists() && !read_key_file(&former)?.is_same_as(&current) {
        bail!(
            "{} holds an earlier key: move it away, and keep it for the backups that it opens",
            former.display()
        );
    }
    let replacement = if next.exists() {
        read_key_file(&next)?
    } else {
        create_key_file(&next)?
    };
    store.change_root_key(&current, &replacement).await?;
    swap(key_file)?;
    Ok(former)
}

/// Opens the store by the key that waits beside its key file, if there is one that opens it, and gives that its place.
async fn finish_replacement(store: &Store, key_file: Option<&Path>) -> Result<bool> {
    let Some(key_file) = key_file else {
        return Ok(false);
    };
    let next = beside(key_file, ".new");
    if !next.exists() || store.unseal(&read_key_file(&next)?).await.is_err() {
        return Ok(false);
    }
    swap(key_file)?;
    Ok(true)
}

/// Keeps the old key file under another name, and gives the new one its place. There is a key file at every moment.
fn swap(key_file: &Path) -> Result<()> {
    let (next, former) = (beside(key_file, ".new"), beside(key_file, ".old"));
    let swapped = || {
        if !former.exists() {
            fs::hard_link(key_file, &former)?;
        }
        fs::rename(&next, key_file)?;
        sync_folder_of(key_file)
    };
    swapped().with_context(|| {
        format!(
            "the store is sealed by the key in {} now, which could not take the place of {}",
            next.display(),
            key_file.display()
        )
    })
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
    fn status(&self) -> Answer<'_, Result<Option<Progress>, SealError>> {
        AutomaticSeal.status()
    }

    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Answer<'_, Result<Vec<Zeroizing<Vec<u8>>>, InitializeError>> {
        AutomaticSeal.begin_initialization(shares, threshold)
    }

    fn finish_initialization(&self) -> Answer<'_, Result<(), SealError>> {
        AutomaticSeal.finish_initialization()
    }

    fn abandon_initialization(&self) -> Answer<'_, Result<(), SealError>> {
        AutomaticSeal.abandon_initialization()
    }

    fn unseal(&self, share: Zeroizing<Vec<u8>>) -> Answer<'_, Result<Progress, ShareError>> {
        AutomaticSeal.unseal(share)
    }

    fn reset_unseal(&self) -> Answer<'_, Result<Progress, SealError>> {
        AutomaticSeal.reset_unseal()
    }

    fn seal(&self) -> Answer<'_, Result<(), SealError>> {
        self.store.seal();
        tracing::warn!("the store was sealed by a caller, until the next start");
        Box::pin(async { Ok(()) })
    }

    fn seal_all(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async {
            order_seal(&self.store).await?;
            self.seal().await
        })
    }

    fn keys(&self) -> Option<&dyn Keys> {
        Some(&*self.store)
    }
}
