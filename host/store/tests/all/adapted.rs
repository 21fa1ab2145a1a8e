//! The storage adapter of the components as a backend: one instance for each namespace, as Spin would have it.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::{
    Change, Check, Clock, CommitError, Difference, HeldKey, OsRandom, Page, Store as _, StoreError,
};
use gatehouse_storage_adapter::Adapter;
use gatehouse_store::{Answer, Backend, Namespace};
use gatehouse_wasi_key_value::{AdapterHost, KeyValue};

use crate::subject::root_key;

/// Shows the time of the test, and does not move it while it waits.
struct SharedTime(Arc<ManualClock>);

impl Clock for SharedTime {
    fn now_milliseconds(&self) -> u64 {
        self.0.now_milliseconds()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

pub struct AdaptedBackend {
    adapters: BTreeMap<Namespace, Adapter<AdapterHost, SharedTime, OsRandom>>,
}

impl AdaptedBackend {
    pub fn new(client: KeyValue, clock: Arc<ManualClock>) -> Self {
        let adapter = |namespace: Namespace| {
            let host = AdapterHost::new(client.clone(), &root_key().to_text());
            let clock = SharedTime(clock.clone());
            let adapter = Adapter::new(host, namespace.label(), clock, OsRandom);
            (namespace, adapter)
        };
        Self {
            adapters: Namespace::ALL.into_iter().map(adapter).collect(),
        }
    }
}

impl Backend for AdaptedBackend {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey<'a>],
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
