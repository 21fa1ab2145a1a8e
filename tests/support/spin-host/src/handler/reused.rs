//! The handler of WASI 0.3, with the reuse of instances that Spin has by default.

use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::Sleep;
use wasmtime::component::GuestTaskId;
use wasmtime::{Store, StoreContextMut};
use wasmtime_wasi_http::handler::{
    HandlerState, Instance, Proxy, ProxyHandler, ShouldAccept, WorkerExpiration, WorkerState,
    WorkerStatus,
};
use wasmtime_wasi_http::p3::bindings::ServicePre;
use wasmtime_wasi_http::{WasiBody, WasiHttpView};

use crate::state::{Grants, InstanceState};

/// Requests that an instance serves before it is dropped.
const REQUESTS_PER_INSTANCE: usize = 128;
/// Requests that an instance is offered at one time; one that holds them back is not.
const CONCURRENT_REQUESTS: usize = 16;
/// How long an instance without a request is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves requests by instances that live on.
pub struct Reused(ProxyHandler<Template>);

impl Reused {
    pub(super) fn new(service: ServicePre<InstanceState>, grants: Grants) -> Self {
        Self(ProxyHandler::new(Template { service, grants }))
    }

    pub(super) async fn handle(
        &self,
        request: http::Request<WasiBody>,
    ) -> wasmtime::Result<http::Response<WasiBody>> {
        self.0.handle((), request).await
    }
}

struct Template {
    service: ServicePre<InstanceState>,
    grants: Grants,
}

impl HandlerState for Template {
    type StoreData = InstanceState;
    type WorkerExpiration = Idleness;
    type WorkerState = Worker;

    async fn instantiate(
        &self,
    ) -> wasmtime::Result<Instance<InstanceState, Self::WorkerExpiration, Self::WorkerState>> {
        let mut store = self.grants.store(self.service.engine());
        let service = self.service.instantiate_async(&mut store).await?;
        Ok(Instance {
            store,
            proxy: Proxy::P3(service),
            view: InstanceState::http,
            expiration: Idleness(Box::pin(tokio::time::sleep(IDLE_TIMEOUT))),
            state: Worker,
        })
    }
}

/// Ends an instance that has had no request for some time, and none that has one.
struct Idleness(Pin<Box<Sleep>>);

impl WorkerExpiration for Idleness {
    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        state: WorkerStatus,
        start: Instant,
    ) -> Poll<()> {
        if state != WorkerStatus::Idle {
            return Poll::Pending;
        }
        let end = (start + IDLE_TIMEOUT).into();
        if end != self.0.deadline() {
            self.0.as_mut().reset(end);
        }
        self.0.as_mut().poll(context)
    }
}

struct Worker;

impl WorkerState for Worker {
    type StoreData = InstanceState;
    type RequestData = ();

    fn should_accept_request(&self, concurrent_count: usize, total_count: usize) -> ShouldAccept {
        if total_count >= REQUESTS_PER_INSTANCE {
            ShouldAccept::Never
        } else if concurrent_count >= CONCURRENT_REQUESTS {
            ShouldAccept::No
        } else {
            ShouldAccept::Yes
        }
    }

    fn on_request_start(
        &self,
        _: StoreContextMut<'_, InstanceState>,
        (): (),
        _: GuestTaskId,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        // Spin gives a request no end unless it is told one.
        Box::pin(pending())
    }

    fn drop(&self, store: Store<InstanceState>, result: wasmtime::Result<()>) {
        if let Err(error) = result {
            tracing::error!("an instance has failed: {error:?}");
        }
        drop(store);
    }
}
