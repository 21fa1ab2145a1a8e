//! Traces: the spans of a request, and of the calls that are made for it.
//!
//! A span is one of `tracing` under [`TRACES`], so its parent follows the tasks of a request. Only the layer of [`Exporter`] takes them; where
//! there is none, a span costs a look at a flag.
//!
//! The protocol has signed numbers only: another one is exported as a text.
//!
//! A span tells a route and never a path, a host and never an address: paths hold names that only the audit log may tell.

mod context;
#[cfg(feature = "otlp")]
mod exporter;
#[cfg(not(feature = "otlp"))]
mod left_out;

use http::{Extensions, Method, Request, StatusCode, Uri, Version};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, trace_span};

use crate::listener::RequestId;

pub(crate) use context::hand_on;
#[cfg(feature = "otlp")]
pub use exporter::{Exporter, ExporterError};
#[cfg(not(feature = "otlp"))]
pub use left_out::{Exporter, ExporterError};

/// The target of the spans that are exported, which no log takes. It is not the name of a module: the lines of modules are for the log.
pub const TRACES: &str = "gatehouse::span";

/// True if this program can export traces.
pub const IS_BUILT_IN: bool = cfg!(feature = "otlp");

/// The span of a request, from its head to its answer. It belongs to the trace that the client's `traceparent` names, or begins one.
pub(crate) struct RequestSpan {
    span: Span,
    method: Method,
}

impl RequestSpan {
    /// Begins the span of a request.
    pub(crate) fn begin<B>(request: &Request<B>, id: Option<&RequestId>) -> Self {
        let span = trace_span!(
            target: TRACES,
            "request",
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = request.method().as_str(),
            http.route = Empty,
            http.response.status_code = Empty,
            network.protocol.version = version(request.version()),
            gatehouse.request.id = id.map(RequestId::as_str),
        );
        context::adopt(&span, request.headers());
        Self {
            span,
            method: request.method().clone(),
        }
    }

    /// Puts the span among the extensions of the request, for [`in_span_of`]. The span ends when the last holder of the request drops it.
    pub(crate) fn attach(&self, extensions: &mut Extensions) {
        if !self.span.is_disabled() {
            extensions.insert(Attached(self.span.clone()));
        }
    }

    /// Ends the span with the answer, whose route is `None` where none took the request.
    pub(crate) fn end(self, status: StatusCode, route: Option<&str>) {
        if self.span.is_disabled() {
            return;
        }
        let method = self.method.as_str();
        match route {
            Some(route) => {
                context::rename(&self.span, format!("{method} {route}"));
                self.span.record("http.route", route);
            }
            None => context::rename(&self.span, method.to_owned()),
        }
        record_status(&self.span, status, status.is_server_error());
    }
}

/// The span of a request, among its extensions.
#[derive(Clone)]
struct Attached(Span);

/// Does `work` in the span of `request`, where it has one, and in the present span, which is that of a program around this one. A task needs
/// both: a layer of a subscriber that takes one of the two looks for it among those that the task has entered, not among their parents.
pub(crate) fn in_span_of<B, W: Future>(
    request: &Request<B>,
    work: W,
) -> impl Future<Output = W::Output> + use<B, W> {
    let attached = request.extensions().get::<Attached>();
    let span = attached.map_or_else(Span::none, |attached| attached.0.clone());
    work.in_current_span().instrument(span)
}

/// The span of one call of a function that a component exports.
pub(crate) fn component_call(interface: &str, function: &str) -> Span {
    trace_span!(
        target: TRACES,
        "component call",
        otel.name = %format_args!("{interface} {function}"),
    )
}

/// The span of one call that a component makes to its store, with as many keys or changes.
pub(crate) fn store_call(store: &str, operation: &str, count: usize) -> Span {
    trace_span!(
        target: TRACES,
        "store call",
        otel.name = %format_args!("{store} {operation}"),
        otel.status_code = Empty,
        gatehouse.store.count = i64::try_from(count).unwrap_or(i64::MAX),
    )
}

/// The span of a request to another machine.
pub(crate) fn outgoing_call(method: &Method, destination: &Uri) -> Span {
    trace_span!(
        target: TRACES,
        "outgoing call",
        otel.kind = "client",
        otel.name = method.as_str(),
        otel.status_code = Empty,
        http.request.method = method.as_str(),
        http.response.status_code = Empty,
        server.address = destination.host(),
        server.port = destination.port_u16().map(i64::from),
    )
}

/// Notes in the span of an outgoing call how it was answered.
pub(crate) fn answered(span: &Span, status: StatusCode) {
    record_status(
        span,
        status,
        status.is_client_error() || status.is_server_error(),
    );
}

/// Notes in a span that its operation failed.
pub(crate) fn failed(span: &Span) {
    span.record("otel.status_code", "ERROR");
}

fn record_status(span: &Span, status: StatusCode, is_failure: bool) {
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if is_failure {
        failed(span);
    }
}

/// The version of the protocol, as traces tell it.
fn version(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        _ => None,
    }
}
