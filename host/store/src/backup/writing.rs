//! Making a backup.

use gatehouse_barrier::{Keyring, RootKey};
use gatehouse_ports::{OsRandom, StoreError};
use sha2::{Digest as _, Sha256};

use super::format::{Inventory, Kind, Manifest, SealKind, Summary, frame, mark, records};
use super::under_way::UNDER_WAY_KEY;
use super::{BackupError, NAMESPACES, PURPOSE};
use crate::layout::{KEYRING_KEY, SEAL_KEY};
use crate::shares::SealRecord;
use crate::{Backend, Namespace, SealedBackend, Snapshot, init_marker};

/// A backup that is being made: the content of a store as it was when this was begun, part by part.
///
/// It holds one part in memory, a mebibyte or two, and the root key, which is wiped with it. The file that the parts are written to is
/// complete only when [`Self::next`] has answered `None`.
pub struct Backup {
    snapshot: Box<dyn Snapshot>,
    root_key: RootKey,
    manifest: Manifest,
    records: Vec<u64>,
    digest: Sha256,
    bytes: u64,
    next: Next,
    inventory: Option<Inventory>,
}

/// The part that comes next.
enum Next {
    Manifest,
    /// Records of the namespace at this place, from behind a key.
    Records {
        place: usize,
        after: Option<String>,
    },
    Seal(Summary),
    Nothing,
}

impl Backup {
    /// Begins a backup of what `backend` holds now, which is below a barrier. `now` is in milliseconds since 1970, and `installation` the
    /// identity that the manifest is to name.
    ///
    /// # Errors
    ///
    /// When the backend is empty or in the middle of a first start or a restore, `root_key` does not seal its keyring, or it does not answer.
    pub async fn begin(
        backend: &impl Backend,
        root_key: RootKey,
        installation: Option<String>,
        now: u64,
    ) -> Result<Self, BackupError> {
        Self::begin_from(backend.snapshot().await?, root_key, installation, now).await
    }

    /// Begins a backup of what `snapshot` shows, as [`Self::begin`] does.
    pub(crate) async fn begin_from(
        mut snapshot: Box<dyn Snapshot>,
        root_key: RootKey,
        installation: Option<String>,
        now: u64,
    ) -> Result<Self, BackupError> {
        let seal = check_keyring(snapshot.as_mut(), &root_key).await?;
        let manifest = Manifest {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: now,
            installation,
            seal,
            namespaces: NAMESPACES
                .map(|namespace| namespace.label().to_owned())
                .to_vec(),
        };
        Ok(Self {
            snapshot,
            root_key,
            manifest,
            records: vec![0; NAMESPACES.len()],
            digest: Sha256::new(),
            bytes: 0,
            next: Next::Manifest,
            inventory: None,
        })
    }

    /// The next bytes of the file; `None` once it is complete.
    ///
    /// # Errors
    ///
    /// When the backend does not answer any more, or holds what no store does. The file is to be thrown away then.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, BackupError> {
        let part = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Nothing if self.inventory.is_none() => {
                let text = "the backup has failed before".to_owned();
                return Err(StoreError::Unavailable(text).into());
            }
            Next::Nothing => return Ok(None),
            Next::Manifest => {
                self.next = Next::Records {
                    place: 0,
                    after: None,
                };
                let manifest = json(Kind::Manifest, &self.manifest)?;
                [mark(), manifest].concat()
            }
            Next::Records { place, after } => match self.read(place, after).await? {
                Some(part) => part,
                None => self.summarize()?,
            },
            Next::Seal(summary) => self.seal(summary)?,
        };
        self.digest.update(&part);
        self.bytes = self.bytes.saturating_add(length(&part));
        if let Some(inventory) = &mut self.inventory {
            inventory.bytes = self.bytes;
        }
        Ok(Some(part))
    }

    /// How many records there have been so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records.iter().copied().fold(0, u64::saturating_add)
    }

    /// How many bytes there have been so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The inventory; `None` before the backup is complete.
    #[must_use]
    pub const fn inventory(&self) -> Option<&Inventory> {
        self.inventory.as_ref()
    }

    /// A frame of records, from this place on; `None` where there are no more.
    async fn read(
        &mut self,
        mut place: usize,
        mut after: Option<String>,
    ) -> Result<Option<Vec<u8>>, BackupError> {
        while let (Some(namespace), Some(count)) =
            (NAMESPACES.get(place), self.records.get_mut(place))
        {
            let page = self.snapshot.page(*namespace, after.as_deref()).await?;
            let Some(last) = page.last() else {
                place += 1;
                after = None;
                continue;
            };
            *count = count.saturating_add(length(&page));
            let number = u8::try_from(place).unwrap_or(u8::MAX);
            let content = records(number, &page).ok_or_else(unstorable)?;
            self.next = Next::Records {
                place,
                after: Some(last.key.clone()),
            };
            return frame(Kind::Records, &content)
                .ok_or_else(unstorable)
                .map(Some);
        }
        Ok(None)
    }

    fn summarize(&mut self) -> Result<Vec<u8>, BackupError> {
        let summary = Summary {
            records: self.records.clone(),
            last_version: self.snapshot.last_version(),
        };
        let part = json(Kind::Summary, &summary)?;
        self.next = Next::Seal(summary);
        Ok(part)
    }

    fn seal(&mut self, summary: Summary) -> Result<Vec<u8>, BackupError> {
        let digest: [u8; 32] = self.digest.clone().finalize().into();
        let attestation = self.root_key.attest(PURPOSE, &digest, &OsRandom)?;
        let content = [&digest[..], &attestation].concat();
        self.inventory = Some(Inventory {
            manifest: self.manifest.clone(),
            summary,
            bytes: 0,
            digest,
        });
        frame(Kind::Seal, &content).ok_or_else(unstorable)
    }
}

impl<B: Backend> SealedBackend<B> {
    /// Begins a backup of this open store. Requests go on meanwhile; what they change from now on is not in it.
    ///
    /// # Errors
    ///
    /// When the store is sealed, or as [`Backup::begin`].
    pub async fn begin_backup(&self, installation: Option<String>) -> Result<Backup, BackupError> {
        // Until the snapshot is taken, so that its keyring is sealed by the key that attests it.
        let _working = self.key_work.lock().await;
        let root_key = self.held_root_key()?;
        let now = self.clock.now_milliseconds();
        let begun = Backup::begin(self.backend(), root_key, installation, now).await;
        begun.map_err(|error| match error {
            BackupError::WrongKey => BackupError::KeyChanged,
            other => other,
        })
    }
}

/// Makes sure that there is something whole to be backed up and that the key belongs to it. Says how the key is kept.
async fn check_keyring(
    snapshot: &mut dyn Snapshot,
    root_key: &RootKey,
) -> Result<SealKind, BackupError> {
    let (mut keyring, mut seal) = (None, SealKind::KeyFile);
    let mut after: Option<String> = None;
    loop {
        let page = snapshot.page(Namespace::Keyring, after.as_deref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        for entry in page {
            match entry.key.as_str() {
                KEYRING_KEY => keyring = Some(Keyring::open(root_key, &entry.value)?),
                SEAL_KEY => {
                    let record = SealRecord::read(&entry.value);
                    let sharing = record.ok_or_else(unstorable)?.sharing;
                    seal = SealKind::Shares {
                        shares: sharing.shares(),
                        threshold: sharing.threshold(),
                    };
                }
                UNDER_WAY_KEY => return Err(BackupError::Unfinished),
                key if key == init_marker::mark_key() => return Err(BackupError::Unfinished),
                _ => {}
            }
        }
    }
    match keyring {
        Some(_) => Ok(seal),
        None => Err(BackupError::Empty),
    }
}

fn json(kind: Kind, said: &impl serde::Serialize) -> Result<Vec<u8>, BackupError> {
    let content = serde_json::to_vec(said).ok();
    let part = content.and_then(|content| frame(kind, &content));
    part.ok_or_else(unstorable)
}

fn length<T>(of: &[T]) -> u64 {
    u64::try_from(of.len()).unwrap_or(u64::MAX)
}

/// The backend holds something that no store puts there.
fn unstorable() -> BackupError {
    let text = "it holds a record that no store holds".to_owned();
    StoreError::Unavailable(text).into()
}
