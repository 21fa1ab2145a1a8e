//! The way from `wasi:http/outgoing-handler` to [`Outbound`].

use std::sync::Arc;

use http::{Request, Response};
use tracing::Instrument as _;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::Outbound;
use crate::listener::{RequestId, in_request};

type Driver = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sending = Box<dyn Future<Output = Result<(Response<WasiBody>, Driver), Error>> + Send>;

/// The part of an instance's store that sends requests; cheap to make for every instance.
#[derive(Clone)]
pub struct OutboundHooks(Arc<Outbound>);

impl OutboundHooks {
    /// Sends by `outbound`, which all instances share.
    #[must_use]
    pub fn new(outbound: Arc<Outbound>) -> Self {
        Self(outbound)
    }
}

impl WasiHttpHooks for OutboundHooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Driver,
    ) -> Sending {
        let outbound = Arc::clone(&self.0);
        let sending = async move {
            let answer = outbound.send(request, options).await?;
            // The pool drives its connections by itself.
            Ok((answer, Box::new(std::future::ready(Ok(()))) as Driver))
        };
        // It becomes a task of its own.
        Box::new(in_request(RequestId::current(), sending.in_current_span()))
    }

    /// The client writes the header itself, as the protocol of the connection wants it.
    fn set_host_header(&mut self) -> bool {
        false
    }
}
