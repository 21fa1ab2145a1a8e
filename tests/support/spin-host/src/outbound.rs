//! Outgoing requests, which lead to this machine and nowhere else: that is where the Google of the tests is.

use std::net::IpAddr;
use std::time::Duration;

use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

/// As long as Spin waits where the guest names no time.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(600);

type Driver = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sending = Box<dyn Future<Output = Result<(Response<WasiBody>, Driver), Error>> + Send>;

/// A client that uses connections again, as Spin's does. It bounds nothing: that is left to the component.
#[derive(Clone)]
pub struct Outbound {
    client: Client<HttpConnector, WasiBody>,
    allows_loopback: bool,
}

impl Outbound {
    /// A client that calls this machine, or refuses that as well.
    pub fn new(allows_loopback: bool) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build(HttpConnector::new()),
            allows_loopback,
        }
    }

    fn admits(&self, destination: &Uri) -> bool {
        let host = destination.host().unwrap_or("");
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host == "localhost"
            || bare
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback());
        self.allows_loopback && destination.scheme() == Some(&Scheme::HTTP) && is_loopback
    }
}

impl WasiHttpHooks for Outbound {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Driver,
    ) -> Sending {
        let admitted = self.admits(request.uri());
        let client = self.client.clone();
        Box::new(async move {
            let destination = request.uri().clone();
            if !admitted {
                tracing::warn!(
                    "A component tried to make a HTTP request to a host that is not allowed: {}",
                    destination
                        .authority()
                        .map_or("", |authority| authority.as_str())
                );
                return Err(Error::HttpRequestDenied);
            }
            let first_byte = options
                .and_then(|options| options.first_byte_timeout)
                .unwrap_or(FIRST_BYTE_TIMEOUT);
            let answer = tokio::time::timeout(first_byte, client.request(request))
                .await
                .map_err(|_| Error::ConnectionReadTimeout)?
                .map_err(|error| {
                    tracing::warn!("request to {destination} failed: {error:?}");
                    if error.is_connect() {
                        Error::ConnectionRefused
                    } else {
                        Error::ConnectionTerminated
                    }
                })?;
            let answer = answer.map(|body| body.map_err(Error::Hyper).boxed_unsync());
            Ok((answer, Box::new(std::future::ready(Ok(()))) as Driver))
        })
    }
}
