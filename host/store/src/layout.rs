//! The keys of [`Namespace::Keyring`](crate::Namespace::Keyring), and how its records are put there.

use gatehouse_ports::{Change, Put, StoreError};

/// The data keys, sealed by the root key.
pub(crate) const KEYRING_KEY: &str = "keyring";
/// There only where the root key is split: how many shares there are, and how many of them it takes.
pub(crate) const SEAL_KEY: &str = "seal";
/// The record of the active data key, sealed by that key.
pub(crate) const KEYS_KEY: &str = "keys";
/// How often the store has been counted; absent before the first time.
pub(crate) const GENERATION_KEY: &str = "generation";

/// There for a while after the root key was replaced: the new one, for other hosts that have the store open.
pub(crate) const HANDOVER_KEY: &str = "handover";

/// How often all hosts were ordered to seal themselves, a number of 8 bytes; absent before the first time.
pub(crate) const SEAL_ORDERS_KEY: &str = "seal-orders";

pub(crate) fn put(key: &str, value: Vec<u8>) -> Change {
    Change::Put(Put {
        key: key.to_owned(),
        value,
        expires_at: None,
    })
}

pub(crate) fn unsealable(error: gatehouse_barrier::SealError) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
