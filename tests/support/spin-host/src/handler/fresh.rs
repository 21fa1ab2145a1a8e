//! The handler of WASI 0.2: an instance for every request.

use http_body_util::BodyExt;
use tokio::sync::oneshot;
use wasmtime::error::Context;
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::{WasiBody, WasiHttpView};

use crate::state::{Grants, InstanceState};

/// Serves requests by instances that are thrown away.
pub struct Fresh {
    proxy: ProxyPre<InstanceState>,
    grants: Grants,
}

impl Fresh {
    pub(super) const fn new(proxy: ProxyPre<InstanceState>, grants: Grants) -> Self {
        Self { proxy, grants }
    }

    pub(super) async fn handle(
        &self,
        request: http::Request<WasiBody>,
    ) -> wasmtime::Result<http::Response<WasiBody>> {
        let mut store = self.grants.store(self.proxy.engine());
        let proxy = self.proxy.instantiate_async(&mut store).await?;
        let mut http = store.data_mut().http();
        let request = http.new_incoming_request(Scheme::Http, request)?;
        let (sender, receiver) = oneshot::channel();
        let outparam = http.new_response_outparam(sender)?;
        // The handler continues when the answer has begun, and when the client has gone.
        let handling = tokio::spawn(async move {
            let handler = proxy.wasi_http_incoming_handler();
            let handled = handler.call_handle(&mut store, request, outparam).await;
            if let Err(error) = &handled {
                tracing::error!("an instance has failed: {error:?}");
            }
            handled
        });
        match receiver.await {
            Ok(answer) => Ok(answer?.map(BodyExt::boxed_unsync)),
            Err(_) => {
                handling.await.context("the handling panicked")??;
                wasmtime::bail!("the component returned without an answer")
            }
        }
    }
}
