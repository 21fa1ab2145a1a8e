//! The double as a host of the storage adapter.

use gatehouse_storage_adapter as adapter;
use gatehouse_storage_adapter::BucketError;
use zeroize::Zeroizing;

use crate::{Bucket, Cas, Error, KeyValue, SwapError};

/// A client of the stores, and the variable `seal_key`.
#[derive(Clone)]
pub struct AdapterHost {
    client: KeyValue,
    seal_key: Result<Option<String>, String>,
}

impl AdapterHost {
    /// A host whose variable has this text.
    #[must_use]
    pub fn new(client: KeyValue, seal_key: &str) -> Self {
        Self::answering(client, Ok(Some(seal_key.to_owned())))
    }

    /// A host that answers like this when it is asked for the variable.
    #[must_use]
    pub const fn answering(client: KeyValue, seal_key: Result<Option<String>, String>) -> Self {
        Self { client, seal_key }
    }
}

impl adapter::Host for AdapterHost {
    type Bucket = Bucket;

    fn open(&self, label: &str) -> Result<Bucket, BucketError> {
        self.client.open(label).map_err(error)
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(self.seal_key.clone()?.map(Zeroizing::new))
    }
}

impl adapter::Bucket for Bucket {
    type Swap = Cas;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        Self::get(self, key).map_err(error)
    }

    fn set_many(&self, pairs: Vec<(String, Vec<u8>)>) -> Result<(), BucketError> {
        Self::set_many(self, &pairs).map_err(error)
    }

    fn delete_many(&self, keys: Vec<String>) -> Result<(), BucketError> {
        Self::delete_many(self, &keys).map_err(error)
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, BucketError> {
        Self::increment(self, key, delta).map_err(error)
    }

    fn current(&self, key: &str) -> Result<(Cas, Option<Vec<u8>>), BucketError> {
        let mut cas = self.cas(key);
        let found = cas.current().map_err(error)?;
        Ok((cas, found))
    }

    fn swap(&self, swap: Cas, value: &[u8]) -> Result<bool, BucketError> {
        match swap.swap(value) {
            Ok(()) => Ok(true),
            Err(SwapError::Failed(_)) => Ok(false),
            Err(SwapError::Store(failure)) => Err(error(failure)),
        }
    }
}

fn error(from: Error) -> BucketError {
    match from {
        Error::NoSuchStore => BucketError::NoSuchStore,
        Error::AccessDenied => BucketError::AccessDenied,
        Error::Other(text) => BucketError::Other(text),
    }
}
