//! Restores into the empty store that the settings name.

use std::fs::File;
use std::io::Seek as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use gatehouse_access::{AccessService, ServiceError};
use gatehouse_orgs::Orgs;
use gatehouse_ports::{OsRandom, Random as _, Store, SystemClock};
use gatehouse_store::{
    Backend, Generation, Inventory, KeyShare, Namespace, PrivateStore, Restoration, RestoredSeal,
    RootKey, SealKind, SharedClock, Sharing, read_key_file, read_manifest,
};
use zeroize::Zeroizing;

use super::root_key::{KeySource, root_key};
use crate::blocking_store::BlockingStore;
use crate::seal::backend;
use crate::seal::witness::Witness;
use crate::settings::{SealType, Settings, StorageType};

/// How a backup is restored.
#[derive(Debug, Clone, Copy)]
pub struct RestoreOptions<'a> {
    /// The backup.
    pub file: &'a Path,
    /// The key that it was made with, where it was in a file; `None` for that of the settings.
    pub key_file: Option<&'a Path>,
    /// Into what shares a new key is split; `None` to keep the seal of the backup, or for a key in a file.
    pub sharing: Option<Sharing>,
    /// Leaves all tokens valid that were when the backup was made.
    pub keep_tokens: bool,
}

/// A store that was restored.
#[derive(Debug)]
pub struct Restored {
    /// The inventory of the backup.
    pub inventory: Inventory,
    /// True if its key is another one than that of the backup.
    pub has_new_key: bool,
}

/// How the restored store will be sealed.
enum Target {
    AsItWas,
    Whole(RootKey),
    Split(RootKey, Sharing, Vec<KeyShare>),
}

/// Restores a backup into the empty store that the settings name, sealed as they say. All tokens that were valid when it was made end,
/// unless they are to be kept: those that were revoked since would be valid again.
///
/// `share` is asked for the shares of the backup, where its key is in those. New shares are handed to `show` before the store becomes usable, so that
/// they cannot be lost. `progress` is told how many bytes were read, of twice the length of the file.
///
/// # Errors
///
/// When the backup does not verify, the store is not empty, or the seal cannot be had: nothing has changed then. When the restore is
/// cut off, no server starts with what there is of it, and another restore begins anew.
pub async fn restore(
    settings: &Settings,
    options: RestoreOptions<'_>,
    share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>>,
    show: impl FnOnce(&[KeyShare]) -> Result<()>,
    progress: impl FnMut(u64) + Send,
) -> Result<Restored> {
    if settings.storage.kind == StorageType::Memory {
        bail!(
            "storage.type is \"memory\": such a store ends with its server, so there is nothing to restore into"
        );
    }
    let unreadable = || format!("cannot read {}", options.file.display());
    let mut input = File::open(options.file).with_context(unreadable)?;
    let manifest = read_manifest(&input)?;
    input.rewind().with_context(unreadable)?;
    let own_file = settings.seal.key_file.as_deref();
    let key_file = options.key_file.or(own_file);
    let key = root_key(manifest.seal, KeySource { key_file, share })?;
    let target = target(settings, manifest.seal, &key, options.sharing)?;
    let witness = settings.seal.witness.clone().map(Witness::new);
    let seen = match &witness {
        Some(witness) => witness.seen()?,
        None => None,
    };

    let clock: SharedClock = Arc::new(SystemClock);
    let below = backend(settings, &clock).await?;
    let restoration = Restoration::begin(input, below, clock, &key, progress).await?;
    if !options.keep_tokens {
        end_all_tokens(restoration.store()).await?;
    }
    let generation = match &witness {
        Some(_) => Some(next_generation(restoration.generation()?, seen)?),
        None => None,
    };
    let seal = match &target {
        Target::AsItWas => RestoredSeal::AsItWas,
        Target::Whole(key) => RestoredSeal::Whole(key),
        Target::Split(key, sharing, shares) => {
            show(shares)?;
            RestoredSeal::Split(key, *sharing)
        }
    };
    let inventory = restoration.finish(seal, generation).await?;
    if let (Some(witness), Some(generation)) = (witness, generation) {
        witness.write(generation)?;
    }
    Ok(Restored {
        inventory,
        has_new_key: !matches!(target, Target::AsItWas),
    })
}

/// The seal that the settings ask for.
fn target(
    settings: &Settings,
    was: SealKind,
    key: &RootKey,
    sharing: Option<Sharing>,
) -> Result<Target> {
    match (settings.seal.kind, sharing) {
        (SealType::KeyFile, Some(_)) => {
            bail!("seal.type is \"key-file\": there are shares only with seal.type = \"shamir\"")
        }
        (SealType::KeyFile, None) => {
            let file = settings.seal.key_file.as_deref();
            let own = read_key_file(file.context("seal.key_file is not set")?)?;
            let is_same = was == SealKind::KeyFile && own.is_same_as(key);
            Ok(if is_same {
                Target::AsItWas
            } else {
                Target::Whole(own)
            })
        }
        (SealType::Shamir, None) if was == SealKind::KeyFile => bail!(
            "seal.type is \"shamir\" and the backup is of a store with a key file: say into how many shares its new key is split, by \
             --key-shares and --key-threshold"
        ),
        (SealType::Shamir, None) => Ok(Target::AsItWas),
        (SealType::Shamir, Some(sharing)) => {
            let new = RootKey::generate(&OsRandom)?;
            let shares = new.split(sharing, &OsRandom)?;
            Ok(Target::Split(new, sharing, shares))
        }
    }
}

/// Ends every token of the store, without making the runtime wait.
async fn end_all_tokens(store: Arc<dyn Backend>) -> Result<()> {
    let ended = tokio::task::spawn_blocking(move || {
        let part = |namespace| BlockingStore::new(PrivateStore::new(Arc::clone(&store), namespace));
        end_tokens_of(part(Namespace::Access), part(Namespace::Orgs))
    });
    ended.await.context("the tokens did not end")?
}

/// Ends every token, by the rules of the capabilities that issue them.
pub(super) fn end_tokens_of(access: impl Store, orgs: impl Store) -> Result<()> {
    let why = "the tokens of the backup cannot be ended; restore it with --keep-tokens if they may all be valid";
    let access = AccessService::new(access, SystemClock, OsRandom);
    match access.end_all_tokens() {
        // There are none.
        Ok(()) | Err(ServiceError::NotInitialized) => {}
        Err(failure) => return Err(failure).context(why),
    }
    let orgs = Orgs::new(orgs, SystemClock, OsRandom);
    orgs.end_all_tokens().context(why)?;
    Ok(())
}

/// A count that the witness has not seen of this store, so that it is taken for the newest copy and all others for old ones.
fn next_generation(of_backup: Option<Generation>, seen: Option<Generation>) -> Result<Generation> {
    let Some(of_backup) = of_backup else {
        let mut store = [0; 16];
        OsRandom.fill(&mut store)?;
        return Ok(Generation { store, count: 1 });
    };
    let seen = seen.filter(|seen| seen.store == of_backup.store);
    let highest = seen.map_or(of_backup.count, |seen| seen.count.max(of_backup.count));
    Ok(Generation {
        count: highest.saturating_add(1),
        ..of_backup
    })
}

#[cfg(test)]
mod tests;
