//! A whole server: a store, the composed components, and a listener in front of them.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bytes::Bytes;
use gatehouse_ports::{StoreError, SystemClock};
use gatehouse_store::{Backend, Namespace, PrivateStore, Roster, SharedClock};
use http::header::HOST;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wasmtime::component::InstancePre;

use crate::application_credentials;
use crate::audit::Sinks;
use crate::clock::{KEEPING_INTERVAL, SteadyClock};
use crate::console;
use crate::further_parts::{Followers, FurtherParts};
use crate::listener::{AnswerBody, Certificate, Listener, RequestError, RequestHandler};
use crate::log::Followed;
use crate::metrics::{MeteredBackend, Protocol, ServerMetrics};
use crate::nodes::{Introduction, Nodes};
use crate::outbound::{Outbound, OutboundHooks};
use crate::rate_limits::Buckets;
use crate::runtime::background::{Background, BackgroundSettings};
use crate::runtime::cache::{self, SharedCache};
use crate::runtime::exchange::{BodyPart, Peer, ServeError};
use crate::runtime::linker::{ensure_imports_are_met, linker};
use crate::runtime::pool::{Pool, PoolSettings};
use crate::runtime::served;
use crate::runtime::services::{self, AuditLog, Metrics, NoAudit, OwnStore, Services, SharedStore};
use crate::runtime::state::{Grants, InstanceState};
use crate::runtime::storage;
use crate::seal::{SealedStore, Upkeep};
use crate::settings::Settings;
use crate::start_checks::check_clock;
use gatehouse_engine::{EngineSettings, engine};

/// The stores of the composition: the name of the import, and the part of the backend behind it.
const STORES: [(&str, Namespace); 3] = [
    ("auth-method-storage", Namespace::AuthMethod),
    ("access-storage", Namespace::Access),
    ("orgs-storage", Namespace::Orgs),
];

/// The caches of the composition: the names of the imports, each with a map of its own behind it.
const CACHES: [&str; 1] = ["auth-method-cache"];

/// How the components get the text of the server's own credentials at Google.
const CREDENTIALS_VARIABLE: &str = "GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS";

/// A server that is ready to take connections.
pub struct Server {
    listener: Listener,
    handler: Arc<ComponentHandler>,
    background: Option<Background>,
    metrics: Arc<ServerMetrics>,
    upkeep: Upkeep,
    time: Time,
    /// The servers that share the store, where it is one of several.
    nodes: Option<Arc<Nodes>>,
    audit: Option<Arc<Sinks>>,
    drain_timeout: Duration,
}

impl Server {
    /// Opens the store, loads the components and begins to listen.
    ///
    /// A store that stays sealed does not stop the start: the server says so to every client that asks.
    ///
    /// # Errors
    ///
    /// When anything that the settings name cannot be had.
    pub async fn start(settings: &Settings) -> Result<Self> {
        warn_of_compatibility(settings);
        let metrics = Arc::new(ServerMetrics::new());
        let steady = Arc::new(SteadyClock::new(metrics.clone()));
        let clock: SharedClock = Arc::clone(&steady) as SharedClock;
        let (opened, roster) = SealedStore::open_shared(settings, &clock).await?;
        let SealedStore {
            store,
            seal,
            upkeep,
            backups,
        } = opened;
        let backend: Arc<dyn Backend> = Arc::new(MeteredBackend::new(store, Arc::clone(&metrics)));
        keep_time(&steady, &*backend).await;
        check_clock(&steady)?;
        let nodes = roster.map(|roster| nodes(settings, roster, &metrics));
        let nodes = nodes.transpose()?;
        let audit = audit(settings, nodes.is_some())?;
        let services = Services {
            seal,
            shared_store: match &nodes {
                Some(nodes) => Arc::clone(nodes) as Arc<dyn SharedStore>,
                None => Arc::new(OwnStore),
            },
            audit: match &audit {
                Some(sinks) => Arc::clone(sinks) as Arc<dyn AuditLog>,
                None => Arc::new(NoAudit),
            },
            rate_limits: Arc::new(match nodes.clone() {
                Some(nodes) => Buckets::divided_among(move || nodes.live()),
                None => Buckets::default(),
            }),
            metrics: Arc::clone(&metrics) as Arc<dyn Metrics>,
            log: Arc::new(Followed),
            backups,
        };
        let template = template(settings, &backend, &clock, &services)?;
        let listener = Listener::bind(&settings.listener, &settings.limits).await?;
        if let Some(certificate) = listener.certificate() {
            metrics.watch_certificate(certificate);
        }
        if let Some(nodes) = &nodes {
            begin(nodes, settings.own_address(listener.local_address())).await;
        }
        let grants = grants(settings, listener.local_address(), &metrics, &steady)?;
        Ok(Self {
            background: background(settings, &template, &grants),
            metrics: Arc::clone(&metrics),
            upkeep,
            handler: Arc::new(ComponentHandler::new(settings, template, grants, metrics)?),
            time: Time {
                clock: steady,
                backend,
            },
            listener,
            nodes,
            audit,
            drain_timeout: settings.limits.drain_timeout,
        })
    }

    /// Where clients are served; the port is the real one where the settings say 0.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.listener.local_address()
    }

    /// The handler that answers requests, for callers in this process that need no socket.
    #[must_use]
    pub fn handler(&self) -> Arc<ComponentHandler> {
        Arc::clone(&self.handler)
    }

    /// The certificate, for reading it again, where clients come by TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<Arc<Certificate>> {
        self.listener.certificate()
    }

    /// The audit log, if there is any.
    #[must_use]
    pub fn audit(&self) -> Option<Arc<Sinks>> {
        self.audit.clone()
    }

    /// Shows among the metrics how many lines of the access log were lost, as `lost` counts them.
    pub fn watch_access_log(&self, lost: impl Fn() -> u64 + Send + Sync + 'static) {
        self.metrics.watch_access_log(lost);
    }

    /// Serves until `stop` is ready, then lets requests and background work finish that are under way, within
    /// `limits.drain_timeout`.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) {
        let (stopping, stopped) = watch::channel(());
        let handler = Arc::clone(&self.handler);
        let stop = async move {
            stop.await;
            handler.stopping.send_replace(true);
            drop(stopping);
        };
        // Ends what is in it when this function does, however that comes about.
        let mut work = JoinSet::new();
        if let Some(background) = self.background {
            let metrics = self.metrics;
            metrics.expect_duties(background.duties());
            let done = move |duty: &str, well: bool| metrics.did_duty(duty, well);
            let (clock, nodes) = (Arc::clone(&self.time.clock), self.nodes.clone());
            let held = move |duty: &str| {
                let is_of_another = nodes.as_ref().is_some_and(|nodes| !nodes.works());
                is_of_another || DELETING_DUTIES.contains(&duty) && clock.is_doubted()
            };
            work.spawn(background.repeat(held, done, sender_is_gone(stopped.clone())));
        }
        work.spawn(self.time.keep(sender_is_gone(stopped.clone())));
        work.spawn(self.upkeep.repeat(sender_is_gone(stopped.clone())));
        if let Some(nodes) = self.nodes.clone() {
            let stop = sender_is_gone(stopped.clone());
            work.spawn(async move { nodes.repeat(stop).await });
        }
        let finish_work = async {
            sender_is_gone(stopped).await;
            // Cut off, it could leave a key at Google that is not stored.
            let finished = async { while work.join_next().await.is_some() {} };
            if timeout(self.drain_timeout, finished).await.is_err() {
                tracing::warn!("limits.drain_timeout has passed; background work is cut off");
            }
        };
        tokio::join!(self.listener.serve(self.handler, stop), finish_work);
        if let Some(nodes) = self.nodes {
            nodes.leave().await;
        }
    }
}

/// The duties that delete by what time it is: keys at Google that were replaced, keys whose tokens have ended, and what no valid token
/// leads to. The others clear away what was removed by request or has been told (`gatehouse:gateway/background`).
pub const DELETING_DUTIES: [&str; 3] = [
    "rotate-credentials",
    "maintain-identity-token-keys",
    "maintain-access",
];

/// The server's time, and where the latest of it is kept.
struct Time {
    clock: Arc<SteadyClock>,
    backend: Arc<dyn Backend>,
}

impl Time {
    /// Keeps the time every now and then until `stop` is ready, and then once more.
    async fn keep(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let pause = keep_time(&self.clock, &*self.backend).await;
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(pause) => {}
            }
        }
        keep_time(&self.clock, &*self.backend).await;
    }
}

/// Keeps the time, and says after how long to do it again.
async fn keep_time(clock: &SteadyClock, backend: &dyn Backend) -> Duration {
    match clock.keep(backend).await {
        Ok(()) => KEEPING_INTERVAL,
        // Soon after it is unsealed, the store has to tell what time it was.
        Err(StoreError::Sealed) => Duration::from_secs(1),
        Err(error) => {
            tracing::error!(%error, "the latest time could not be stored");
            KEEPING_INTERVAL
        }
    }
}

async fn sender_is_gone(mut receiver: watch::Receiver<()>) {
    while receiver.changed().await.is_ok() {}
}

fn warn_of_compatibility(settings: &Settings) {
    for switch in &settings.compatibility.switched_on {
        tracing::warn!("compatibility.{} is on: {}", switch.key, switch.gives_up);
    }
}

/// Answers requests by the composed components.
pub struct ComponentHandler {
    pool: Arc<Pool>,
    /// True if clients come by TLS.
    is_tls: bool,
    metrics: Arc<ServerMetrics>,
    /// How long a part of an answer may take.
    part_time: Duration,
    followers: Followers,
    /// Turns true when the server stops: answers without an end end then.
    stopping: watch::Sender<bool>,
}

impl ComponentHandler {
    fn new(
        settings: &Settings,
        template: InstancePre<InstanceState>,
        grants: Grants,
        metrics: Arc<ServerMetrics>,
    ) -> Result<Self> {
        let limits = &settings.limits;
        let pool = PoolSettings {
            instances: limits.instances,
            instance_reuse: limits.instance_reuse,
            queue: limits.queue,
            wall_time: limits.instance_wall_time,
        };
        let pool = match settings.console.enabled {
            true => Pool::with_console(template, grants, pool)?,
            false => Pool::new(template, grants, pool)?,
        };
        metrics.watch(&pool);
        Ok(Self {
            pool,
            metrics,
            is_tls: settings.listener.tls_files().is_some(),
            part_time: limits.request_timeout,
            followers: Followers::default(),
            stopping: watch::Sender::new(false),
        })
    }

    /// The body that begins with `first`, an answer to `request`.
    ///
    /// # Errors
    ///
    /// When there are too many bodies without an end.
    fn body(&self, request: &Request<Bytes>, first: BodyPart) -> Result<AnswerBody, ServeError> {
        let Some(rest) = first.rest else {
            return Ok(first.bytes.into());
        };
        let place = self.followers.admit(&rest)?;
        let parts = FurtherParts {
            pool: Arc::clone(&self.pool),
            metrics: Arc::clone(&self.metrics),
            request: Arc::new(without_body(request)),
            time: self.part_time,
            stopping: self.stopping.subscribe(),
            _place: place,
        };
        Ok(parts.after(first.bytes, rest))
    }
}

/// The part of a request that is kept for as long as a client reads the answer, which may be for days.
fn without_body(request: &Request<Bytes>) -> Request<Bytes> {
    let mut kept = Request::new(Bytes::new());
    kept.method_mut().clone_from(request.method());
    kept.uri_mut().clone_from(request.uri());
    *kept.version_mut() = request.version();
    kept.headers_mut().clone_from(request.headers());
    kept
}

/// The sinks that the settings name; `None` where they name none. Of servers that share a store, records say which one wrote them.
fn audit(settings: &Settings, is_shared: bool) -> Result<Option<Arc<Sinks>>> {
    if settings.audit.is_empty() {
        return Ok(None);
    }
    let sinks = Sinks::open(&settings.audit)?;
    let sinks = match is_shared {
        true => sinks.of_node(&settings.node.name()),
        false => sinks,
    };
    Ok(Some(Arc::new(sinks)))
}

/// This server among those of `roster`.
fn nodes(
    settings: &Settings,
    roster: Arc<dyn Roster>,
    metrics: &Arc<ServerMetrics>,
) -> Result<Arc<Nodes>> {
    let introduction = Introduction {
        name: settings.node.name(),
        address: None,
        works: settings.limits.background_interval.is_some(),
    };
    let nodes = Nodes::new(roster, introduction, Arc::new(SystemClock), metrics.clone());
    Ok(Arc::new(nodes.context("no id for this server")?))
}

/// Lets the others know of this server, which clients reach at `address`. Where the store does not answer they learn of it later.
async fn begin(nodes: &Nodes, address: Option<String>) {
    nodes.is_at(address);
    match nodes.beat().await {
        Ok(()) => tracing::info!(
            live = nodes.live(),
            works_in_background = nodes.works(),
            "the servers that share the store know of this one"
        ),
        Err(error) => {
            tracing::warn!(%error, "the servers that share the store do not know of this one yet")
        }
    }
}

/// The grants of an instance that serves requests.
fn grants(
    settings: &Settings,
    local_address: SocketAddr,
    metrics: &Arc<ServerMetrics>,
    clock: &Arc<SteadyClock>,
) -> Result<Grants> {
    let outbound = Outbound::new(&settings.google, &settings.limits)?;
    let outbound = Arc::new(
        outbound
            .counted_in(Arc::clone(metrics))
            .witnessing_to(Arc::clone(clock)),
    );
    let mut environment = settings.environment_for_components(local_address);
    if settings.console.enabled {
        let key_file = settings.seal.key_file.as_deref();
        environment.extend(console::environment(&settings.console, key_file)?);
    }
    if let Some(file) = &settings.google.application_credentials {
        let credentials = application_credentials::read(file)?;
        tracing::info!("credentials at Google come from {}", file.display());
        environment.push((CREDENTIALS_VARIABLE.to_owned(), credentials.to_string()));
    }
    Ok(Grants {
        environment,
        outbound: Arc::new(move || Box::new(OutboundHooks::new(Arc::clone(&outbound)))),
        clock: Arc::clone(clock) as SharedClock,
        memory_limit: settings.limits.instance_memory,
        cpu_time: settings.limits.instance_cpu_time,
    })
}

/// The components' background work, unless it is switched off or they have none.
fn background(
    settings: &Settings,
    template: &InstancePre<InstanceState>,
    grants: &Grants,
) -> Option<Background> {
    let limits = &settings.limits;
    let grants = Grants {
        cpu_time: limits.background_cpu_time,
        ..grants.clone()
    };
    let settings = BackgroundSettings {
        interval: limits.background_interval?,
        wall_time: limits.background_wall_time,
    };
    Background::of(template, grants, settings)
}

fn template(
    settings: &Settings,
    backend: &Arc<dyn Backend>,
    clock: &SharedClock,
    services: &Services,
) -> Result<InstancePre<InstanceState>> {
    // One more than there are requests at one time: background work never takes the place of one.
    let instances = u32::try_from(settings.limits.instances)
        .ok()
        .and_then(|instances| instances.checked_add(1));
    let engine = engine(EngineSettings {
        instances: instances.context("limits.instances is too large")?,
        memory_limit: settings.limits.instance_memory,
    })
    .context("lower limits.instances or limits.instance_memory")?;
    let component = served::load(&engine, settings.components.cache_directory.as_deref())?;
    let mut linker = linker(&engine)?;
    for (name, namespace) in STORES {
        let store = PrivateStore::new(Arc::clone(backend), namespace);
        storage::bind(&mut linker, name, store)?;
    }
    for name in CACHES {
        cache::bind(&mut linker, name, SharedCache::new(Arc::clone(clock)))?;
    }
    services::bind(&mut linker, services)?;
    ensure_imports_are_met(&linker, &component)?;
    Ok(linker.instantiate_pre(&component)?)
}

impl RequestHandler for ComponentHandler {
    async fn handle(
        &self,
        mut request: Request<Bytes>,
        peer: IpAddr,
    ) -> Result<Response<AnswerBody>, RequestError> {
        request.extensions_mut().insert(Peer(peer));
        if self.is_tls {
            set_scheme(&mut request, Scheme::HTTPS);
        } else if request.uri().scheme() == Some(&Scheme::HTTPS) {
            // The client's own word in an absolute target or in HTTP/2, which proves nothing.
            set_scheme(&mut request, Scheme::HTTP);
        }
        let started = Instant::now();
        let protocol = Protocol::of(request.uri().path());
        let request = Arc::new(request);
        let answer = self.pool.serve(Arc::clone(&request)).await;
        let answer = answer.and_then(|answer| {
            let (head, first) = answer.into_parts();
            Ok(Response::from_parts(head, self.body(&request, first)?))
        });
        let answer = answer.map_err(|error| {
            self.metrics.unanswered(&error);
            refusal(&error)
        })?;
        self.metrics
            .answered(protocol, answer.status().as_u16(), started.elapsed());
        Ok(answer)
    }
}

fn refusal(error: &ServeError) -> RequestError {
    if !matches!(error, ServeError::Overloaded) {
        tracing::error!(%error, "a request failed");
    }
    match error {
        ServeError::Overloaded => RequestError::Overloaded,
        ServeError::TimedOut(_) => RequestError::RequestTimeout,
        ServeError::NotResumed(_) | ServeError::Failed(_) => RequestError::Internal,
    }
}

/// Gives the request's URI a scheme, which a request over HTTP/1.1 does not carry by itself.
fn set_scheme(request: &mut Request<Bytes>, scheme: Scheme) {
    let host = request.headers().get(HOST);
    let mut parts = request.uri().clone().into_parts();
    parts.scheme = Some(scheme);
    if parts.authority.is_none() {
        parts.authority = host.and_then(|host| host.as_bytes().try_into().ok());
    }
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    /// A handler that never answers in time.
    struct Late;

    impl RequestHandler for Late {
        async fn handle(
            &self,
            _: Request<Bytes>,
            _: IpAddr,
        ) -> Result<Response<AnswerBody>, RequestError> {
            Err(refusal(&ServeError::TimedOut(Duration::from_secs(30))))
        }
    }

    #[tokio::test]
    async fn a_component_that_takes_too_long_is_told_as_that_in_the_form_of_either_api() {
        let text = "storage.type = \"memory\"\nlistener.address = \"127.0.0.1:0\"";
        let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
        let listener = Listener::bind(&settings.listener, &settings.limits)
            .await
            .unwrap();
        let address = listener.local_address();
        let mut serving = JoinSet::new();
        serving.spawn(listener.serve(Arc::new(Late), std::future::pending()));
        for (path, body) in [
            (
                "/v1/sys/auth",
                r#"{"errors":["the request took too long"]}"#,
            ),
            (
                "/api/v2/organizations",
                r#"{"errors":[{"status":"503","title":"service unavailable","detail":"the request took too long"}]}"#,
            ),
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(answer.ends_with(body), "{answer}");
        }
    }
}
