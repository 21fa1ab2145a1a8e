//! The surroundings of one instance of the adapter.

use std::sync::{Arc, Mutex, PoisonError};

use gatehouse_barrier::RootKey;
use gatehouse_ports::StoreError;

use crate::bucket::{BucketError, Host};
use crate::seal_key;

/// The host, the label of the store there, and the clock and the randomness of the instance.
pub struct Surroundings<H: Host, C, R> {
    host: H,
    pub label: String,
    pub clock: C,
    pub random: R,
    opened: Mutex<Option<Arc<H::Bucket>>>,
}

impl<H: Host, C, R> Surroundings<H, C, R> {
    pub fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self {
            host,
            label: label.to_owned(),
            clock,
            random,
            opened: Mutex::new(None),
        }
    }

    /// The bucket, which stays open as long as the instance lives.
    pub fn bucket(&self) -> Result<Arc<H::Bucket>, StoreError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = &*opened {
            return Ok(bucket.clone());
        }
        let bucket = self.host.open(&self.label);
        let bucket = Arc::new(bucket.map_err(|error| self.failed(error))?);
        *opened = Some(bucket.clone());
        Ok(bucket)
    }

    /// The key that seals the keyring. Without one the store is sealed.
    pub fn root_key(&self) -> Result<RootKey, StoreError> {
        seal_key::root_key(self.host.seal_key())
    }

    /// The error for a caller when the bucket failed.
    pub fn failed(&self, error: BucketError) -> StoreError {
        error.at(&self.label)
    }
}
