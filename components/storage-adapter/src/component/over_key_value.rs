//! A bucket of `wasi:keyvalue` below the adapter.

use gatehouse_ports::{OsRandom, SystemClock};
use zeroize::Zeroizing;

use crate::{Adapter, Bucket, BucketError, Host};

bindings!("gatehouse:storage-adapter/adapter");

use bindings::wasi::config::store as config;
use bindings::wasi::keyvalue::{atomics, batch, store};

/// The adapter of an instance.
pub type Kept = Adapter<WasiHost, SystemClock, OsRandom>;

/// The adapter for the bucket behind `label`.
pub fn adapter(label: &str) -> Kept {
    Adapter::new(WasiHost, label, SystemClock, OsRandom)
}

pub struct WasiHost;

impl Host for WasiHost {
    type Bucket = store::Bucket;

    fn open(&self, label: &str) -> Result<store::Bucket, BucketError> {
        store::open(label).map_err(bucket_error)
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        let text = config::get("seal_key").map_err(|error| match error {
            config::Error::Upstream(why) | config::Error::Io(why) => why,
        })?;
        Ok(text.map(Zeroizing::new))
    }
}

impl Bucket for store::Bucket {
    type Swap = atomics::Cas;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        Self::get(self, key).map_err(bucket_error)
    }

    fn set_many(&self, pairs: Vec<(String, Vec<u8>)>) -> Result<(), BucketError> {
        batch::set_many(self, &pairs).map_err(bucket_error)
    }

    fn delete_many(&self, keys: Vec<String>) -> Result<(), BucketError> {
        batch::delete_many(self, &keys).map_err(bucket_error)
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, BucketError> {
        atomics::increment(self, key, delta).map_err(bucket_error)
    }

    fn current(&self, key: &str) -> Result<(atomics::Cas, Option<Vec<u8>>), BucketError> {
        let cas = atomics::Cas::new(self, key).map_err(bucket_error)?;
        let found = cas.current().map_err(bucket_error)?;
        Ok((cas, found))
    }

    fn swap(&self, swap: atomics::Cas, value: &[u8]) -> Result<bool, BucketError> {
        match atomics::swap(swap, value) {
            Ok(()) => Ok(true),
            Err(atomics::CasError::CasFailed(_)) => Ok(false),
            Err(atomics::CasError::StoreError(error)) => Err(bucket_error(error)),
        }
    }
}

fn bucket_error(from: store::Error) -> BucketError {
    match from {
        store::Error::NoSuchStore => BucketError::NoSuchStore,
        store::Error::AccessDenied => BucketError::AccessDenied,
        store::Error::Other(text) => BucketError::Other(text),
    }
}
