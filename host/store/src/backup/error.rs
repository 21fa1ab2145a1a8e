//! Why there is no backup, or a backup is not taken.

use std::io;

use gatehouse_barrier::KeyringError;
use gatehouse_ports::{RandomError, StoreError};

use super::format::FORMAT;
use crate::UnsealError;

/// Why a backup was not made, does not verify, or was not restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file cannot be read.
    #[error("the backup cannot be read: {0}")]
    Unreadable(io::Error),
    /// It is some other file.
    #[error(
        "this is no backup of Gatehouse; name a file that `gatehouse operator backup` or sys/backup wrote"
    )]
    NotABackup,
    /// A newer version of this software made it.
    #[error(
        "the backup has format {found}, and this version knows format {FORMAT}; use the version that made it, or a newer one"
    )]
    NewerFormat {
        /// The number in the file.
        found: u16,
    },
    /// It names a part of a store that this version does not have.
    #[error(
        "the backup holds records of a part that this version does not know; use the version that made it, or a newer one"
    )]
    UnknownNamespace,
    /// It ends too early.
    #[error("the backup is cut off: it ends after {at} bytes, in the middle; copy it again")]
    CutOff {
        /// How many bytes there are.
        at: u64,
    },
    /// Its bytes are not those of a backup.
    #[error("the backup is damaged {at} bytes from its beginning: {reason}; copy it again")]
    Damaged {
        /// Bytes before the damage was noticed.
        at: u64,
        /// The fault.
        reason: &'static str,
    },
    /// Its bytes are not those that were written.
    #[error("the backup was altered: it does not have the digest that it names; copy it again")]
    Altered,
    /// The root key does not open it.
    #[error(
        "the backup is sealed by another key; name the key that its store had when it was made"
    )]
    WrongKey,
    /// The root key opens it and did not make it.
    #[error(
        "the backup was not made by who holds the key of its store, or was altered since; do not restore it"
    )]
    Forged,
    /// A record does not open by the keyring of the backup.
    #[error(
        "the backup holds a record that its own key does not open: the store was altered before it was made; restore an older one"
    )]
    Unopenable,
    /// It became another file while it was read.
    #[error(
        "the backup was changed while it was being restored; begin again with a file that no program writes to"
    )]
    Changed,
    /// Its keyring is of no use.
    #[error(transparent)]
    Keyring(KeyringError),
    /// There is nothing in the store that a backup could be made of.
    #[error("the store is empty: it has not been initialized")]
    Empty,
    /// A first start or a restore is under way, or was given up.
    #[error(
        "the first start of the store, or a restore into it, is not finished: there is nothing whole to back up"
    )]
    Unfinished,
    /// The root key was changed, and not by this server.
    #[error("the key of the store was changed at the same time; try again")]
    KeyChanged,
    /// There are records in the store already.
    #[error(
        "the store is not empty: a backup is restored into an empty one only; move its file away or name another database"
    )]
    NotEmpty,
    /// The store has given nearly all versions that there are.
    #[error("the versions of records are used up")]
    VersionsUsedUp,
    /// Another program writes to the store.
    #[error(
        "the store was changed by others while it was being restored; stop all servers that use it and begin again"
    )]
    Contended,
    /// The new seal could not be made.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// There is no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<KeyringError> for BackupError {
    fn from(error: KeyringError) -> Self {
        match error {
            KeyringError::WrongRootKey => Self::WrongKey,
            other => Self::Keyring(other),
        }
    }
}
