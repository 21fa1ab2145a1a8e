//! Serving requests by instances that are used again.
//!
//! How far an instance is used again is a rule of its own (`instances.rs`).
//!
//! **Back-pressure.** At most [`PoolSettings::instances`] requests run at one time, and [`PoolSettings::queue`] more wait for them.
//! Beyond that a request is refused at once, so that a flood costs memory for nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};
use wasmtime::Engine;
use wasmtime::component::InstancePre;

use super::front::{Front, FrontTemplate};
use super::instances::{Idle, Instance};
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
    /// The component does not go on with an answer; holds its reason.
    #[error("the component does not go on with an answer: {0}")]
    NotResumed(&'static str),
    /// The component trapped, gave no answer, or gave one that is not allowed.
    #[error("the component failed: {0:#}")]
    Failed(wasmtime::Error),
}

impl From<wasmtime::Error> for ServeError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Failed(error)
    }
}

/// The body of an answer, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyPart {
    /// May be empty.
    pub bytes: Bytes,
    /// What follows. `None` at the end.
    pub rest: Option<BodyRest>,
}

/// Where a body goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyRest {
    /// To be given to [`Pool::resume`] with the request.
    pub continuation: Vec<u8>,
    /// How long to wait before that. Not zero for a body that goes on for as long as the client reads it, and is complete wherever it ends.
    pub wait: Duration,
}

impl BodyPart {
    /// The only part of a body, or the last one.
    pub(super) const fn last(bytes: Bytes) -> Self {
        Self { bytes, rest: None }
    }
}

/// Serves requests by one component.
pub struct Pool {
    engine: Engine,
    template: FrontTemplate,
    grants: Grants,
    settings: PoolSettings,
    idle: Idle<Front>,
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
            idle: Idle::new(settings.instance_reuse),
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
        request: impl Into<Arc<http::Request<Bytes>>>,
    ) -> Result<http::Response<BodyPart>, ServeError> {
        let request = request.into();
        let pool = Arc::clone(self);
        to_its_end(async move {
            pool.run(async |instance: &mut Instance<Front>| {
                let answer = instance.exports.answer(&mut instance.store, &request);
                answer.await
            })
            .await
        })
        .await
    }

    /// The next part of the component's answer to `request`. It is made by any instance, which is held for that part alone; what is said of
    /// [`Self::serve`] goes for it too.
    ///
    /// # Errors
    ///
    /// As [`Self::serve`]; and when the answer does not go on.
    pub async fn resume(
        self: &Arc<Self>,
        request: Arc<http::Request<Bytes>>,
        continuation: Vec<u8>,
    ) -> Result<BodyPart, ServeError> {
        let pool = Arc::clone(self);
        to_its_end(async move {
            pool.run(async |instance: &mut Instance<Front>| {
                let Instance { exports, store, .. } = instance;
                exports.resume(store, &request, &continuation).await
            })
            .await
        })
        .await
    }

    async fn run<T>(
        &self,
        call: impl AsyncFnOnce(&mut Instance<Front>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        let _permit = self.permit().await?;
        let wall_time = self.settings.wall_time;
        match tokio::time::timeout(wall_time, self.run_instance(call)).await {
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

    async fn run_instance<T>(
        &self,
        call: impl AsyncFnOnce(&mut Instance<Front>) -> Result<T, ServeError>,
    ) -> Result<T, ServeError> {
        let mut instance = match self.idle.pop() {
            Some(instance) => instance,
            None => self.instantiate().await?,
        };
        instance.begin();
        let outcome = call(&mut instance).await;
        // An instance that says that an answer does not go on has done what it should.
        if matches!(outcome, Ok(_) | Err(ServeError::NotResumed(_))) {
            self.idle.give_back(instance);
        }
        outcome
    }

    async fn instantiate(&self) -> Result<Instance<Front>, ServeError> {
        let mut store = self.grants.store(&self.engine);
        let front = self.template.instantiate(&mut store).await?;
        Ok(Instance::new(store, front))
    }
}

/// Runs `work` to its end, whether or not the caller waits for it.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, ServeError>> + Send + 'static,
) -> Result<T, ServeError> {
    // A panic in here is the host's own fault; it ends this task alone.
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(ServeError::Failed(wasmtime::Error::new(error))),
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
