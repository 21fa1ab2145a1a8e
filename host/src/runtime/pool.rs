//! Serving requests by instances that are used again.
//!
//! **Reuse contract.** An instance serves one request at a time, and up to [`PoolSettings::instance_reuse`] of them one after the
//! other. An instance that traps, runs out of time, leaves handles behind or is cut off is dropped; the request it served fails
//! alone. Guest memory therefore outlives a request: components keep nothing there but caches (and a test looks for more), and one
//! that was handed shares of the root key is dropped after its answer.
//!
//! **Back-pressure.** At most [`PoolSettings::instances`] requests run at one time, and [`PoolSettings::queue`] more wait for them.
//! Beyond that a request is refused at once, so that a flood costs memory for nobody.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};
use wasmtime::component::InstancePre;
use wasmtime::{Engine, Store};

use super::front::{Front, FrontTemplate};
use super::state::{Grants, InstanceState};

/// How instances are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// How many requests run at one time.
    pub instances: usize,
    /// How many requests an instance serves before it is replaced; 1 gives every request a fresh instance.
    pub instance_reuse: usize,
    /// How many requests wait for an instance.
    pub queue: usize,
    /// How long a request may take from the moment it gets an instance.
    pub wall_time: Duration,
}

/// Why a request has no answer from the component.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Every instance is busy and the queue is full. Worth trying again in a second.
    #[error("all instances are busy and the queue is full")]
    Overloaded,
    /// The component took longer than a request may take.
    #[error("the component took longer than {0:?}")]
    TimedOut(Duration),
    /// The component trapped, gave no answer, or gave one that is not allowed.
    #[error("the component failed: {0:#}")]
    Failed(wasmtime::Error),
}

impl From<wasmtime::Error> for ServeError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Failed(error)
    }
}

struct Instance {
    store: Store<InstanceState>,
    front: Front,
    served: usize,
}

/// Serves requests by one component.
pub struct Pool {
    engine: Engine,
    template: FrontTemplate,
    grants: Grants,
    settings: PoolSettings,
    idle: Mutex<Vec<Instance>>,
    running: Semaphore,
    waiting: AtomicUsize,
}

impl Pool {
    /// A pool of instances of `template`, all made on demand.
    ///
    /// # Errors
    ///
    /// When the component exports neither `gatehouse:gateway/exchange` nor `wasi:http/incoming-handler`.
    pub fn new(
        template: InstancePre<InstanceState>,
        grants: Grants,
        settings: PoolSettings,
    ) -> wasmtime::Result<Arc<Self>> {
        let engine = template.engine().clone();
        let template = FrontTemplate::of(template)?;
        Ok(Self::over(engine, template, grants, settings))
    }

    /// The same, by `wasi:http/incoming-handler` whatever else the component exports: as hosts call it that know nothing else.
    ///
    /// # Errors
    ///
    /// When the component does not export it.
    pub fn streaming(
        template: InstancePre<InstanceState>,
        grants: Grants,
        settings: PoolSettings,
    ) -> wasmtime::Result<Arc<Self>> {
        let engine = template.engine().clone();
        let template = FrontTemplate::streams(template)?;
        Ok(Self::over(engine, template, grants, settings))
    }

    fn over(
        engine: Engine,
        template: FrontTemplate,
        grants: Grants,
        settings: PoolSettings,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine,
            template,
            grants,
            idle: Mutex::default(),
            running: Semaphore::new(settings.instances),
            waiting: AtomicUsize::new(0),
            settings,
        })
    }

    /// How many requests run now.
    #[must_use]
    pub fn running(&self) -> usize {
        let free = self.running.available_permits();
        self.settings.instances.saturating_sub(free)
    }

    /// How many requests wait for an instance now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// The component's answer to `request`. A URI with the scheme `https` tells the component that the client came by TLS.
    ///
    /// The request runs on when the caller stops waiting: a client that hangs up must not leave an instance, or what it was about to
    /// store, cut off in the middle. Only the end of its wall time cuts it off, and with it its instance.
    ///
    /// # Errors
    ///
    /// When there is no free instance or the component failed.
    pub async fn serve(
        self: &Arc<Self>,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, ServeError> {
        let pool = Arc::clone(self);
        // A panic in here is the host's own fault; it ends this task alone.
        match tokio::spawn(async move { pool.run(request).await }).await {
            Ok(outcome) => outcome,
            Err(error) => Err(ServeError::Failed(wasmtime::Error::new(error))),
        }
    }

    async fn run(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, ServeError> {
        let _permit = self.permit().await?;
        let wall_time = self.settings.wall_time;
        match tokio::time::timeout(wall_time, self.run_instance(request)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ServeError::TimedOut(wall_time)),
        }
    }

    async fn permit(&self) -> Result<SemaphorePermit<'_>, ServeError> {
        if let Ok(permit) = self.running.try_acquire() {
            return Ok(permit);
        }
        let waiting = Waiting::join(&self.waiting, self.settings.queue)?;
        let permit = self.running.acquire().await;
        drop(waiting);
        permit.map_err(|_| ServeError::Overloaded)
    }

    async fn run_instance(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, ServeError> {
        let mut instance = match self.pop() {
            Some(instance) => instance,
            None => self.instantiate().await?,
        };
        let answer = instance.call(request).await?;
        instance.store.data_mut().end_request();
        instance.served = instance.served.saturating_add(1);
        if instance.served < self.settings.instance_reuse && instance.store.data().holds_nothing() {
            self.push(instance);
        }
        Ok(answer)
    }

    async fn instantiate(&self) -> Result<Instance, ServeError> {
        let mut store = self.grants.store(&self.engine);
        let front = self.template.instantiate(&mut store).await?;
        Ok(Instance {
            store,
            front,
            served: 0,
        })
    }

    // The instance used last comes first: its memory is warm, and what is not needed stays cold.
    fn pop(&self) -> Option<Instance> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn push(&self, instance: Instance) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(instance);
    }
}

impl Instance {
    async fn call(
        &mut self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, ServeError> {
        self.store.data_mut().begin_request();
        self.store.set_epoch_deadline(1);
        self.front.answer(&mut self.store, request).await
    }
}

/// A place in the queue, given back when dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn join(waiting: &'a AtomicUsize, limit: usize) -> Result<Self, ServeError> {
        let joined = waiting.fetch_add(1, Ordering::AcqRel);
        let place = Self(waiting);
        if joined < limit {
            Ok(place)
        } else {
            Err(ServeError::Overloaded)
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
