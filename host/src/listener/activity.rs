//! What a connection is doing: whether it is idle, and whether its client abandons more requests than it may (SEC-H6).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The state of one connection, shared by its driver and its requests.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    running: AtomicUsize,
    started: AtomicU64,
    /// Milliseconds from `opened` to the end of the last request, or to when the client took a part of an answer after that.
    last_end: AtomicU64,
    abandoned: Mutex<Budget>,
    exhausted: Notify,
}

impl Activity {
    /// A connection that has just been opened. `burst` requests may be abandoned at once and `per_second` more each second.
    pub(super) fn new(burst: usize, per_second: usize) -> Self {
        let opened = Instant::now();
        Self {
            opened,
            running: AtomicUsize::new(0),
            started: AtomicU64::new(0),
            last_end: AtomicU64::new(0),
            abandoned: Mutex::new(Budget {
                available: burst as f64,
                burst: burst as f64,
                per_second: per_second as f64,
                refilled: opened,
            }),
            exhausted: Notify::new(),
        }
    }

    /// Begins a request and tells its number, counted from one.
    pub(super) fn begin(&self) -> (Running<'_>, u64) {
        self.running.fetch_add(1, Ordering::Relaxed);
        let running = Running {
            activity: self,
            finished: false,
        };
        (running, self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// How long there has been no request; zero while there is one.
    pub(super) fn idle_for(&self) -> Duration {
        if self.running.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last_end = Duration::from_millis(self.last_end.load(Ordering::Relaxed));
        self.opened.elapsed().saturating_sub(last_end)
    }

    /// Says that the client takes what is sent to it.
    pub(super) fn progressed(&self) {
        let elapsed = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_end.fetch_max(elapsed, Ordering::Relaxed);
    }

    /// Waits until the client has abandoned too many requests.
    pub(super) async fn exhausted(&self) {
        self.exhausted.notified().await;
    }

    fn end(&self, finished: bool) {
        self.progressed();
        self.running.fetch_sub(1, Ordering::Relaxed);
        if !finished {
            let mut budget = self
                .abandoned
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if !budget.spend(Instant::now()) {
                self.exhausted.notify_one();
            }
        }
    }
}

/// A request in work; dropping it unfinished means that the client abandoned it.
pub(super) struct Running<'a> {
    activity: &'a Activity,
    finished: bool,
}

impl Running<'_> {
    /// The request has its answer.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.activity.end(self.finished);
    }
}

/// A token bucket.
#[derive(Debug)]
struct Budget {
    available: f64,
    burst: f64,
    per_second: f64,
    refilled: Instant,
}

impl Budget {
    fn spend(&mut self, now: Instant) -> bool {
        let refill = now.duration_since(self.refilled).as_secs_f64() * self.per_second;
        self.available = (self.available + refill).min(self.burst);
        self.refilled = now;
        if self.available < 1.0 {
            return false;
        }
        self.available -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h6_a_burst_of_abandoned_requests_is_followed_by_a_steady_rate() {
        let start = Instant::now();
        let mut budget = Budget {
            available: 100.0,
            burst: 100.0,
            per_second: 33.0,
            refilled: start,
        };
        let spent = |budget: &mut Budget, now| (0..1000).filter(|_| budget.spend(now)).count();
        assert_eq!(spent(&mut budget, start), 100);
        assert_eq!(spent(&mut budget, start + Duration::from_secs(1)), 33);
        assert_eq!(spent(&mut budget, start + Duration::from_secs(3600)), 100);
    }

    #[test]
    fn a_connection_with_a_request_is_not_idle() {
        let activity = Activity::new(1, 1);
        let (running, ordinal) = activity.begin();
        assert_eq!(ordinal, 1);
        assert_eq!(activity.idle_for(), Duration::ZERO);
        running.finish();
        assert_eq!(activity.begin().1, 2);
    }
}
