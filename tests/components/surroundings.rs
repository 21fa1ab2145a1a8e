//! What a component needs to run in a test.

use std::sync::Arc;
use std::time::Duration;

use gatehouse::runtime::engine::{EngineSettings, engine};
use gatehouse::runtime::linker::linker;
use gatehouse::runtime::state::{Grants, InstanceState};
use gatehouse::runtime::storage;
use gatehouse_components::{Flavour, Part, bytes};
use gatehouse_ports::SystemClock;
use gatehouse_store::{MemoryBackend, Namespace, PrivateStore};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};
use wasmtime_wasi_http::{RequestOptions, WasiBody, WasiHttpHooks};

/// An engine, a memory backend, and grants without any network.
pub struct Surroundings {
    pub engine: Engine,
    pub backend: Arc<MemoryBackend>,
    pub grants: Grants,
}

impl Surroundings {
    pub fn new() -> Self {
        Self {
            engine: engine(EngineSettings {
                instances: 8,
                ..EngineSettings::default()
            })
            .unwrap(),
            backend: Arc::new(MemoryBackend::new(Arc::new(SystemClock))),
            grants: Grants {
                environment: Vec::new(),
                outbound: Arc::new(|| Box::new(NoNetwork)),
                memory_limit: 64 << 20,
                // A debug build of the host is slow; what is tested is not the limit.
                cpu_time: Duration::from_secs(60),
            },
        }
    }

    /// A component with a linker that has WASI and, for a capability, its store.
    pub fn load(&self, part: Part, flavour: Flavour) -> (Component, Linker<InstanceState>) {
        let component = Component::new(&self.engine, bytes(part, flavour)).unwrap();
        let mut linker = linker(&self.engine).unwrap();
        if let Some(namespace) = namespace(part) {
            storage::bind(&mut linker, storage::INTERFACE, self.private(namespace)).unwrap();
        }
        (component, linker)
    }

    pub fn store(&self) -> Store<InstanceState> {
        self.grants.store(&self.engine)
    }

    pub fn private(&self, namespace: Namespace) -> PrivateStore {
        PrivateStore::new(self.backend.clone(), namespace)
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
