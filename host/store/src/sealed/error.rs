//! Why a store stays sealed.

use gatehouse_barrier::KeyringError;
use gatehouse_ports::StoreError;

/// Why the store stays sealed, or why its keyring was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// The keyring does not open, or no key could be made.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// There are records and nothing that opens them; a new keyring would only hide that.
    #[error(
        "the store holds records and no keyring; restore the keyring, or start with an empty store"
    )]
    KeyringMissing,
    /// There is no keyring to be changed: the store was never unsealed.
    #[error("the store has no keyring yet")]
    NoKeyring,
    /// The key of the store is not in a file.
    #[error("the key of this store is split into shares; unseal it with those")]
    SharesNeeded,
    /// The key of the store was never split.
    #[error(
        "the key of this store is in a key file, and it has no shares; unseal it with that file"
    )]
    KeyFileNeeded,
    /// The record of the store about its shares is not the one that was stored with the keyring.
    #[error("what the store says about its seal was altered, or is of a newer version")]
    AlteredSeal,
    /// The first start is still under way.
    #[error("the first start of the store is not finished")]
    Unfinished,
    /// A backup has been put into the store in part.
    #[error(
        "a restore into this store was not finished; run `gatehouse operator restore` again, which begins anew"
    )]
    RestoreUnfinished,
    /// Other hosts kept changing the keyring.
    #[error("the keyring was changed by others at the same time; try again")]
    Contended,
    /// The backend did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}
