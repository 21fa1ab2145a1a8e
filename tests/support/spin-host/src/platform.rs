//! Spin's own interfaces beside WASI: key-value stores and variables. Databases are in a module of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatehouse_spin_postgres::Pools;
use gatehouse_spin_sqlite::Databases;
use gatehouse_wasi_key_value::{Bucket, Cas, Error, KeyValue, SwapError};
use tokio::task::block_in_place;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};

use bindings::wasi::config::store as variables;
use bindings::wasi::keyvalue::{atomics, batch, store};

use crate::state::InstanceState;

pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "gatehouse:spin-host/platform",
        imports: { default: async | trappable },
        with: {
            "spin:postgres/postgres.connection": gatehouse_spin_postgres::Connection,
            "spin:sqlite/sqlite.connection": gatehouse_spin_sqlite::Connection,
            "wasi:keyvalue/store.bucket": gatehouse_wasi_key_value::Bucket,
            "wasi:keyvalue/atomics.cas": gatehouse_wasi_key_value::Cas,
        },
    });
}

pub(crate) type Trappable<T> = wasmtime::Result<T>;

/// The state that all instances share.
#[derive(Clone)]
pub struct Platform {
    /// The stores, with the labels that the application declares.
    pub stores: KeyValue,
    /// The databases, with the labels that the application declares.
    pub databases: Databases,
    /// Connections to databases elsewhere.
    pub postgres: Pools,
    /// The variables of the application.
    pub variables: Arc<BTreeMap<String, String>>,
}

/// [`Platform`] as one instance uses it.
pub struct PlatformView<'a> {
    /// The state that all instances share.
    pub platform: &'a Platform,
    /// Where the instance's handles are.
    pub table: &'a mut ResourceTable,
}

struct HasPlatform;

impl HasData for HasPlatform {
    type Data<'a> = PlatformView<'a>;
}

/// Adds stores and variables to `linker`.
///
/// # Errors
///
/// When a name is taken.
pub fn add_to_linker(linker: &mut Linker<InstanceState>) -> wasmtime::Result<()> {
    bindings::Platform::add_to_linker::<_, HasPlatform>(linker, InstanceState::platform)
}

impl store::Host for PlatformView<'_> {
    async fn open(
        &mut self,
        identifier: String,
    ) -> Trappable<Result<Resource<Bucket>, store::Error>> {
        match self.platform.stores.open(&identifier) {
            Ok(bucket) => Ok(Ok(self.table.push(bucket)?)),
            Err(error) => Ok(Err(store_error(error))),
        }
    }
}

impl store::HostBucket for PlatformView<'_> {
    async fn get(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Trappable<Result<Option<Vec<u8>>, store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.get(&key))
    }

    async fn set(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> Trappable<Result<(), store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.set(&key, &value))
    }

    async fn delete(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Trappable<Result<(), store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.delete(&key))
    }

    async fn exists(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Trappable<Result<bool, store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.exists(&key))
    }

    async fn list_keys(
        &mut self,
        bucket: Resource<Bucket>,
        cursor: Option<String>,
    ) -> Trappable<Result<store::KeyResponse, store::Error>> {
        let keys = self.on_bucket(&bucket, |bucket| bucket.list_keys(cursor.as_deref()))?;
        Ok(keys.map(|keys| store::KeyResponse { keys, cursor: None }))
    }

    async fn drop(&mut self, bucket: Resource<Bucket>) -> Trappable<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl batch::Host for PlatformView<'_> {
    async fn get_many(
        &mut self,
        bucket: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Trappable<Result<Vec<(String, Option<Vec<u8>>)>, store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.get_many(&keys))
    }

    async fn set_many(
        &mut self,
        bucket: Resource<Bucket>,
        key_values: Vec<(String, Vec<u8>)>,
    ) -> Trappable<Result<(), store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.set_many(&key_values))
    }

    async fn delete_many(
        &mut self,
        bucket: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Trappable<Result<(), store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.delete_many(&keys))
    }
}

impl atomics::Host for PlatformView<'_> {
    async fn increment(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        delta: i64,
    ) -> Trappable<Result<i64, store::Error>> {
        self.on_bucket(&bucket, |bucket| bucket.increment(&key, delta))
    }

    async fn swap(
        &mut self,
        cas: Resource<Cas>,
        value: Vec<u8>,
    ) -> Trappable<Result<(), atomics::CasError>> {
        let cas = self.table.delete(cas)?;
        let swapped = block_in_place(|| cas.swap(&value));
        self.ensure_proper_use()?;
        Ok(match swapped {
            Ok(()) => Ok(()),
            Err(SwapError::Store(error)) => Err(atomics::CasError::StoreError(store_error(error))),
            Err(SwapError::Failed(next)) => {
                Err(atomics::CasError::CasFailed(self.table.push(next)?))
            }
        })
    }
}

impl atomics::HostCas for PlatformView<'_> {
    async fn new(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Trappable<Result<Resource<Cas>, store::Error>> {
        let cas = self.table.get(&bucket)?.cas(&key);
        Ok(Ok(self.table.push(cas)?))
    }

    async fn current(
        &mut self,
        cas: Resource<Cas>,
    ) -> Trappable<Result<Option<Vec<u8>>, store::Error>> {
        let cas = self.table.get_mut(&cas)?;
        Ok(block_in_place(|| cas.current()).map_err(store_error))
    }

    async fn drop(&mut self, cas: Resource<Cas>) -> Trappable<()> {
        self.table.delete(cas)?;
        Ok(())
    }
}

impl variables::Host for PlatformView<'_> {
    async fn get(&mut self, key: String) -> Trappable<Result<Option<String>, variables::Error>> {
        Ok(Ok(self.platform.variables.get(&key).cloned()))
    }

    async fn get_all(&mut self) -> Trappable<Result<Vec<(String, String)>, variables::Error>> {
        let all = self.platform.variables.iter();
        Ok(Ok(all
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()))
    }
}

impl PlatformView<'_> {
    fn on_bucket<T>(
        &self,
        bucket: &Resource<Bucket>,
        call: impl FnOnce(&Bucket) -> Result<T, Error>,
    ) -> Trappable<Result<T, store::Error>> {
        let bucket = self.table.get(bucket)?;
        let outcome = block_in_place(|| call(bucket));
        self.ensure_proper_use()?;
        Ok(outcome.map_err(store_error))
    }

    /// Fails the request, so that tests notice, after a call that would make Spin panic or would lose stored records.
    fn ensure_proper_use(&self) -> Trappable<()> {
        match self.platform.stores.misuses().first() {
            None => Ok(()),
            Some(misuse) => {
                tracing::error!("the component has misused its store: {misuse:?}");
                Err(wasmtime::format_err!("misuse of the store: {misuse:?}"))
            }
        }
    }
}

fn store_error(error: Error) -> store::Error {
    match error {
        Error::NoSuchStore => store::Error::NoSuchStore,
        Error::AccessDenied => store::Error::AccessDenied,
        Error::Other(why) => store::Error::Other(why),
    }
}
