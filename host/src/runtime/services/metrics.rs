//! The import `gatehouse:host/metrics`: metrics of the server.

use std::sync::Arc;

use wasmtime::component::Linker;

use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/metrics@0.1.0";

/// The host's counters, as components see them. The WIT interface is the specification.
pub trait Metrics: Send + Sync {
    /// Adds `by` to a counter, if it is known.
    fn count(&self, counter: &str, labels: &[(String, String)], by: u64);

    /// Sets a gauge, if it is known.
    fn set(&self, gauge: &str, value: u64);

    /// All numbers in the text format of Prometheus.
    fn exposition(&self) -> String;
}

/// Keeps no numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMetrics;

impl Metrics for NoMetrics {
    fn count(&self, _: &str, _: &[(String, String)], _: u64) {}

    fn set(&self, _: &str, _: u64) {}

    fn exposition(&self) -> String {
        String::new()
    }
}

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    metrics: &Arc<dyn Metrics>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(metrics);
    instance.func_wrap(
        "count",
        move |_, (counter, labels, by): (String, Vec<(String, String)>, u64)| {
            bound.count(&counter, &labels, by);
            Ok(())
        },
    )?;
    let bound = Arc::clone(metrics);
    instance.func_wrap("set", move |_, (gauge, value): (String, u64)| {
        bound.set(&gauge, value);
        Ok(())
    })?;
    let bound = Arc::clone(metrics);
    instance.func_wrap("exposition", move |_, ()| Ok((bound.exposition(),)))
}
