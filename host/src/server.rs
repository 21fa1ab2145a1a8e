//! A whole server: a store, the composed components, and a listener in front of them.

use std::fs::DirBuilder;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use gatehouse_components::{Flavour, Part};
use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_store::{
    Backend, MemoryBackend, Namespace, PrivateStore, RedbBackend, RootKey, SealedBackend,
    SharedClock, UnsealError, Unsealed, read_key_file,
};
use http::header::HOST;
use http::uri::Scheme;
use http::{HeaderName, HeaderValue, Request, Response, Uri};
use wasmtime::component::InstancePre;

use crate::listener::{Listener, Refusal, RequestHandler};
use crate::outbound::{Outbound, OutboundHooks};
use crate::runtime::code_cache::CodeCache;
use crate::runtime::engine::{EngineSettings, engine};
use crate::runtime::linker::{ensure_imports_are_met, linker};
use crate::runtime::pool::{Pool, PoolSettings, ServeError};
use crate::runtime::state::{Grants, InstanceState};
use crate::runtime::storage;
use crate::settings::{Settings, StorageType};

/// How the gateway learns where a client is. The host sets it; a client's own field of this name is removed.
const PEER_HEADER: HeaderName = HeaderName::from_static("x-gatehouse-peer");

/// The file of the durable store in its folder.
const STORE_FILE: &str = "gatehouse.redb";

/// The stores of the composition: the name of the import, and the part of the backend behind it.
const STORES: [(&str, Namespace); 3] = [
    ("auth-method-storage", Namespace::AuthMethod),
    ("access-storage", Namespace::Access),
    ("orgs-storage", Namespace::Orgs),
];

/// A server that is ready to take connections.
pub struct Server {
    listener: Listener,
    handler: Arc<ComponentHandler>,
}

impl Server {
    /// Opens the store, loads the components and begins to listen.
    ///
    /// A store whose key is another one does not stop the start: the server then is sealed, and says so to everybody who asks.
    ///
    /// # Errors
    ///
    /// When anything that the settings name cannot be had.
    pub async fn start(settings: &Settings) -> Result<Self> {
        let backend = backend(settings).await?;
        let handler = Arc::new(ComponentHandler::new(settings, &backend)?);
        let listener = Listener::bind(&settings.listener, &settings.limits).await?;
        Ok(Self { listener, handler })
    }

    /// Where clients are served; the port is the real one where the settings say 0.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.listener.local_address()
    }

    /// What answers requests, for those who are in this process and need no socket.
    #[must_use]
    pub fn handler(&self) -> Arc<ComponentHandler> {
        Arc::clone(&self.handler)
    }

    /// Serves until `stop` is ready, then lets requests in work finish.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) {
        self.listener.serve(self.handler, stop).await;
    }
}

/// The store that the settings name, with the barrier above it.
async fn backend(settings: &Settings) -> Result<Arc<dyn Backend>> {
    let clock: SharedClock = Arc::new(SystemClock);
    let key = match &settings.seal.key_file {
        Some(file) => read_key_file(file)?,
        // Only a store in memory may do without: it ends together with this key.
        None => RootKey::generate(&OsRandom)?,
    };
    match settings.storage.kind {
        StorageType::Memory => unseal(MemoryBackend::new(clock.clone()), clock, &key).await,
        StorageType::Redb => {
            let folder = settings.storage.path.as_deref();
            let folder = folder.context("storage.path is not set")?;
            make_private_folder(folder)?;
            let store = RedbBackend::open(&folder.join(STORE_FILE), clock.clone())?;
            unseal(store, clock, &key).await
        }
    }
}

fn make_private_folder(folder: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

async fn unseal<B: Backend>(
    backend: B,
    clock: SharedClock,
    key: &RootKey,
) -> Result<Arc<dyn Backend>> {
    let sealed = SealedBackend::new(backend, clock);
    match sealed.unseal(key).await {
        Ok(Unsealed::Created) => tracing::info!("the store is new; its keyring has been made"),
        Ok(_) => tracing::info!("the store is unsealed"),
        Err(UnsealError::Keyring(error)) => {
            tracing::error!(%error, "the store stays sealed: seal.key_file is not the key that it was made with");
        }
        Err(error) => return Err(error).context("cannot unseal the store"),
    }
    Ok(Arc::new(sealed))
}

/// Answers requests by the composed components.
pub struct ComponentHandler {
    pool: Arc<Pool>,
    /// Whether clients come by TLS.
    is_tls: bool,
}

impl ComponentHandler {
    fn new(settings: &Settings, backend: &Arc<dyn Backend>) -> Result<Self> {
        let limits = &settings.limits;
        let memory_limit = limits.instance_memory;
        let template = template(settings, backend, memory_limit)?;
        let outbound = Arc::new(Outbound::new(&settings.google, limits)?);
        let grants = Grants {
            environment: settings.environment_for_components(),
            outbound: Arc::new(move || Box::new(OutboundHooks::new(Arc::clone(&outbound)))),
            memory_limit,
            cpu_time: limits.instance_cpu_time,
        };
        let pool = PoolSettings {
            instances: limits.instances,
            instance_reuse: limits.instance_reuse,
            queue: limits.queue,
            wall_time: limits.instance_wall_time,
        };
        Ok(Self {
            pool: Pool::new(template, grants, pool)?,
            is_tls: settings.listener.tls_files().is_some(),
        })
    }
}

fn template(
    settings: &Settings,
    backend: &Arc<dyn Backend>,
    memory_limit: usize,
) -> Result<InstancePre<InstanceState>> {
    let engine = engine(EngineSettings {
        instances: u32::try_from(settings.limits.instances)
            .context("limits.instances is too large")?,
        memory_limit,
    })?;
    let cache = CodeCache::open(cache_folder(settings.components.cache_directory.as_deref()))?;
    let component = cache.load(
        &engine,
        gatehouse_components::bytes(Part::Composed, Flavour::Wide),
    )?;
    let mut linker = linker(&engine)?;
    for (name, namespace) in STORES {
        let store = PrivateStore::new(Arc::clone(backend), namespace);
        storage::bind(&mut linker, name, store)?;
    }
    ensure_imports_are_met(&engine, &component)?;
    Ok(linker.instantiate_pre(&component)?)
}

/// The folder for compiled code: as set, else in the user's cache folder, else among temporary files.
fn cache_folder(set: Option<&Path>) -> PathBuf {
    if let Some(folder) = set {
        return folder.to_owned();
    }
    let user = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    match user {
        Some(folder) => folder.join("gatehouse"),
        None => {
            std::env::temp_dir().join(format!("gatehouse-{}", rustix::process::geteuid().as_raw()))
        }
    }
}

impl RequestHandler for ComponentHandler {
    async fn handle(
        &self,
        mut request: Request<Bytes>,
        peer: IpAddr,
    ) -> Result<Response<Bytes>, Refusal> {
        if let Ok(peer) = HeaderValue::try_from(peer.to_string()) {
            // Replaces every field of the name, whoever sent it.
            request.headers_mut().insert(PEER_HEADER, peer);
        }
        if self.is_tls {
            mark_as_https(&mut request);
        }
        self.pool.serve(request).await.map_err(|error| match error {
            ServeError::Overloaded => Refusal::Overloaded,
            ServeError::TimedOut(_) => {
                tracing::error!(%error, "a request failed");
                Refusal::RequestTimeout
            }
            ServeError::Failed(_) => {
                tracing::error!(%error, "a request failed");
                Refusal::Internal
            }
        })
    }
}

/// Gives the request's URI the scheme `https`, which a request over HTTP/1.1 does not carry by itself.
fn mark_as_https(request: &mut Request<Bytes>) {
    let host = request.headers().get(HOST);
    let mut parts = request.uri().clone().into_parts();
    parts.scheme = Some(Scheme::HTTPS);
    if parts.authority.is_none() {
        parts.authority = host.and_then(|host| host.as_bytes().try_into().ok());
    }
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}
