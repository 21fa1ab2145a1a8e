//! Backups that are made beside a server, or of a store that no server holds.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use gatehouse_access::{AccessService, System as _};
use gatehouse_ports::{Clock as _, OsRandom, SystemClock};
use gatehouse_store::{
    Backend, Backup, Namespace, PrivateStore, SealKind, SealedBackend, SharedClock,
};
use zeroize::Zeroizing;

use super::root_key::{KeySource, root_key};
use crate::blocking_store::BlockingStore;
use crate::seal::backend_to_read;
use crate::settings::Settings;

/// Begins a backup of the store that the settings name, and changes nothing in it: of a file that no server has open, or of a database,
/// whatever servers use it. `share` is asked for the shares where the key is in those.
///
/// # Errors
///
/// When there is no such store, a server has it open that lets no other read beside it, or the key does not open it.
pub async fn begin_offline(
    settings: &Settings,
    share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>>,
) -> Result<Backup> {
    let clock: SharedClock = Arc::new(SystemClock);
    let below = backend_to_read(settings, &clock).await?;
    let store = Arc::new(SealedBackend::new(Arc::clone(&below), clock));
    let seal = match store.stored_sharing().await? {
        None => SealKind::KeyFile,
        Some(sharing) => SealKind::Shares {
            shares: sharing.shares(),
            threshold: sharing.threshold(),
        },
    };
    let key_file = settings.seal.key_file.as_deref();
    if seal == SealKind::KeyFile && key_file.is_none() {
        bail!("the key of this store is in a file: set seal.key_file");
    }
    let key = root_key(seal, KeySource { key_file, share })?;
    let opened = store.open_existing(&key).await;
    opened.context("the key does not open the store")?;
    let installation = installation(store.clone()).await?;
    store.seal();
    let now = SystemClock.now_milliseconds();
    Ok(Backup::begin(&below, key, installation, now).await?)
}

/// The identity that the access control of an open store has; `None` before its first start.
pub(super) async fn installation(store: Arc<dyn Backend>) -> Result<Option<String>> {
    let found = tokio::task::spawn_blocking(move || {
        let store = PrivateStore::new(store, Namespace::Access);
        let access = AccessService::new(BlockingStore::new(store), SystemClock, OsRandom);
        access.current_cluster()
    });
    let found = found.await.context("the identity was not read")?;
    let cluster = found.context("the identity of the installation cannot be read")?;
    Ok(cluster.map(|cluster| cluster.id))
}
