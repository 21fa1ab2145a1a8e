//! Sends the requests of components within the policy and the limits.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, DATE, HeaderMap, HeaderValue, USER_AGENT};
use http::{Request, Response, StatusCode, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::breaker::{Change, Outcome};
use super::destinations::{Destinations, Now};
use super::policy::{DestinationError, Grant, Policy};
use super::resolver::CheckedResolver;
use super::trust::{TrustError, client_configuration};
use crate::clock::SteadyClock;
use crate::metrics::ServerMetrics;
use crate::settings::{GoogleSettings, LimitsSettings};
use crate::traces;

type PooledClient = Client<HttpsConnector<HttpConnector<CheckedResolver>>, WasiBody>;

/// How long a connection without a call is kept.
const IDLE_CONNECTION_TIMEOUT: Duration = Duration::from_secs(60);

/// The one way by which components reach other machines.
///
/// Redirects are not followed and nothing is repeated that may have arrived. An answer is taken in whole before it is
/// handed out, so that a slow peer never holds more than its time, and a component waits once. A host whose calls fail is left
/// alone for a while: calls to it then end at once as refused connections.
pub struct Outbound {
    policy: Arc<Policy>,
    google: PooledClient,
    operator: PooledClient,
    loopback: PooledClient,
    metadata: PooledClient,
    destinations: Destinations,
    call_timeout: Duration,
    response_bytes: usize,
    user_agent: HeaderValue,
    metrics: Option<Arc<ServerMetrics>>,
    clock: Option<Arc<SteadyClock>>,
}

impl Outbound {
    /// Sets up the client. No connection is made.
    ///
    /// # Errors
    ///
    /// When `google.ca_file` cannot be used or TLS cannot be set up.
    pub fn new(google: &GoogleSettings, limits: &LimitsSettings) -> Result<Self, TrustError> {
        Self::with_clock(google, limits, Arc::new(Instant::now))
    }

    /// As [`Outbound::new`], where `now` tells when a host that failed is tried again.
    pub(super) fn with_clock(
        google: &GoogleSettings,
        limits: &LimitsSettings,
        now: Now,
    ) -> Result<Self, TrustError> {
        let policy = Arc::new(Policy::new(google));
        let tls = client_configuration("google.ca_file", google.ca_file.as_deref())?;
        let client = |grant| pooled_client(&policy, grant, &tls, limits);
        Ok(Self {
            google: client(Grant::Google),
            operator: client(Grant::Operator),
            loopback: client(Grant::Loopback),
            metadata: client(Grant::Metadata),
            destinations: Destinations::new(limits.outbound_calls_per_host, now),
            call_timeout: limits.outbound_timeout,
            response_bytes: limits.outbound_response_bytes,
            user_agent: HeaderValue::from_str(&google.user_agent)
                .unwrap_or_else(|_| HeaderValue::from_static("Gatehouse")),
            policy,
            metrics: None,
            clock: None,
        })
    }

    /// The same with its calls counted.
    #[must_use]
    pub fn counted_in(mut self, metrics: Arc<ServerMetrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// The same with the dates of Google's answers told to `clock`.
    #[must_use]
    pub fn witnessing_to(mut self, clock: Arc<SteadyClock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sends `request` and waits for the whole answer. `options` can shorten the time to the first byte, and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::HttpRequestDenied`] or [`Error::DestinationIpProhibited`] where the policy says no, which is logged with
    /// the setting that would say yes; otherwise what went wrong on the way.
    pub async fn send(
        &self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> Result<Response<WasiBody>, Error> {
        let result = self.traced_call(request, options).await;
        if let Some(metrics) = &self.metrics {
            metrics.called(match &result {
                Ok(answer) if answer.status().is_server_error() => "server-error",
                Ok(_) => "answered",
                Err(Error::HttpRequestDenied | Error::DestinationIpProhibited) => "denied",
                Err(_) => "failed",
            });
        }
        result
    }

    async fn traced_call(
        &self,
        mut request: Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> Result<Response<WasiBody>, Error> {
        let span = traces::outgoing_call(request.method(), request.uri());
        traces::hand_on(&span, request.headers_mut());
        let result = self.call(request, options).instrument(span.clone()).await;
        match &result {
            Ok(answer) => traces::answered(&span, answer.status()),
            Err(_) => traces::failed(&span),
        }
        result
    }

    async fn call(
        &self,
        mut request: Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> Result<Response<WasiBody>, Error> {
        let destination = request.uri().clone();
        let grant = self.policy.admit(&destination).map_err(|denial| {
            log_denial(&destination, denial);
            Error::HttpRequestDenied
        })?;
        request
            .headers_mut()
            .entry(USER_AGENT)
            .or_insert_with(|| self.user_agent.clone());

        let started = Instant::now();
        let deadline = started + self.call_timeout;
        let first_byte_deadline = options
            .and_then(|options| options.first_byte_timeout)
            .map_or(deadline, |timeout| deadline.min(started + timeout));

        let host = self.destinations.destination(&destination);
        // No call waits for a place at a host that is left alone.
        if host.is_shut() {
            return Err(Error::ConnectionRefused);
        }
        let _place = timeout_at(first_byte_deadline, host.calls.acquire())
            .await
            .map_err(|_| Error::ConnectionLimitReached)?
            .map_err(|_| Error::ConnectionLimitReached)?;
        let pass = host.admit().ok_or(Error::ConnectionRefused)?;
        let result = self
            .exchange(grant, request, first_byte_deadline, deadline)
            .await;
        let change = outcome(&result).and_then(|outcome| host.record(pass, outcome));
        if let Some(change) = change {
            log_change(&destination, change);
        }
        result
    }

    async fn exchange(
        &self,
        grant: Grant,
        request: Request<WasiBody>,
        first_byte_deadline: Instant,
        deadline: Instant,
    ) -> Result<Response<WasiBody>, Error> {
        let destination = request.uri().clone();
        let answer = timeout_at(first_byte_deadline, self.client(grant).request(request))
            .await
            .map_err(|_| Error::ConnectionReadTimeout)?
            .map_err(|error| translate(&destination, error))?;
        let (parts, body) = answer.into_parts();
        // Hosts that only the operator named, and those without TLS, are no witnesses.
        if let (Grant::Google, Some(clock), Some(date)) =
            (grant, &self.clock, date_of(&parts.headers))
        {
            clock.witness(date);
        }
        let body = timeout_at(
            deadline,
            collect(body, parts.headers.get(CONTENT_LENGTH), self.response_bytes),
        )
        .await
        .map_err(|_| Error::HttpResponseTimeout)??;
        let body = Full::new(body)
            .map_err(|never| match never {})
            .boxed_unsync();
        Ok(Response::from_parts(parts, body))
    }

    fn client(&self, grant: Grant) -> &PooledClient {
        match grant {
            Grant::Google => &self.google,
            Grant::Operator => &self.operator,
            Grant::Loopback => &self.loopback,
            Grant::Metadata => &self.metadata,
        }
    }
}

/// Each grant has connections of its own, since the grant decides which addresses a name may lead to.
fn pooled_client(
    policy: &Arc<Policy>,
    grant: Grant,
    tls: &ClientConfig,
    limits: &LimitsSettings,
) -> PooledClient {
    let mut connector =
        HttpConnector::new_with_resolver(CheckedResolver::new(Arc::clone(policy), grant));
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(limits.outbound_connect_timeout));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls.clone())
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(connector);
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_CONNECTION_TIMEOUT)
        .pool_max_idle_per_host(limits.outbound_calls_per_host)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .build(connector)
}

/// When an answer was made, by its own account, in milliseconds since 1970.
pub(super) fn date_of(headers: &HeaderMap) -> Option<u64> {
    let date = headers.get(DATE)?.to_str().ok()?;
    let date = jiff::fmt::rfc2822::parse(date).ok()?;
    u64::try_from(date.timestamp().as_millisecond()).ok()
}

/// Takes in a body, and gives up as soon as it is sure to exceed `limit` bytes.
async fn collect(
    mut body: Incoming,
    announced: Option<&HeaderValue>,
    limit: usize,
) -> Result<Bytes, Error> {
    let too_large = || Error::HttpResponseBodySize(u64::try_from(limit).ok());
    let announced: Option<usize> = announced
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }

    let mut whole = BytesMut::with_capacity(announced.unwrap_or(0));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(Error::Hyper)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if data.len() > limit - whole.len() {
            return Err(too_large());
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// The verdict of an exchange on the health of its host; `None` where the host was never reached for, by a decision made here.
fn outcome<T>(result: &Result<Response<T>, Error>) -> Option<Outcome> {
    match result {
        Ok(answer) if is_unwell(answer.status()) => Some(Outcome::Failed),
        Ok(_) | Err(Error::HttpResponseBodySize(_)) => Some(Outcome::Answered),
        Err(Error::HttpRequestDenied | Error::DestinationIpProhibited) => None,
        Err(_) => Some(Outcome::Failed),
    }
}

fn is_unwell(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn log_change(destination: &Uri, change: Change) {
    let host = destination.host().unwrap_or("");
    match change {
        Change::Opened => tracing::warn!(
            host,
            "half of the last calls failed; the host gets one call a second at most"
        ),
        Change::Closed => tracing::info!(host, "the host answers again"),
    }
}

fn log_denial(destination: &Uri, denial: DestinationError) {
    tracing::warn!(
        scheme = destination.scheme_str().unwrap_or(""),
        host = destination.host().unwrap_or(""),
        port = destination.port_u16(),
        "outgoing call denied: {denial}"
    );
}

fn translate(destination: &Uri, error: hyper_util::client::legacy::Error) -> Error {
    if let Some(denial) = cause_of_type::<DestinationError>(&error) {
        log_denial(destination, *denial);
        return Error::DestinationIpProhibited;
    }
    tracing::warn!(
        host = destination.host().unwrap_or(""),
        error = %Chain(&error),
        "outgoing call failed"
    );
    if cause_of_type::<rustls::Error>(&error).is_some() {
        return Error::TlsCertificateError;
    }
    if !error.is_connect() {
        return Error::ConnectionTerminated;
    }
    match cause_of_type::<std::io::Error>(&error).map(std::io::Error::kind) {
        Some(std::io::ErrorKind::ConnectionRefused) => Error::ConnectionRefused,
        Some(std::io::ErrorKind::TimedOut) => Error::ConnectionTimeout,
        _ => Error::DestinationUnavailable,
    }
}

/// The first error of this type among an error and its causes. An [`std::io::Error`] hides what it wraps from
/// [`StdError::source`], so that one is opened too.
fn cause_of_type<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = match error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
        {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

/// An error with all its causes on one line.
struct Chain<'a>(&'a dyn StdError);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(formatter, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
