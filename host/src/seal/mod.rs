//! The store that the settings name, and who holds its key (SEC-K2).

mod ceremonies;
mod following;
mod key_file;
mod keys;
pub mod migration;
mod shares;
mod store;
mod upkeep;
pub mod witness;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use gatehouse_store::{
    Backend, MemoryBackend, OpenError, RedbBackend, Roster, SealedBackend, ShareSeal, SharedClock,
};

pub(crate) use store::Store;
pub use upkeep::Upkeep;

use self::store::wrong_kind;
use self::witness::Witness;
use crate::backup::ServedBackups;
use crate::database;
use crate::runtime::services::{Backups, Seal};
use crate::settings::{SealType, Settings, StorageType};

/// The file of the durable store in its folder.
const STORE_FILE: &str = "gatehouse.redb";

/// How a store comes to hold something.
const FILL: &str = "start a server over it and initialize it (sys/init), or restore a backup";

/// A store, and what opens and closes it.
pub struct SealedStore {
    /// Answers that it is sealed for as long as it is.
    pub store: Arc<dyn Backend>,
    /// The seal, which holds its key.
    pub seal: Arc<dyn Seal>,
    /// The work that is due about its keys.
    pub upkeep: Upkeep,
    /// Backups of it.
    pub backups: Arc<dyn Backups>,
}

impl SealedStore {
    /// Opens the store that the settings name for a server, with the list of the servers that share it, where several can.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub async fn open_shared(
        settings: &Settings,
        clock: &SharedClock,
    ) -> Result<(Self, Option<Arc<dyn Roster>>)> {
        let (below, roster) = match settings.storage.kind {
            StorageType::Postgresql => {
                let (below, roster) = database::open_shared(settings, clock).await?;
                (below, Some(roster))
            }
            _ => (backend(settings, clock).await?, None),
        };
        Ok((Self::over(below, settings, clock).await?, roster))
    }

    /// Opens the store that the settings name for this program alone, as far as this is possible without people.
    ///
    /// A key file that is not the store's does not stop the start: the server then is sealed, and says so to every client that asks.
    ///
    /// # Errors
    ///
    /// When the store or the key file cannot be had, the store was made with another kind of seal, or the witness says that it is an old
    /// copy.
    pub async fn open(settings: &Settings, clock: &SharedClock) -> Result<Self> {
        Self::over(backend(settings, clock).await?, settings, clock).await
    }

    /// Opens the store of a stopped server as [`Self::open`] does, for commands on its machine.
    ///
    /// # Errors
    ///
    /// As of [`Self::open`], and when the store is empty: it stays so then.
    pub async fn open_stopped(settings: &Settings, clock: &SharedClock) -> Result<Self> {
        Self::over(backend_in_use(settings, clock).await?, settings, clock).await
    }

    async fn over(
        below: Arc<dyn Backend>,
        settings: &Settings,
        clock: &SharedClock,
    ) -> Result<Self> {
        let store = Arc::new(Store::new(below, Arc::clone(clock)));
        let witness = settings.seal.witness.clone().map(Witness::new);
        if let Some(witness) = &witness {
            witness.check(store.generation().await?)?;
        }
        let seal: Arc<dyn Seal> = match settings.seal.kind {
            SealType::KeyFile => {
                let key_file = settings.seal.key_file.as_deref();
                key_file::unseal(&store, key_file).await?;
                Arc::new(key_file::KeyFileSeal::new(Arc::clone(&store)))
            }
            SealType::Shamir => {
                // No request lives that long, nor does its last commit.
                let patience = 2 * settings.limits.instance_wall_time;
                let seal = ShareSeal::open(Arc::clone(&store), patience).await;
                let seal = seal.map_err(wrong_kind)?;
                let seal = shares::HeldInShares::new(seal, Arc::clone(&store), witness.clone());
                seal.tell_operator_what_to_do().await;
                Arc::new(seal)
            }
        };
        let mut upkeep = Upkeep::new(Arc::clone(&store), Arc::clone(&seal), witness);
        upkeep.begin().await?;
        Ok(Self {
            backups: Arc::new(ServedBackups::new(Arc::clone(&store))),
            store,
            seal,
            upkeep,
        })
    }
}

/// The store of a stopped server, still sealed, for commands on its machine.
///
/// # Errors
///
/// When it is empty, in use, or cannot be had. Nothing has changed then.
pub async fn stopped_store(settings: &Settings) -> Result<Arc<SealedBackend<Arc<dyn Backend>>>> {
    let clock: SharedClock = Arc::new(gatehouse_ports::SystemClock);
    let below = backend_in_use(settings, &clock).await?;
    Ok(Arc::new(Store::new(below, clock)))
}

/// The backend of a stopped server. One that holds nothing is refused: to open it would make a store that no restore takes any more.
async fn backend_in_use(settings: &Settings, clock: &SharedClock) -> Result<Arc<dyn Backend>> {
    match settings.storage.kind {
        StorageType::Memory => anyhow::bail!(
            "storage.type is \"memory\": such a store ends with its server, so there is none"
        ),
        StorageType::Redb => {
            existing_store_file(settings)?;
        }
        StorageType::Postgresql => {}
    }
    let below = backend(settings, clock).await?;
    let store = Store::new(Arc::clone(&below), Arc::clone(clock));
    if store.is_empty().await? {
        anyhow::bail!("the store is empty: {FILL}");
    }
    Ok(below)
}

/// The backend that the settings name, for a caller that does not change it: a database whatever servers use it, and a file where there is
/// one.
pub(crate) async fn backend_to_read(
    settings: &Settings,
    clock: &SharedClock,
) -> Result<Arc<dyn Backend>> {
    match settings.storage.kind {
        StorageType::Memory => anyhow::bail!(
            "storage.type is \"memory\": such a store is its server's alone; ask the server, by --address"
        ),
        StorageType::Redb => {
            let file = existing_store_file(settings)?;
            let opened = RedbBackend::open(&file, Arc::clone(clock));
            let store = opened.map_err(|error| match error {
                OpenError::InUse { path } => anyhow::anyhow!(
                    "a server has the store {} open: ask that server, by --address",
                    path.display()
                ),
                other => other.into(),
            })?;
            Ok(Arc::new(store))
        }
        StorageType::Postgresql => database::open_to_read(settings, clock).await,
    }
}

/// The backend that the settings name, made where there is none, for a caller that uses it alone.
pub(crate) async fn backend(settings: &Settings, clock: &SharedClock) -> Result<Arc<dyn Backend>> {
    match settings.storage.kind {
        StorageType::Memory => Ok(Arc::new(MemoryBackend::new(Arc::clone(clock)))),
        StorageType::Redb => {
            let file = store_file(settings)?;
            file.parent().map_or(Ok(()), make_private_folder)?;
            let store = RedbBackend::open(&file, Arc::clone(clock))?;
            Ok(Arc::new(store))
        }
        StorageType::Postgresql => database::open_alone(settings, clock).await,
    }
}

/// The file that the settings name for a store in a file.
fn store_file(settings: &Settings) -> Result<PathBuf> {
    let folder = settings.storage.path.as_deref();
    Ok(folder.context("storage.path is not set")?.join(STORE_FILE))
}

/// The same, where there is one.
fn existing_store_file(settings: &Settings) -> Result<PathBuf> {
    let file = store_file(settings)?;
    if !file.exists() {
        anyhow::bail!("there is no store {}: {FILL}", file.display());
    }
    Ok(file)
}

fn make_private_folder(folder: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

#[cfg(test)]
mod tests;
