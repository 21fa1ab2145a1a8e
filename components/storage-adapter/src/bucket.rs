//! The needs of the adapter from its host: one bucket of `wasi:keyvalue`, and one word of configuration.

use gatehouse_ports::StoreError;
use zeroize::Zeroizing;

/// The longest text of a host that is repeated, in bytes.
const MAXIMUM_TEXT_BYTES: usize = 200;

/// Why a bucket did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// The host knows the label and has no store for it.
    #[error("no store stands behind the label")]
    NoSuchStore,
    /// The component may not open the label.
    #[error("the label is not declared for this component")]
    AccessDenied,
    /// Anything else, in the host's words.
    #[error("{0}")]
    Other(String),
}

impl BucketError {
    /// The error for a caller of the store, with a way to mend it.
    #[must_use]
    pub fn at(self, label: &str) -> StoreError {
        StoreError::Unavailable(match self {
            Self::NoSuchStore => format!(
                "no key-value store stands behind the label {label}: declare [key_value_store.{label}] in the runtime \
                 configuration of the host"
            ),
            Self::AccessDenied => format!(
                "the host denies the key-value store {label}: add {label:?} to key_value_stores of the component in the \
                 application's manifest, and let the dependency inherit key_value_stores"
            ),
            Self::Other(mut text) => {
                text.truncate(text.floor_char_boundary(MAXIMUM_TEXT_BYTES));
                format!("the host's key-value store failed: {text}")
            }
        })
    }
}

/// A bucket, in those functions of `wasi:keyvalue` 0.2.0-draft2 that mean the same on every host.
pub trait Bucket {
    /// A compare-and-swap under way.
    type Swap;

    /// The value under `key`.
    ///
    /// # Errors
    ///
    /// When the host fails.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError>;

    /// Stores all pairs. Returns when they are stored; after an error, any of them may be.
    ///
    /// # Errors
    ///
    /// When the host fails.
    fn set_many(&self, pairs: Vec<(String, Vec<u8>)>) -> Result<(), BucketError>;

    /// Removes what is under `keys`.
    ///
    /// # Errors
    ///
    /// When the host fails.
    fn delete_many(&self, keys: Vec<String>) -> Result<(), BucketError>;

    /// Adds `delta` to the number under `key`, which is 0 where there is none.
    ///
    /// # Errors
    ///
    /// When the host fails.
    fn increment(&self, key: &str, delta: i64) -> Result<i64, BucketError>;

    /// The value under `key` now, and a swap that is possible as long as that stays so.
    ///
    /// # Errors
    ///
    /// When the host fails.
    fn current(&self, key: &str) -> Result<(Self::Swap, Option<Vec<u8>>), BucketError>;

    /// Stores `value` if nothing has changed since [`Self::current`]; whether it did. Only for a record that was there then: a host may
    /// overwrite unasked what came into being since.
    ///
    /// # Errors
    ///
    /// When the host fails; whether the value was stored is then unknown.
    fn swap(&self, swap: Self::Swap, value: &[u8]) -> Result<bool, BucketError>;
}

/// Where buckets and configuration come from.
pub trait Host {
    /// A bucket of this host.
    type Bucket: Bucket;

    /// Opens the bucket behind `label`.
    ///
    /// # Errors
    ///
    /// When there is none, or it is denied.
    fn open(&self, label: &str) -> Result<Self::Bucket, BucketError>;

    /// The text of the key that seals the store; `None` where the host has none.
    ///
    /// # Errors
    ///
    /// When the host fails, in its words.
    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String>;
}
