//! Calls that wait, over instances that are used again.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::coop::unconstrained;
use tokio::time::timeout;
use wasmtime::{Engine, Store};

use super::bindings::{Embedded, EmbeddedPre};
use super::limits::Limits;
use crate::runtime::instances::{Idle, Instance};
use crate::runtime::state::{Grants, InstanceState};

/// Why a call has no answer. Its instance is gone, and the next call gets another.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// It took longer than a call may take.
    #[error("the component was given up after {0:?}")]
    TimedOut(Duration),
    /// It trapped, or could not be made.
    #[error("the component failed: {}", .0.root_cause())]
    Failed(#[from] wasmtime::Error),
}

/// Makes calls of one component.
pub(super) struct Calls {
    pub(super) engine: Engine,
    pub(super) template: EmbeddedPre<InstanceState>,
    pub(super) grants: Grants,
    pub(super) idle: Idle<Embedded>,
    pub(super) running: Semaphore,
    pub(super) limits: Limits,
    pub(super) timers: Timers,
}

impl Calls {
    /// Has an instance answer `call`, on this thread, and waits for it.
    ///
    /// # Errors
    ///
    /// When it traps or takes too long.
    pub(super) fn make<T>(
        &self,
        call: impl AsyncFnOnce(&Embedded, &mut Store<InstanceState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let _timers = self.timers.enter();
        // Within a task of Tokio its budget would run out after some calls: nothing here goes back to the scheduler that renews it.
        pollster::block_on(unconstrained(async {
            let _place = self.running.acquire().await.map_err(wasmtime::Error::new)?;
            let limit = self.limits.wall_time;
            let answer = timeout(limit, self.answer(call)).await;
            answer.map_err(|_| CallError::TimedOut(limit))?
        }))
    }

    async fn answer<T>(
        &self,
        call: impl AsyncFnOnce(&Embedded, &mut Store<InstanceState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let mut instance = match self.idle.pop() {
            Some(instance) => instance,
            None => self.instantiate().await?,
        };
        instance.begin();
        let answer = call(&instance.exports, &mut instance.store).await?;
        self.idle.give_back(instance);
        Ok(answer)
    }

    async fn instantiate(&self) -> wasmtime::Result<Instance<Embedded>> {
        let mut store = self.grants.store(&self.engine);
        let exports = self.template.instantiate_async(&mut store).await?;
        Ok(Instance::new(store, exports))
    }
}

/// Where timers run out and requests are sent while calls wait on their own threads.
pub(super) struct Timers(Option<Runtime>);

impl Timers {
    /// Starts its thread.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("gatehouse-embed")
            .enable_time()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    // To be in the context of a runtime is possible within another one, unlike to run one there.
    fn enter(&self) -> Option<tokio::runtime::EnterGuard<'_>> {
        self.0.as_ref().map(Runtime::enter)
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        // A runtime that is waited for must not be dropped in an async function, and this may well be one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
