//! The imports that a component needs to run in a test.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use gatehouse::runtime::cache::{self, SharedCache};
use gatehouse::runtime::linker::linker;
use gatehouse::runtime::services::{self, Services};
use gatehouse::runtime::state::{Grants, InstanceState};
use gatehouse::runtime::storage;
use gatehouse_components::{Flavour, Part, bytes};
use gatehouse_engine::{EngineSettings, engine};
use gatehouse_ports::SystemClock;
use gatehouse_store::{MemoryBackend, Namespace, PrivateStore, SharedClock};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};
use wasmtime_wasi_http::{RequestOptions, WasiBody, WasiHttpHooks};

use crate::faulty_backend::FaultyBackend;

/// One engine for all tests, so that a component is compiled once.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| engine(EngineSettings::default()).unwrap());

/// The component, compiled by the first test that asks for it.
fn compiled(part: Part, flavour: Flavour) -> Component {
    static COMPILED: LazyLock<Mutex<HashMap<(Part, Flavour), Component>>> =
        LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap();
    let component = compiled.entry((part, flavour));
    component
        .or_insert_with(|| Component::new(&ENGINE, bytes(part, flavour).unwrap()).unwrap())
        .clone()
}

/// An engine, a memory backend, and grants without any network.
pub struct Surroundings {
    pub engine: Engine,
    backend: Arc<FaultyBackend>,
    pub grants: Grants,
}

impl Surroundings {
    pub fn new() -> Self {
        Self::at(Arc::new(SystemClock))
    }

    /// The same where components are told this time. The store has that of the system.
    pub fn at(clock: SharedClock) -> Self {
        Self {
            engine: ENGINE.clone(),
            backend: FaultyBackend::new(MemoryBackend::new(Arc::new(SystemClock))),
            grants: Grants {
                environment: Vec::new(),
                outbound: Arc::new(|| Box::new(NoNetwork)),
                clock,
                memory_limit: 64 << 20,
                // A debug build of the host is slow; what is tested is not the limit.
                cpu_time: Duration::from_secs(60),
            },
        }
    }

    /// A component with a linker that has WASI, a host without services and, for a capability, its store and a cache.
    pub fn load(&self, part: Part, flavour: Flavour) -> (Component, Linker<InstanceState>) {
        let component = compiled(part, flavour);
        let mut linker = linker(&self.engine).unwrap();
        services::bind(&mut linker, &Services::default()).unwrap();
        if let Some(namespace) = namespace(part) {
            storage::bind(&mut linker, storage::INTERFACE, self.private(namespace)).unwrap();
            let shared = SharedCache::new(Arc::new(SystemClock));
            cache::bind(&mut linker, cache::INTERFACE, shared).unwrap();
        }
        (component, linker)
    }

    /// A store for one instance.
    pub fn store(&self) -> Store<InstanceState> {
        self.grants.store(&self.engine)
    }

    pub fn private(&self, namespace: Namespace) -> PrivateStore {
        PrivateStore::new(self.backend.clone(), namespace)
    }

    /// The backend, to be told what to do wrong.
    pub fn faults(&self) -> &FaultyBackend {
        &self.backend
    }

    /// The entries stored for one capability, in the order of keys.
    pub async fn entries(&self, namespace: Namespace) -> Vec<(String, Vec<u8>)> {
        let page = self.private(namespace).scan("", None, 1000).await.unwrap();
        assert!(!page.more, "more than one page");
        page.items
            .into_iter()
            .map(|item| (item.key, item.entry.value))
            .collect()
    }

    /// The keys of [`Self::entries`].
    pub async fn keys(&self, namespace: Namespace) -> Vec<String> {
        self.entries(namespace)
            .await
            .into_iter()
            .map(|(key, _)| key)
            .collect()
    }
}

const fn namespace(part: Part) -> Option<Namespace> {
    match part {
        Part::AuthMethod => Some(Namespace::AuthMethod),
        Part::Access => Some(Namespace::Access),
        Part::Orgs => Some(Namespace::Orgs),
        Part::Gateway | Part::Composed => None,
    }
}

/// Refuses every outgoing request.
pub struct NoNetwork;

type Outcome<T> = Result<T, wasmtime_wasi_http::Error>;
type Sent = (
    http::Response<WasiBody>,
    Box<dyn Future<Output = Outcome<()>> + Send>,
);

impl WasiHttpHooks for NoNetwork {
    fn send_request(
        &mut self,
        _request: http::Request<WasiBody>,
        _options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Outcome<()>> + Send>,
    ) -> Box<dyn Future<Output = Outcome<Sent>> + Send> {
        Box::new(async { Err(wasmtime_wasi_http::Error::HttpRequestDenied) })
    }
}
