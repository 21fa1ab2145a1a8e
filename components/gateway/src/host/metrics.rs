//! Metrics of the server (SEC-L6).

/// The metrics that the host counts. The WIT interface is the specification.
pub trait Metrics {
    /// Adds `by` to a counter that the host knows.
    fn count(&self, counter: &str, labels: &[(&str, &str)], by: u64);

    /// Sets a gauge that the host knows.
    fn set(&self, gauge: &str, value: u64);

    /// All metrics in the text format of Prometheus; empty where none are kept.
    fn exposition(&self) -> String;
}

/// A host that keeps no metrics.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMetrics;

impl Metrics for NoMetrics {
    fn count(&self, _: &str, _: &[(&str, &str)], _: u64) {}

    fn set(&self, _: &str, _: u64) {}

    fn exposition(&self) -> String {
        String::new()
    }
}
