//! A whole server: a store, the composed components, and a listener in front of them.

mod components;
mod handler;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use gatehouse_ports::{StoreError, SystemClock};
use gatehouse_store::{Backend, Roster, SharedClock};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::audit::Sinks;
use crate::clock::{KEEPING_INTERVAL, SteadyClock};
use crate::listener::{Certificate, Listener};
use crate::log::Followed;
use crate::metrics::{MeteredBackend, ServerMetrics};
use crate::nodes::{Introduction, Nodes};
use crate::runtime::background::Background;
use crate::runtime::services::{
    AuditLog, Buckets, Metrics, NoAudit, OwnStore, Services, SharedStore,
};
use crate::seal::{SealedStore, Upkeep};
use crate::settings::Settings;
use crate::start_checks::check_clock;
use components::{background, grants, template};

pub use handler::ComponentHandler;

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
            handler.stop();
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
