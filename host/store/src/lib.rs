//! Stores for the components: the host's side of the WIT interface `gatehouse:storage/key-value`.
//!
//! **Guarantees** of every [`Backend`] of this crate, which the conformance suite in `tests/` checks:
//!
//! - A commit that was acknowledged is seen by every later read, and in a durable backend it survives the loss of power. One
//!   that was not acknowledged is there as a whole or not at all. One whose check failed changed nothing.
//! - No call for one [`Namespace`] can see or change what another one holds.
//! - A first start with shares that was cut off anywhere leaves nothing that counts: the store is empty again.
//! - A version is given to one state of one key, once.
//! - An entry whose time has come reads as absent at once, by the clock of the backend; its bytes go some commits later.
//! - A snapshot, and so a [`Backup`], shows what was committed when it was taken, and nothing of later commits.
//! - No call waits for another one's disk access: reads see the last committed state while a commit is under way, and commits
//!   that arrive together share one sync.
//!
//! **Layers.** A component's host functions get a [`PrivateStore`]: one namespace of one backend, and the only place where keys, sizes and
//! counts are checked. Beneath it a [`SealedBackend`] encrypts values by the barrier, and beneath that lies a [`MemoryBackend`], a
//! [`RedbBackend`] or, with the feature `postgresql`, a `PostgresBackend`. All of them are shared by `Arc` and may be used from any number of
//! tasks. The barrier goes up by a root key from a [key file](read_key_file), or by a [`ShareSeal`], which puts the key together from shares
//! that people hold.
//!
//! ```
//! use std::sync::Arc;
//! use gatehouse_ports::{Change, OsRandom, Put, SystemClock};
//! use gatehouse_store::{MemoryBackend, Namespace, PrivateStore, RootKey, SealedBackend};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Arc::new(SystemClock);
//! let sealed = Arc::new(SealedBackend::new(MemoryBackend::new(clock.clone()), clock));
//! sealed.unseal(&RootKey::generate(&OsRandom)?).await?;
//!
//! let store = PrivateStore::new(sealed, Namespace::Access);
//! let put = Change::Put(Put { key: "token/1".into(), value: b"record".to_vec(), expires_at: None });
//! store.commit(vec![], vec![put]).await?;
//! assert_eq!(store.get(&["token/1"]).await?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! **Names on disk.** Keys are stored as they are (SEC-K8). The file of the local backend belongs to the user that runs the host and has mode
//! 0600; a database belongs to its operator, whom the documentation informs of this. A reader of either learns the names of roles, accounts and
//! organizations and the sizes of their records, but nothing of their content.

mod backend;
mod backup;
mod directory;
mod durable;
mod following;
mod generation;
mod init_marker;
mod key_file;
mod keys;
mod layout;
mod memory;
mod namespace;
#[cfg(feature = "postgresql")]
mod postgresql;
mod private_store;
mod roster;
mod rules;
mod seal_orders;
mod sealed;
mod shares;
#[cfg(feature = "spin")]
mod spin;
mod verified_versions;

pub use backend::{Answer, Backend, Guard, SNAPSHOT_PAGE_BYTES, Snapshot, StoredEntry};
pub use backup::{
    Backup, BackupError, Inventory, Manifest, Restoration, RestoredSeal, SealKind, Summary,
    read_manifest, verify_backup,
};
pub use durable::{OpenError, RedbBackend};
pub use gatehouse_barrier::{
    KeyShare, KeyringError, RootKey, RootKeyError, Sharing, SharingError, SplitError, Term,
};
pub use generation::Generation;
pub use key_file::{KeyFileError, create_key_file, read_key_file};
pub use keys::{KeyStatus, RotationPolicy, Tended};
pub use memory::MemoryBackend;
pub use namespace::Namespace;
#[cfg(feature = "postgresql")]
pub use postgresql::{
    Gathering, Migrated, PostgresBackend, PostgresError, PostgresRoster, PostgresSettings, Server,
};
pub use private_store::PrivateStore;
pub use roster::{FORGOTTEN_AFTER, LIVE_FOR, LiveNode, Node, Roll, Roster};
pub use rules::SharedClock;
pub use sealed::{SealedBackend, UnsealError, Unsealed};
pub use shares::{
    BeginError, Ceremony, CeremonyError, Given, Progress, RekeyProgress, ShareError, ShareSeal,
    Verified,
};
#[cfg(all(feature = "postgresql", feature = "spin"))]
pub use spin::{SpinDatabase, SpinDatabaseError};
#[cfg(feature = "spin")]
pub use spin::{SpinError, SpinFiles, SpinForm, SpinPlace, SpinRestoration, SpinStore};
