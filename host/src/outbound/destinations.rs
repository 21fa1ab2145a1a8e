//! The state of the hosts that are called: how many calls are under way, and whether they fail.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Uri;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::breaker::{Breaker, Change, Outcome, Pass};

/// Hosts that are remembered at one time, unless more of them are called at that time.
const MAXIMUM_HOSTS: usize = 1024;

/// Every host with its port that is being called, or has failed lately.
pub(super) struct Destinations {
    calls_per_host: usize,
    now: Now,
    hosts: Mutex<HashMap<String, Arc<Destination>>>,
}

/// The clock by which hosts are left alone and tried again.
pub(super) type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

/// One host.
pub(super) struct Destination {
    now: Now,
    /// A permit for each call that may be under way.
    pub(super) calls: Semaphore,
    breaker: Mutex<Breaker>,
}

impl Destinations {
    pub(super) fn new(calls_per_host: usize, now: Now) -> Self {
        Self {
            calls_per_host,
            now,
            hosts: Mutex::default(),
        }
    }

    pub(super) fn destination(&self, uri: &Uri) -> Arc<Destination> {
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(destination) = hosts.get(host) {
            return Arc::clone(destination);
        }
        if hosts.len() >= MAXIMUM_HOSTS {
            forget(&mut hosts);
        }
        let destination = Arc::new(Destination {
            now: Arc::clone(&self.now),
            calls: Semaphore::new(self.calls_per_host),
            breaker: Mutex::new(Breaker::new()),
        });
        hosts.insert(host.to_owned(), Arc::clone(&destination));
        destination
    }
}

/// Forgets hosts without a call under way: those that are well, and only where that is not enough those that are not.
fn forget(hosts: &mut HashMap<String, Arc<Destination>>) {
    let is_called = |destination: &Arc<Destination>| Arc::strong_count(destination) > 1;
    hosts.retain(|_, destination| is_called(destination) || !destination.breaker().is_like_new());
    if hosts.len() >= MAXIMUM_HOSTS {
        hosts.retain(|_, destination| is_called(destination));
    }
}

impl Destination {
    /// True if a call would be turned away now.
    pub(super) fn is_shut(&self) -> bool {
        self.breaker().is_shut((self.now)())
    }

    /// Lets a call out, or does not.
    pub(super) fn admit(&self) -> Option<Pass> {
        self.breaker().admit((self.now)())
    }

    /// Takes note of how the call with `pass` went.
    pub(super) fn record(&self, pass: Pass, outcome: Outcome) -> Option<Change> {
        self.breaker().record(pass, outcome, (self.now)())
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(number: usize) -> Uri {
        format!("https://host-{number}.example.com/")
            .parse()
            .unwrap()
    }

    #[test]
    fn n7_the_hosts_that_are_remembered_are_bounded_and_failing_ones_stay_longest() {
        let destinations = Destinations::new(1, Arc::new(Instant::now));
        let failing = destinations.destination(&uri(0));
        let pass = failing.admit().unwrap();
        failing.record(pass, Outcome::Failed);
        drop(failing);
        let called = destinations.destination(&uri(1));
        for number in 2..3 * MAXIMUM_HOSTS {
            destinations.destination(&uri(number));
        }
        assert!(Arc::ptr_eq(&called, &destinations.destination(&uri(1))));
        assert!(!destinations.destination(&uri(0)).breaker().is_like_new());
        let hosts = destinations.hosts.lock().unwrap();
        assert!(hosts.len() <= MAXIMUM_HOSTS, "{}", hosts.len());
    }
}
