//! A short-lived cache of the cluster of an active server, which saves frequent probes from reading the store each time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatehouse_access_api::Cluster;

/// The last time at which the server was active. No other stage is remembered, since it may end at any moment.
#[derive(Default)]
pub(crate) struct LastActive(Mutex<Option<(u64, Cluster)>>);

impl LastActive {
    /// Notes that the server was active at `now`, in milliseconds since 1970.
    pub(super) fn note(&self, now: u64, cluster: &Cluster) {
        *self.lock() = Some((now, cluster.clone()));
    }

    /// The cluster, if the server was active `within` the time before `now`. After the clock was set back, the cached value does not count.
    pub(super) fn recall(&self, within: Duration, now: u64) -> Option<Cluster> {
        let last = self.lock();
        let (noted, cluster) = last.as_ref()?;
        let age = Duration::from_millis(now.checked_sub(*noted)?);
        (age < within).then(|| cluster.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Option<(u64, Cluster)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_active_is_remembered_for_so_long_and_not_by_a_clock_that_went_back() {
        let within = Duration::from_secs(1);
        let last = LastActive::default();
        assert!(last.recall(within, 0).is_none());
        let cluster = Cluster {
            name: "gatehouse".to_owned(),
            id: "1".to_owned(),
        };
        last.note(5000, &cluster);
        for (now, is_remembered) in [(5000, true), (5999, true), (6000, false), (4999, false)] {
            assert_eq!(last.recall(within, now).is_some(), is_remembered, "{now}");
        }
    }
}
