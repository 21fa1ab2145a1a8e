//! The export of traces to a collector: OTLP over HTTP, in protobuf.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use super::TRACES;
use crate::outbound::{TrustError, client_configuration};
use crate::settings::TelemetrySettings;

/// How long the collector may take for one batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the end of the process waits for the last spans to be taken.
const LAST_SPANS_TIMEOUT: Duration = Duration::from_secs(5);

/// Why traces cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExporterError {
    /// The collector's certificate could not be checked.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The exporter refused its settings.
    #[error("telemetry.traces_url: {0}")]
    Exporter(#[from] ExporterBuildError),
}

/// Sends the spans under [`TRACES`] to a collector, in batches and by a thread of its own. Beyond 2,048 that wait, spans are dropped: no
/// request waits for the collector. What is left is sent when this is dropped.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Starts to export as `settings` say, from the server called `node`; `None` where they name no collector. No connection is made yet.
    ///
    /// Called in a runtime, whose tasks send what is exported.
    ///
    /// # Errors
    ///
    /// When the settings cannot be used.
    pub fn start(settings: &TelemetrySettings, node: &str) -> Result<Option<Self>, ExporterError> {
        let Some(url) = &settings.traces_url else {
            return Ok(None);
        };
        let tls = client_configuration("telemetry.ca_file", settings.ca_file.as_deref())?;
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        let client = OnRuntime {
            client: Arc::new(HyperClient::new(connector, EXPORT_TIMEOUT, None)),
            runtime: Handle::current(),
        };
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(url.as_str())
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(EXPORT_TIMEOUT)
            .build()?;
        let one_in = u32::try_from(settings.traces_one_in).unwrap_or(u32::MAX);
        let sampler = Sampler::TraceIdRatioBased(1.0 / f64::from(one_in));
        let resource = Resource::builder()
            .with_service_name("gatehouse")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_attribute(KeyValue::new("service.instance.id", node.to_owned()))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Watched {
                exporter,
                is_failing: AtomicBool::new(false),
            })
            .with_sampler(Sampler::ParentBased(Box::new(sampler)))
            .with_resource(resource)
            .build();
        Ok(Some(Self(provider)))
    }

    /// The layer that takes the spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("gatehouse"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target(TRACES, LevelFilter::TRACE))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_SPANS_TIMEOUT) {
            tracing::warn!(%error, "the last traces were not all exported");
        }
    }
}

/// A client whose calls are tasks of the runtime: the thread that exports has none.
#[derive(Debug)]
struct OnRuntime {
    client: Arc<HyperClient<HttpsConnector<HttpConnector>>>,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = Arc::clone(&self.client);
        let sending = async move { client.send_bytes(request).await };
        self.runtime.spawn(sending).await?
    }
}

/// An exporter whose failures are logged once, until it succeeds again.
#[derive(Debug)]
struct Watched<E> {
    exporter: E,
    is_failing: AtomicBool,
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let outcome = self.exporter.export(batch).await;
        let was_failing = self.is_failing.swap(outcome.is_err(), Ordering::Relaxed);
        match &outcome {
            Err(error) if !was_failing => {
                tracing::warn!(%error, "traces are lost: telemetry.traces_url does not take them");
            }
            Ok(()) if was_failing => tracing::info!("traces are exported again"),
            _ => {}
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
