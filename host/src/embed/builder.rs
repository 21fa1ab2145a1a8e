//! The builder of an embedded auth method.

use std::borrow::Cow;
use std::sync::Arc;

use gatehouse_components::{Flavour, Part, SERVED};
use gatehouse_ports::{Cache, Http, Store, SystemClock};
use gatehouse_store::{Namespace, PrivateStore, SharedClock};
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use super::auth_method::AuthMethod;
use super::bindings::EmbeddedPre;
use super::calls::{Calls, Timers};
use super::limits::Limits;
use super::outbound::EmbeddersHttp;
use super::storage::EmbeddersStore;
use crate::runtime::cache::{self, SharedCache};
use crate::runtime::code_cache::CodeCache;
use crate::runtime::instances::Idle;
use crate::runtime::linker::{MissingImports, ensure_imports_are_met, linker};
use crate::runtime::state::{Grants, InstanceState, OutboundFactory};
use crate::runtime::storage;
use gatehouse_engine::{EngineSettings, engine};

/// Why there is no auth method.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The machine gives no memory for instances, or no thread.
    #[error("the engine cannot start, lower Limits::instances or Limits::memory: {0:#}")]
    Engine(anyhow::Error),
    /// The bytes are no component that this engine can run.
    #[error("not a component that can be run here: {0:#}")]
    Component(anyhow::Error),
    /// The component imports what it does not get here.
    #[error(transparent)]
    MissingImports(#[from] MissingImports),
    /// It imports or exports something of another form than this library knows.
    #[error("the component does not fit; take component and library from one release: {0:#}")]
    Unfit(wasmtime::Error),
}

impl AuthMethod {
    /// The auth method over `store`, sending its requests by `http`, with everything else as it is by default.
    ///
    /// The store is for this component alone. It is asked within the limits of [`ports`](super::ports), and may rely on them.
    ///
    /// # Errors
    ///
    /// When the machine gives no memory or no thread for it.
    pub fn new(
        store: impl Store + Send + Sync + 'static,
        http: impl Http + Send + Sync + 'static,
    ) -> Result<Self, BuildError> {
        Self::builder(store, http).build()
    }

    /// As [`Self::new`], with more to choose.
    #[must_use]
    pub fn builder(
        store: impl Store + Send + Sync + 'static,
        http: impl Http + Send + Sync + 'static,
    ) -> Builder {
        Builder::new(store, http)
    }
}

type BindCache = Box<dyn FnOnce(&mut Linker<InstanceState>) -> wasmtime::Result<()> + Send>;

/// Makes an [`AuthMethod`]; what is not set has a default.
pub struct Builder {
    store: PrivateStore,
    outbound: Box<dyn FnOnce(Limits) -> OutboundFactory + Send>,
    environment: Vec<(String, String)>,
    clock: SharedClock,
    cache: Option<BindCache>,
    code_cache: Option<CodeCache>,
    component: Source,
    limits: Limits,
}

/// Where the component comes from.
enum Source {
    Ours(Flavour),
    Given(Cow<'static, [u8]>),
}

impl Builder {
    pub(super) fn new(
        store: impl Store + Send + Sync + 'static,
        http: impl Http + Send + Sync + 'static,
    ) -> Self {
        let http = Arc::new(http);
        let outbound = move |limits| -> OutboundFactory {
            Arc::new(move || {
                let http = Arc::clone(&http);
                Box::new(EmbeddersHttp { http, limits })
            })
        };
        let backend = Arc::new(EmbeddersStore(store));
        Self {
            store: PrivateStore::new(backend, Namespace::AuthMethod),
            outbound: Box::new(outbound),
            environment: Vec::new(),
            clock: Arc::new(SystemClock),
            cache: None,
            code_cache: None,
            component: Source::Ours(SERVED),
            limits: Limits::default(),
        }
    }

    /// Sets an environment variable of the component. Those that it reads are in `wit/auth-method/world.wit`:
    /// `GATEHOUSE_ADVERTISED_ADDRESS`, `GATEHOUSE_GOOGLE_ALLOWED_HOSTS` and others; none has to be set.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The time of day that the component is told; the system's by default.
    #[must_use]
    pub fn clock(mut self, clock: SharedClock) -> Self {
        self.clock = clock;
        self
    }

    /// The cache of Google's answers that instances share; by default 64 MiB in memory. A [`NoCache`](gatehouse_ports::NoCache) has each ask for
    /// itself.
    #[must_use]
    pub fn cache(mut self, cache: impl Cache + Send + Sync + 'static) -> Self {
        self.cache = Some(Box::new(|linker| {
            cache::bind(linker, cache::INTERFACE, cache)
        }));
        self
    }

    /// Where compiled code is kept from one start to the next; by default the component is compiled at each start, which takes a second
    /// or more.
    #[must_use]
    pub fn code_cache(mut self, code_cache: CodeCache) -> Self {
        self.code_cache = Some(code_cache);
        self
    }

    /// Sets the build of the component that runs. The default is [`Flavour::Wide`] in a release build, which checks signatures five times
    /// as fast, and [`Flavour::Portable`] in any other, which has no other.
    #[must_use]
    pub fn flavour(mut self, flavour: Flavour) -> Self {
        self.component = Source::Ours(flavour);
        self
    }

    /// Runs the component in `wasm` instead of the one in this crate.
    #[must_use]
    pub fn component(mut self, wasm: impl Into<Cow<'static, [u8]>>) -> Self {
        self.component = Source::Given(wasm.into());
        self
    }

    /// The bounds of the calls.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Compiles the component. Nothing is called yet.
    ///
    /// # Errors
    ///
    /// When the component cannot run here. One that imports more than it gets is answered with a list of what it lacks.
    pub fn build(self) -> Result<AuthMethod, BuildError> {
        let limits = Limits {
            instances: self.limits.instances.max(1),
            ..self.limits
        };
        let engine = engine(EngineSettings {
            instances: limits.instances,
            memory_limit: limits.memory,
        })
        .map_err(BuildError::Engine)?;
        let component = compile(&engine, self.code_cache.as_ref(), &self.component)
            .map_err(BuildError::Component)?;
        let mut linker = linker(&engine).map_err(BuildError::Engine)?;
        storage::bind(&mut linker, storage::INTERFACE, self.store).map_err(BuildError::Unfit)?;
        match self.cache {
            Some(bind) => bind(&mut linker),
            None => {
                let shared = SharedCache::new(Arc::clone(&self.clock));
                cache::bind(&mut linker, cache::INTERFACE, shared)
            }
        }
        .map_err(BuildError::Unfit)?;
        ensure_imports_are_met(&linker, &component)?;
        let template = linker.instantiate_pre(&component);
        let template = template.and_then(EmbeddedPre::new);
        Ok(AuthMethod::over(Calls {
            engine,
            template: template.map_err(BuildError::Unfit)?,
            grants: Grants {
                environment: self.environment,
                outbound: (self.outbound)(limits),
                clock: self.clock,
                memory_limit: limits.memory,
                cpu_time: limits.cpu_time,
            },
            idle: Idle::new(limits.instance_reuse),
            running: Semaphore::new(usize::try_from(limits.instances).unwrap_or(usize::MAX)),
            limits,
            timers: Timers::start().map_err(|error| BuildError::Engine(error.into()))?,
        }))
    }
}

fn compile(
    engine: &Engine,
    code_cache: Option<&CodeCache>,
    source: &Source,
) -> anyhow::Result<Component> {
    let wasm = match source {
        Source::Ours(flavour) => gatehouse_components::bytes(Part::AuthMethod, *flavour)?,
        Source::Given(wasm) => wasm,
    };
    match code_cache {
        Some(code_cache) => code_cache.load(engine, wasm),
        None => Ok(Component::new(engine, wasm)?),
    }
}
