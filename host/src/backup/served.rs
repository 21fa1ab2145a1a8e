//! Backups that clients of the server read, part by part.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use gatehouse_ports::{OsRandom, Random as _};
use gatehouse_store::Backup;
use tokio::time::{Instant, sleep};

use crate::runtime::services::{Answer, BackupError, Backups};
use crate::seal::Store;

/// How many backups are made at one time: for each, the store keeps what is deleted and replaced meanwhile.
const MOST: usize = 2;
/// A backup is given up after so long without a call for its next part.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often each backup is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The backups of a store that are being made.
pub struct ServedBackups {
    store: Arc<Store>,
    made: Arc<Mutex<HashMap<String, Made>>>,
    patience: Duration,
}

/// A backup, and the time at which it is given up. `backup` is `None` while its beginning or a part of it is being made.
struct Made {
    backup: Option<Box<Backup>>,
    until: Instant,
}

impl ServedBackups {
    /// Backups of `store`, none of which has begun.
    #[must_use]
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self::with_patience(store, PATIENCE)
    }

    fn with_patience(store: Arc<Store>, patience: Duration) -> Self {
        Self {
            store,
            made: Arc::default(),
            patience,
        }
    }

    async fn begin_one(&self, installation: Option<String>) -> Result<String, BackupError> {
        let mut bytes = [0; 16];
        OsRandom.fill(&mut bytes).map_err(unavailable)?;
        let name = base16ct::lower::encode_string(&bytes);
        let slot = BackupSlot::take(&self.made, &name, self.patience)?;
        let begun = self.store.begin_backup(installation).await;
        slot.fill(begun.map_err(unavailable)?, self.patience);
        let (store, made) = (Arc::downgrade(&self.store), Arc::downgrade(&self.made));
        tokio::spawn(give_up_in_time(store, made, name.clone()));
        tracing::info!("a backup has begun");
        Ok(name)
    }

    async fn next_of(&self, name: String) -> Result<Option<Vec<u8>>, BackupError> {
        let (slot, mut backup) = BackupSlot::resume(&self.made, &name)?;
        match backup.next().await {
            Ok(Some(part)) => {
                slot.fill(*backup, self.patience);
                Ok(Some(part))
            }
            Ok(None) => {
                tracing::info!(
                    records = backup.records(),
                    bytes = backup.bytes(),
                    "a backup is complete"
                );
                Ok(None)
            }
            Err(error) => Err(unavailable(error)),
        }
    }
}

impl Backups for ServedBackups {
    fn begin(&self, installation: Option<String>) -> Answer<'_, Result<String, BackupError>> {
        Box::pin(self.begin_one(installation))
    }

    fn next(&self, name: String) -> Answer<'_, Result<Option<Vec<u8>>, BackupError>> {
        Box::pin(self.next_of(name))
    }
}

/// The slot of a backup among those that are being made, held by a request that works on it. It is given back when the request is cut off or
/// fails.
struct BackupSlot<'a> {
    made: &'a Mutex<HashMap<String, Made>>,
    name: String,
    is_kept: bool,
}

impl<'a> BackupSlot<'a> {
    /// A slot for one more backup.
    fn take(
        made: &'a Mutex<HashMap<String, Made>>,
        name: &str,
        patience: Duration,
    ) -> Result<Self, BackupError> {
        let mut all = lock(made);
        if all.len() >= MOST {
            return Err(BackupError::Busy);
        }
        let empty = Made {
            backup: None,
            until: Instant::now() + patience,
        };
        all.insert(name.to_owned(), empty);
        Ok(Self {
            made,
            name: name.to_owned(),
            is_kept: false,
        })
    }

    /// The slot of a backup that has begun, and the backup as far as it has been made.
    fn resume(
        made: &'a Mutex<HashMap<String, Made>>,
        name: &str,
    ) -> Result<(Self, Box<Backup>), BackupError> {
        let mut all = lock(made);
        let backup = all.get_mut(name).and_then(|made| made.backup.take());
        let backup = backup.ok_or(BackupError::Unknown)?;
        let slot = Self {
            made,
            name: name.to_owned(),
            is_kept: false,
        };
        Ok((slot, backup))
    }

    /// Keeps the backup in the slot until a request continues it.
    fn fill(mut self, backup: Backup, patience: Duration) {
        let kept = Made {
            backup: Some(Box::new(backup)),
            until: Instant::now() + patience,
        };
        lock(self.made).insert(self.name.clone(), kept);
        self.is_kept = true;
    }
}

impl Drop for BackupSlot<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            lock(self.made).remove(&self.name);
        }
    }
}

/// Gives a backup up when its client has not asked for its next part for too long, or when the store is sealed: a backup holds its root key.
async fn give_up_in_time(
    store: Weak<Store>,
    made: Weak<Mutex<HashMap<String, Made>>>,
    name: String,
) {
    loop {
        sleep(LOOK_EVERY).await;
        let (Some(store), Some(made)) = (store.upgrade(), made.upgrade()) else {
            return;
        };
        let mut all = lock(&made);
        let reason = match all.get(&name) {
            None => return,
            // A request is working on it, and keeps or removes it.
            Some(Made { backup: None, .. }) => continue,
            Some(_) if store.is_sealed() => "the store was sealed",
            Some(found) if found.until <= Instant::now() => "its client did not read on",
            Some(_) => continue,
        };
        all.remove(&name);
        tracing::warn!("a backup was given up: {reason}");
        return;
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing is done in between that could panic.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unavailable(error: impl ToString) -> BackupError {
    BackupError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::SystemClock;
    use gatehouse_store::{
        Backend, MemoryBackend, RootKey, SealedBackend, SharedClock, verify_backup,
    };

    use super::*;

    async fn store() -> (Arc<Store>, RootKey) {
        let clock: SharedClock = Arc::new(SystemClock);
        let below: Arc<dyn Backend> = Arc::new(MemoryBackend::new(Arc::clone(&clock)));
        let store = Arc::new(SealedBackend::new(below, clock));
        let key = RootKey::generate(&OsRandom).unwrap();
        store.unseal(&key).await.unwrap();
        (store, key)
    }

    #[tokio::test]
    async fn s11_a_backup_is_given_out_part_by_part_and_is_whole() {
        let (store, key) = store().await;
        let backups = ServedBackups::new(store);
        let name = backups.begin(Some("an id".to_owned())).await.unwrap();
        let mut file = Vec::new();
        while let Some(part) = backups.next(name.clone()).await.unwrap() {
            file.extend(part);
        }
        let inventory = verify_backup(&file[..], Some(&key), |_| {}).unwrap();
        assert_eq!(inventory.manifest.installation.as_deref(), Some("an id"));
        let over = backups.next(name).await;
        assert_eq!(over, Err(BackupError::Unknown));
    }

    #[tokio::test]
    async fn s14_there_are_two_backups_at_one_time() {
        let (store, _) = store().await;
        let backups = ServedBackups::new(store);
        let one = backups.begin(None).await.unwrap();
        backups.begin(None).await.unwrap();
        assert_eq!(backups.begin(None).await, Err(BackupError::Busy));
        while backups.next(one.clone()).await.unwrap().is_some() {}
        backups.begin(None).await.unwrap();
    }

    #[tokio::test]
    async fn s11_a_sealed_store_gives_no_backup_and_keeps_no_place_for_it() {
        let (store, _) = store().await;
        store.seal();
        let backups = ServedBackups::new(store);
        for _ in 0..=MOST {
            let refused = backups.begin(None).await;
            assert!(matches!(refused, Err(BackupError::Unavailable(_))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn k2_a_backup_is_given_up_with_its_key_when_the_store_is_sealed() {
        let (store, key) = store().await;
        let backups = ServedBackups::new(Arc::clone(&store));
        backups.begin(None).await.unwrap();
        tokio::time::sleep(2 * LOOK_EVERY).await;
        assert_eq!(lock(&backups.made).len(), 1);
        store.seal();
        tokio::time::sleep(2 * LOOK_EVERY).await;
        assert!(lock(&backups.made).is_empty());
        store.unseal(&key).await.unwrap();
        backups.begin(None).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn s14_a_backup_that_nobody_reads_is_given_up() {
        let (store, _) = store().await;
        let backups = ServedBackups::new(store);
        let name = backups.begin(None).await.unwrap();
        tokio::time::sleep(PATIENCE / 2).await;
        backups.next(name.clone()).await.unwrap();
        tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
        backups.next(name.clone()).await.unwrap();
        tokio::time::sleep(PATIENCE + Duration::from_secs(2)).await;
        assert_eq!(backups.next(name).await, Err(BackupError::Unknown));
        assert!(lock(&backups.made).is_empty());
    }
}
