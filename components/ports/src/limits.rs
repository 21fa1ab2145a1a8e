//! Limits on requests to a store, as the WIT interface has them.
//!
//! Messages name limits and positions, never keys or values: they end up in logs.

use std::collections::HashSet;

use crate::{
    Change, Check, MAXIMUM_KEY_BYTES, MAXIMUM_KEYS_PER_CALL, MAXIMUM_SCAN_LIMIT,
    MAXIMUM_VALUE_BYTES, Put, StoreError,
};

fn invalid(message: impl Into<String>) -> StoreError {
    StoreError::Invalid(message.into())
}

fn check_count(what: &str, count: usize) -> Result<(), StoreError> {
    if count > MAXIMUM_KEYS_PER_CALL {
        return Err(invalid(format!(
            "{count} {what} in one call; at most {MAXIMUM_KEYS_PER_CALL} are allowed"
        )));
    }
    Ok(())
}

/// Checks a part of a key, which may be empty.
fn check_part(what: &str, text: &str) -> Result<(), StoreError> {
    if text.len() > MAXIMUM_KEY_BYTES {
        return Err(invalid(format!(
            "a {what} of {} bytes; at most {MAXIMUM_KEY_BYTES} are allowed",
            text.len()
        )));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid(format!(
            "a {what} with a character outside printable ASCII"
        )));
    }
    Ok(())
}

fn check_key(key: &str) -> Result<(), StoreError> {
    if key.is_empty() {
        return Err(invalid("an empty key"));
    }
    check_part("key", key)
}

/// Checks the arguments of a `get` or `get-changed`.
///
/// # Errors
///
/// [`StoreError::Invalid`] when there are too many keys, or one that is malformed.
pub fn check_get<'a>(mut keys: impl ExactSizeIterator<Item = &'a str>) -> Result<(), StoreError> {
    check_count("keys", keys.len())?;
    keys.try_for_each(check_key)
}

/// Checks the arguments of a `scan`.
///
/// # Errors
///
/// [`StoreError::Invalid`] when the limit is out of range, or a text can be no part of a key.
pub fn check_scan(prefix: &str, after: Option<&str>, limit: u32) -> Result<(), StoreError> {
    if !(1..=MAXIMUM_SCAN_LIMIT).contains(&limit) {
        return Err(invalid(format!(
            "a scan limit of {limit}; it must be from 1 to {MAXIMUM_SCAN_LIMIT}"
        )));
    }
    check_part("prefix", prefix)?;
    after.map_or(Ok(()), |after| check_part("key to go on after", after))
}

/// Checks the arguments of a `commit`.
///
/// # Errors
///
/// [`StoreError::Invalid`] when there are too many checks or changes, a key is malformed or changed twice, or a value is too large.
pub fn check_commit(checks: &[Check], changes: &[Change]) -> Result<(), StoreError> {
    check_count("checks", checks.len())?;
    check_count("changes", changes.len())?;
    for check in checks {
        check_key(&check.key)?;
    }
    let mut changed = HashSet::with_capacity(changes.len());
    for change in changes {
        check_key(change.key())?;
        if !changed.insert(change.key()) {
            return Err(invalid("a key that is changed twice in one commit"));
        }
        if let Change::Put(Put { value, .. }) = change
            && value.len() > MAXIMUM_VALUE_BYTES
        {
            return Err(invalid(format!(
                "a value of {} bytes; at most {MAXIMUM_VALUE_BYTES} are allowed",
                value.len()
            )));
        }
    }
    Ok(())
}
