//! The root key of a store, from the host's configuration.

use gatehouse_barrier::RootKey;
use gatehouse_ports::StoreError;
use zeroize::Zeroizing;

/// The key that seals the keyring, by what the host tells of its variable `seal_key`. Without one the store is sealed.
///
/// # Errors
///
/// When there is no key, or the text of none.
pub fn root_key(told: Result<Option<Zeroizing<String>>, String>) -> Result<RootKey, StoreError> {
    let text = told.map_err(|why| {
        StoreError::Unavailable(format!(
            "the host did not tell the variable seal_key: {why}"
        ))
    })?;
    let text = text.filter(|text| !text.trim_ascii().is_empty());
    RootKey::from_text(&text.ok_or(StoreError::Sealed)?).map_err(|error| {
        StoreError::Unavailable(format!(
            "the variable seal_key holds no key: {error}; `gatehouse operator seal-key` makes one"
        ))
    })
}
