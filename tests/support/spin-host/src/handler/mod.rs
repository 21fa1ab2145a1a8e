//! Giving requests to a component, as Spin does for the WASI version of its handler.

mod fresh;
mod reused;

use anyhow::{Context, Result};
use wasmtime::component::InstancePre;
use wasmtime_wasi_http::WasiBody;
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::state::{Grants, InstanceState};

/// A component that answers requests.
pub enum Handler {
    /// `wasi:http/handler@0.3`: instances serve many requests.
    Reused(reused::Reused),
    /// `wasi:http/incoming-handler@0.2`: every request has an instance of its own.
    Fresh(Box<fresh::Fresh>),
}

impl Handler {
    /// The handler that the component exports.
    ///
    /// # Errors
    ///
    /// When it exports none that Spin knows.
    pub fn new(component: InstancePre<InstanceState>, grants: Grants) -> Result<Self> {
        if let Ok(service) = ServicePre::new(component.clone()) {
            return Ok(Self::Reused(reused::Reused::new(service, grants)));
        }
        let proxy = ProxyPre::new(component).map_err(anyhow::Error::from).context(
            "the component exports neither wasi:http/handler@0.3 nor wasi:http/incoming-handler@0.2",
        )?;
        Ok(Self::Fresh(Box::new(fresh::Fresh::new(proxy, grants))))
    }

    /// The component's answer.
    ///
    /// # Errors
    ///
    /// When the component traps or gives none.
    pub async fn handle(
        &self,
        request: http::Request<WasiBody>,
    ) -> wasmtime::Result<http::Response<WasiBody>> {
        match self {
            Self::Reused(handler) => handler.handle(request).await,
            Self::Fresh(handler) => handler.handle(request).await,
        }
    }
}
