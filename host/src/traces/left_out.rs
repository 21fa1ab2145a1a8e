//! The export of traces, in a program that was built without it.

use std::convert::Infallible;

use tracing::Subscriber;
use tracing_subscriber::layer::{Identity, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::settings::TelemetrySettings;

/// Never one.
#[derive(Debug)]
pub struct Exporter(Infallible);

/// The program was built without its feature `otlp`.
#[derive(Debug, thiserror::Error)]
#[error("this program was built without its feature `otlp`")]
pub struct ExporterError;

impl Exporter {
    /// `None` where no collector is set.
    ///
    /// # Errors
    ///
    /// Where one is set.
    pub fn start(settings: &TelemetrySettings, _: &str) -> Result<Option<Self>, ExporterError> {
        match settings.traces_url {
            None => Ok(None),
            Some(_) => Err(ExporterError),
        }
    }

    /// Takes nothing.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        Identity::new()
    }
}
