//! The context of a trace in the header fields of requests: W3C Trace Context, `traceparent` and `tracestate`.

use http::HeaderMap;
use tracing::Span;

#[cfg(feature = "otlp")]
use opentelemetry::propagation::TextMapPropagator as _;
#[cfg(feature = "otlp")]
use opentelemetry::trace::TraceContextExt as _;
#[cfg(feature = "otlp")]
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
#[cfg(feature = "otlp")]
use opentelemetry_sdk::propagation::TraceContextPropagator;
#[cfg(feature = "otlp")]
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Makes `span` a part of the trace that `headers` name. Fields that are malformed name none.
#[cfg(feature = "otlp")]
pub(super) fn adopt(span: &Span, headers: &HeaderMap) {
    if !span.is_disabled() {
        let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
        // Fails only for a span that has begun or is taken by no exporter.
        let _ = span.set_parent(parent);
    }
}

/// Names in `headers` the trace that `span` belongs to, where it is exported.
#[cfg(feature = "otlp")]
pub(crate) fn hand_on(span: &Span, headers: &mut HeaderMap) {
    if !span.is_disabled() {
        TraceContextPropagator::new().inject_context(&span.context(), &mut HeaderInjector(headers));
    }
}

/// Gives a span another name than it began with. The layer takes a name at the beginning alone.
#[cfg(feature = "otlp")]
pub(super) fn rename(span: &Span, name: String) {
    span.context().span().update_name(name);
}

/// Does nothing: this program exports no traces.
#[cfg(not(feature = "otlp"))]
pub(super) fn rename(_: &Span, _: String) {}

/// Does nothing: this program exports no traces.
#[cfg(not(feature = "otlp"))]
pub(super) fn adopt(_: &Span, _: &HeaderMap) {}

/// Does nothing: this program exports no traces.
#[cfg(not(feature = "otlp"))]
pub(crate) fn hand_on(_: &Span, _: &mut HeaderMap) {}
