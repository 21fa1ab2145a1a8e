//! Serving requests by instances that are used again.
//!
//! How far an instance is used again is a rule of its own (`instances.rs`).
//!
//! **Backpressure.** At most [`PoolSettings::instances`] requests run at one time, and [`PoolSettings::queue`] more wait for them. Beyond
//! that a request is refused at once, so that a flood costs no memory. Further parts of answers get half of the instances at most, but at
//! least one: clients that read long answers, or the log, leave the others to requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use wasmtime::Engine;
use wasmtime::component::InstancePre;

use super::exchange::{BodyPart, ServeError};
use super::front::{Front, FrontTemplate};
use super::instances::{Idle, Instance};
use super::state::{Grants, InstanceState};
use crate::listener::{RequestId, in_request};
use crate::traces;

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

/// Serves requests by one component.
pub struct Pool {
    engine: Engine,
    template: FrontTemplate,
    grants: Grants,
    settings: PoolSettings,
    idle: Idle<Front>,
    running: Semaphore,
    /// Those of `running` that further parts may have.
    resuming: Arc<Semaphore>,
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
        let template = FrontTemplate::find(template)?;
        Ok(Self::over(engine, template, grants, settings))
    }

    /// The same, with the console's pages.
    ///
    /// # Errors
    ///
    /// When the component does not export `gatehouse:gateway/exchange` and `gatehouse:console/pages`.
    pub fn with_console(
        template: InstancePre<InstanceState>,
        grants: Grants,
        settings: PoolSettings,
    ) -> wasmtime::Result<Arc<Self>> {
        let engine = template.engine().clone();
        let template = FrontTemplate::with_console(template)?;
        Ok(Self::over(engine, template, grants, settings))
    }

    /// The same, by `wasi:http/incoming-handler` whatever else the component exports: the way of hosts that know no other interface.
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
            resuming: Arc::new(Semaphore::new((settings.instances / 2).max(1))),
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
        let served = Arc::clone(&request);
        let work = async move {
            pool.run(async |instance: &mut Instance<Front>| {
                let answer = instance.exports.answer(&mut instance.store, &served);
                answer.await
            })
            .await
        };
        to_its_end(&request, work).await
    }

    /// The next part of the component's answer to `request`, whose body need not be there any more. It is made by any instance, which is held
    /// for that part alone. The rules of [`Self::serve`] apply to it once its turn among the further parts has come; until then it takes no
    /// place in the queue.
    ///
    /// # Errors
    ///
    /// As [`Self::serve`]; and when the answer is not continued.
    pub async fn resume(
        self: &Arc<Self>,
        request: Arc<http::Request<Bytes>>,
        continuation: Vec<u8>,
    ) -> Result<BodyPart, ServeError> {
        let turn = self.turn().await?;
        let pool = Arc::clone(self);
        let served = Arc::clone(&request);
        let work = async move {
            let _turn = turn;
            pool.run(async |instance: &mut Instance<Front>| {
                let Instance { exports, store, .. } = instance;
                exports.resume(store, &served, &continuation).await
            })
            .await
        };
        to_its_end(&request, work).await
    }

    /// Waits for a further part to be made beside others.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, ServeError> {
        let turn = Arc::clone(&self.resuming).acquire_owned().await;
        turn.map_err(|_| ServeError::Overloaded)
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
        // An instance that reports that an answer is not continued has done its work.
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

/// Runs `work` for `request` to its end, whether or not the caller waits for it.
async fn to_its_end<T: Send + 'static>(
    request: &http::Request<Bytes>,
    work: impl Future<Output = Result<T, ServeError>> + Send + 'static,
) -> Result<T, ServeError> {
    let id = request.extensions().get::<RequestId>().copied();
    let work = in_request(id, traces::in_span_of(request, work));
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

#[cfg(test)]
pub(crate) mod tests {
    use gatehouse_engine::{EngineSettings, engine};
    use wasmtime::component::Component;

    use super::*;
    use crate::runtime::exchange::ResumeError;
    use crate::runtime::linker::linker;
    use crate::runtime::state::no_grants;

    /// Traps at every request.
    const COMPONENT: &str = r#"
(component
  (import "wasi:http/types@0.2.12" (instance $http
    (export "incoming-request" (type (sub resource)))
    (export "response-outparam" (type (sub resource)))))
  (alias export $http "incoming-request" (type $request))
  (alias export $http "response-outparam" (type $answer))
  (core module $code (func (export "handle") (param i32 i32) unreachable))
  (core instance $code (instantiate $code))
  (func $handle (param "request" (own $request)) (param "response-out" (own $answer))
    (canon lift (core func $code "handle")))
  (instance $handler (export "handle" (func $handle)))
  (export "wasi:http/incoming-handler@0.2.12" (instance $handler)))
"#;

    /// A pool of a component that serves no request and continues no answer.
    pub(crate) fn pool(instances: usize) -> Arc<Pool> {
        let engine = engine(EngineSettings {
            instances: u32::try_from(instances).unwrap(),
            memory_limit: 1 << 20,
        })
        .unwrap();
        let component = Component::new(&engine, wat::parse_str(COMPONENT).unwrap()).unwrap();
        let linker = linker(&engine).unwrap();
        let template = linker.instantiate_pre(&component).unwrap();
        let settings = PoolSettings {
            instances,
            instance_reuse: 1,
            queue: 0,
            wall_time: Duration::from_secs(60),
        };
        Pool::new(template, no_grants(), settings).unwrap()
    }

    /// Keeps further parts from being made, as one that is being made does where there is one instance.
    pub(crate) async fn held_up(pool: &Arc<Pool>) -> OwnedSemaphorePermit {
        pool.turn().await.unwrap()
    }

    pub(crate) fn request() -> Arc<http::Request<Bytes>> {
        Arc::new(
            http::Request::get("http://localhost/")
                .body(Bytes::new())
                .unwrap(),
        )
    }

    #[tokio::test]
    async fn further_parts_leave_half_of_the_instances_to_requests() {
        let pool = pool(4);
        let others = [pool.turn().await.unwrap(), pool.turn().await.unwrap()];
        let waits = pool.resume(request(), Vec::new());
        let waits = tokio::time::timeout(Duration::from_millis(50), waits).await;
        assert!(waits.is_err(), "a third part was made");
        assert_eq!((pool.running(), pool.waiting()), (0, 0));
        let served = pool.serve(request()).await;
        assert!(matches!(served, Err(ServeError::Failed(_))), "{served:?}");

        drop(others);
        let resumed = pool.resume(request(), Vec::new()).await;
        let foreign = matches!(resumed, Err(ServeError::NotResumed(ResumeError::Foreign)));
        assert!(foreign, "{resumed:?}");
    }

    #[tokio::test]
    async fn the_only_instance_goes_on_with_answers_too() {
        let resumed = pool(1).resume(request(), Vec::new()).await;
        assert!(matches!(resumed, Err(ServeError::NotResumed(_))));
    }
}
