//! Metrics as they are registered.

use std::hash::Hash;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use prometheus_client::encoding::EncodeLabelValue;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Most series of one counter: values of its labels beyond are not counted.
pub(super) const MAXIMUM_SERIES: usize = 64;

/// Labels with their values, in the order in which they are written.
type Labels<V, const N: usize> = [(&'static str, V); N];

/// Counters of one name that differ in the values of their labels.
pub(super) struct Counters<V, const N: usize> {
    labels: [&'static str; N],
    series: Family<Labels<V, N>, Counter>,
    /// How many series there are; at times more, where two callers begin the same one.
    made: AtomicUsize,
}

impl<V: Label, const N: usize> Counters<V, N> {
    /// Adds `by` to the series of `values`, which come in the order of the labels.
    pub(super) fn add(&self, values: [V; N], by: u64) {
        let mut labels = self.labels.into_iter();
        let labels = values.map(|value| (labels.next().unwrap_or_default(), value));
        if let Some(counter) = self.series.get(&labels) {
            counter.inc_by(by);
            return;
        }
        let one_more = |made| (made < MAXIMUM_SERIES).then_some(made + 1);
        if self.made.fetch_update(Relaxed, Relaxed, one_more).is_ok() {
            self.series.get_or_create(&labels).inc_by(by);
        }
    }
}

/// A type of which a label may have values.
pub(super) trait Label:
    Clone + Eq + Hash + EncodeLabelValue + std::fmt::Debug + Send + Sync + 'static
{
}

impl Label for &'static str {}
impl Label for String {}

/// Counters that `registry` shows by `name` and `_total`. Each label comes with its values. If all labels have some, the series of all their
/// combinations begin with zero here.
pub(super) fn counters<V: Label + From<&'static str>, const N: usize>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    labels: [(&'static str, &'static [&'static str]); N],
) -> Counters<V, N> {
    let series = Family::default();
    registry.register(name, help, series.clone());
    let counters = Counters {
        labels: labels.map(|(label, _)| label),
        series,
        made: AtomicUsize::new(0),
    };
    let values = labels.map(|(_, values)| values);
    let combinations: usize = values.iter().map(|values| values.len()).product();
    for number in 0..combinations {
        if let Some(values) = combination(values, number) {
            counters.add(values.map(V::from), 0);
        }
    }
    counters
}

/// The combination of this number of one of each of `values`. There are as many as the product of their lengths.
fn combination<const N: usize>(
    values: [&[&'static str]; N],
    mut number: usize,
) -> Option<[&'static str; N]> {
    let mut chosen = [""; N];
    for (chosen, values) in chosen.iter_mut().zip(values) {
        *chosen = *values.get(number.checked_rem(values.len())?)?;
        number /= values.len();
    }
    Some(chosen)
}

/// A counter without labels, shown by `name` and `_total`.
pub(super) fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

/// A number that goes up and down.
pub(super) fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

/// How long something took, in seconds.
pub(super) fn histogram(
    registry: &mut Registry,
    name: &str,
    help: &str,
    buckets: &[f64],
) -> Histogram {
    let histogram = Histogram::new(buckets.iter().copied());
    registry.register(name, help, histogram.clone());
    histogram
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_combination_has_its_number() {
        let values: [&[&'static str]; 2] = [&["a", "b"], &["x", "y", "z"]];
        let all: BTreeSet<_> = (0..6).map(|it| combination(values, it).unwrap()).collect();
        assert_eq!(all.len(), 6);
        assert!(all.contains(&["b", "z"]));
        assert_eq!(combination([&[]], 0), None);
    }
}
