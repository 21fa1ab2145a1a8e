//! The storage adapters of the components as backends: one instance for each namespace, as Spin would have it.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use gatehouse_ports::doubles::{ManualClock, SharedTime};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, HeldKey, OsRandom, Page, Store, StoreError,
};
use gatehouse_spin_postgres::Pools;
use gatehouse_spin_sqlite::Databases;
use gatehouse_storage_adapter::Adapter;
use gatehouse_storage_adapter::postgres::PostgresAdapter;
use gatehouse_storage_adapter::sqlite::SqliteAdapter;
use gatehouse_store::{Answer, Backend, Namespace};
use gatehouse_wasi_key_value::{AdapterHost, KeyValue};

use crate::subject::root_key;

pub struct AdaptedBackend<A> {
    adapters: BTreeMap<Namespace, A>,
}

impl AdaptedBackend<Adapter<AdapterHost, SharedTime, OsRandom>> {
    /// Over stores of `wasi:keyvalue`.
    pub fn over_key_value(client: &KeyValue, clock: &Arc<ManualClock>) -> Self {
        Self::new(|namespace| {
            let host = AdapterHost::new(client.clone(), &root_key().to_text());
            let clock = SharedTime(clock.clone());
            Adapter::new(host, namespace.label(), clock, OsRandom)
        })
    }
}

impl AdaptedBackend<SqliteAdapter<gatehouse_spin_sqlite::AdapterHost, SharedTime, OsRandom>> {
    /// Over databases of `spin:sqlite`.
    pub fn over_sqlite(client: &Databases, clock: &Arc<ManualClock>) -> Self {
        Self::new(|namespace| {
            let key = root_key().to_text();
            let host = gatehouse_spin_sqlite::AdapterHost::new(client.clone(), &key);
            let clock = SharedTime(clock.clone());
            SqliteAdapter::new(host, namespace.label(), clock, OsRandom)
        })
    }
}

impl AdaptedBackend<PostgresAdapter<gatehouse_spin_postgres::AdapterHost, SharedTime, OsRandom>> {
    /// Over one database of `spin:postgres`.
    pub fn over_postgres(address: &str, clock: &Arc<ManualClock>) -> Self {
        let pools = Pools::default();
        Self::new(|namespace| {
            let (pools, key) = (pools.clone(), root_key().to_text());
            let host = gatehouse_spin_postgres::AdapterHost::new(pools, Some(address), &key);
            let clock = SharedTime(clock.clone());
            PostgresAdapter::new(host, namespace.label(), clock, OsRandom)
        })
    }
}

impl<A> AdaptedBackend<A> {
    fn new(adapter: impl Fn(Namespace) -> A) -> Self {
        let adapters = Namespace::ALL.into_iter();
        Self {
            adapters: adapters
                .map(|namespace| (namespace, adapter(namespace)))
                .collect(),
        }
    }
}

impl<A: Store + Send + Sync + 'static> Backend for AdaptedBackend<A> {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(ready(self.adapters[&namespace].get_changed(keys)))
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(ready(self.adapters[&namespace].scan(prefix, after, limit)))
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(ready(self.adapters[&namespace].commit(checks, changes)))
    }
}
