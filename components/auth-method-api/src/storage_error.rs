//! Failures of the store.

use gatehouse_ports::StoreError;

/// Why the records of a mount could not be read or written. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// No operator has unsealed the store yet. Worth trying again after an unseal.
    #[error("the store is sealed")]
    Sealed,
    /// The store cannot be reached, is full, or failed; worth trying again. The text is for the operator's log, without keys and values.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A record cannot be used; trying again does not help. It holds what is wrong, which the text keeps to itself.
    #[error("a stored record is damaged")]
    Damaged(String),
    /// Other writers changed the same records in every attempt; holds the number of attempts. Worth trying again.
    #[error("other writers changed the same records {0} times in a row")]
    Contended(u32),
}

impl From<gatehouse_storage::StorageError> for StorageError {
    fn from(error: gatehouse_storage::StorageError) -> Self {
        use gatehouse_storage::StorageError as Failed;
        match error {
            Failed::Store(StoreError::Sealed) => Self::Sealed,
            Failed::Store(StoreError::Unavailable(why)) => Self::Unavailable(why),
            Failed::Contended(attempts) => Self::Contended(attempts),
            Failed::Store(StoreError::Corrupt(_) | StoreError::Invalid(_))
            | Failed::NewerSchema { .. }
            | Failed::Malformed => Self::Damaged(error.to_string()),
        }
    }
}

impl From<StoreError> for StorageError {
    fn from(error: StoreError) -> Self {
        gatehouse_storage::StorageError::from(error).into()
    }
}

/// Lets `?` carry what the store fails with into the errors that wrap a [`StorageError`].
macro_rules! wraps_storage_error {
    ($($error:ty),* $(,)?) => {$(
        impl From<gatehouse_storage::StorageError> for $error {
            fn from(error: gatehouse_storage::StorageError) -> Self {
                $crate::StorageError::from(error).into()
            }
        }
    )*};
}

pub(crate) use wraps_storage_error;

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_storage::StorageError as Failed;

    #[test]
    fn what_is_wrong_with_a_record_is_kept_and_not_shown() {
        let damaged = [
            (
                StoreError::Corrupt("m1/config".to_owned()).into(),
                "a stored record is damaged",
            ),
            (
                StoreError::Invalid("no such key".to_owned()).into(),
                "the store was asked wrongly: no such key",
            ),
            (Failed::Malformed, "a stored record is malformed"),
            (
                Failed::NewerSchema { found: 2, known: 1 },
                "a record has schema 2, and this version knows schemas up to 1",
            ),
        ];
        for (failed, kept) in damaged {
            let error = StorageError::from(failed);
            assert_eq!(error, StorageError::Damaged(kept.to_owned()));
            assert_eq!(error.to_string(), "a stored record is damaged");
        }
    }

    #[test]
    fn other_failures_say_what_the_store_says() {
        for failed in [
            Failed::from(StoreError::Sealed),
            StoreError::Unavailable("disk full".to_owned()).into(),
            Failed::Contended(7),
        ] {
            let text = failed.to_string();
            assert_eq!(StorageError::from(failed).to_string(), text);
        }
    }
}
