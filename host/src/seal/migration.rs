//! Changes of the seal of a stopped server, for commands on its machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use gatehouse_ports::OsRandom;
use gatehouse_store::{
    Backend, KeyShare, RootKey, SealedBackend, ShareSeal, Sharing, create_key_file, read_key_file,
};
use std::time::Duration;
use zeroize::Zeroizing;

use super::store::wrong_kind;
use super::{key_file, stopped_store};
use crate::settings::{SealType, Settings};

/// Replaces the key file of a store, and says where the old one is kept: backups made before need it.
///
/// # Errors
///
/// When the seal is not a key file, the store is in use, or anything cannot be read or written. After a crash the next start or the next
/// call finishes it.
pub async fn replace_key_file(settings: &Settings) -> Result<PathBuf> {
    let key_file = own_key_file(settings)?;
    key_file::replace(&*stopped_store(settings).await?, key_file).await
}

/// Splits the key of a store that has a key file. The shares are handed to `show` before anything changes: an operator who has seen them
/// cannot be left without.
///
/// # Errors
///
/// When the seal is not a key file, the store does not open, or `show` fails. Nothing has changed then.
pub async fn to_shares(
    settings: &Settings,
    sharing: Sharing,
    show: impl FnOnce(&[KeyShare]) -> Result<()> + Send,
) -> Result<()> {
    let key_file = own_key_file(settings)?;
    let store = stopped_store(settings).await?;
    key_file::unseal(&store, Some(key_file)).await?;
    if store.is_sealed() {
        bail!("the key file does not open the store");
    }
    let replacement = RootKey::generate(&OsRandom)?;
    show(&replacement.split(sharing, &OsRandom)?)?;
    store.split_root_key(&replacement, sharing).await?;
    Ok(())
}

/// Combines the shares that hold the key of a store, and gives the store a new key in `key_file`, which is made where it is missing. `shares`
/// are asked for one by one until they are enough.
///
/// # Errors
///
/// When the seal is a key file, the shares do not open the store, or the file cannot be had. The shares stay valid then.
pub async fn to_key_file(
    settings: &Settings,
    key_file: &Path,
    share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>> + Send,
) -> Result<()> {
    if settings.seal.kind != SealType::Shamir {
        bail!("seal.type is not \"shamir\": the key of this store is in a file already");
    }
    let store = unsealed_by_shares(settings, share).await?;
    let replacement = if key_file.exists() {
        read_key_file(key_file)?
    } else {
        create_key_file(key_file)?
    };
    store.join_root_key(&replacement).await?;
    Ok(())
}

/// The store of a stopped server, opened by shares, which are asked for one by one until they are enough.
///
/// # Errors
///
/// When the key is not in shares, or the shares do not open the store.
pub async fn unsealed_by_shares(
    settings: &Settings,
    mut share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>> + Send,
) -> Result<Arc<SealedBackend<Arc<dyn Backend>>>> {
    let store = stopped_store(settings).await?;
    // No first start is under way in the store of a stopped server.
    let seal = ShareSeal::open(Arc::clone(&store), Duration::ZERO).await;
    let seal = seal.map_err(wrong_kind)?;
    loop {
        let progress = seal.progress().await;
        let sharing = progress.sharing.context("the store is not initialized")?;
        if !progress.sealed {
            return Ok(store);
        }
        seal.unseal(share(progress.given, sharing.threshold())?)
            .await?;
    }
}

fn own_key_file(settings: &Settings) -> Result<&Path> {
    if settings.seal.kind == SealType::Shamir {
        bail!(
            "seal.type is \"shamir\": the key of this store is in shares, and its holders use `bao operator` on the open server"
        );
    }
    let key_file = settings.seal.key_file.as_deref();
    key_file.context("seal.key_file is not set")
}
