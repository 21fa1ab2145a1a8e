//! The activity of a connection: whether it is idle, whether its client takes what it asked for, and whether it abandons more requests than it
//! may (SEC-H6).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// How long the server may take for a part of a body.
    making_time: Duration,
    bodies: Mutex<OpenBodies>,
    abandoned: Mutex<Budget>,
    exhausted: Notify,
}

impl Activity {
    /// A connection that has just been opened. `burst` requests may be abandoned at once and `per_second` more each second; a part of a body
    /// is made within `making_time`.
    pub(super) fn new(burst: usize, per_second: usize, making_time: Duration) -> Self {
        let opened = Instant::now();
        Self {
            opened,
            running: AtomicUsize::new(0),
            started: AtomicU64::new(0),
            last_end: AtomicU64::new(0),
            making_time,
            bodies: Mutex::default(),
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

    /// A body of which further parts follow. The client is the one to be waited for, until [`OpenBody::in_the_making`] says otherwise.
    pub(super) fn open_body(self: &Arc<Self>) -> OpenBody {
        let mut bodies = self.bodies();
        let number = bodies.next;
        bodies.next += 1;
        bodies.open.insert(number, Progress::asked_now());
        drop(bodies);
        OpenBody {
            activity: Arc::clone(self),
            number,
        }
    }

    /// How long there has been neither a request nor a part of an answer in the making; zero while there is one.
    pub(super) fn idle_for(&self) -> Duration {
        let is_made = |progress: &Progress| progress.is_made_within(self.making_time);
        if self.running.load(Ordering::Relaxed) > 0 || self.bodies().open.values().any(is_made) {
            return Duration::ZERO;
        }
        let last_end = Duration::from_millis(self.last_end.load(Ordering::Relaxed));
        self.opened.elapsed().saturating_sub(last_end)
    }

    /// For how long the client has left the next part of a body where it is; of several bodies, that of the one left longest. What other
    /// streams of the connection do does not count.
    pub(super) fn untaken_for(&self) -> Duration {
        let bodies = self.bodies();
        let untaken = bodies.open.values();
        untaken
            .map(|progress| progress.untaken_for(self.making_time))
            .max()
            .unwrap_or_default()
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

    // Nothing panics while it is held.
    fn bodies(&self) -> MutexGuard<'_, OpenBodies> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A request in progress; dropping it unfinished means that the client abandoned it.
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

/// The bodies of a connection of which further parts follow.
#[derive(Debug, Default)]
struct OpenBodies {
    next: u64,
    open: HashMap<u64, Progress>,
}

/// How far a body is.
#[derive(Debug, Clone, Copy)]
struct Progress {
    /// When the connection asked for more of it, which it does when the client has taken what came before.
    asked: Instant,
    /// True while what was asked for is still being made.
    is_made: bool,
}

impl Progress {
    fn asked_now() -> Self {
        Self {
            asked: Instant::now(),
            is_made: false,
        }
    }

    /// True if the server is the one to be waited for. Not longer than it may take: when the part is there, it is not asked for while the
    /// client takes nothing.
    fn is_made_within(&self, making_time: Duration) -> bool {
        self.is_made && self.asked.elapsed() < making_time
    }

    fn untaken_for(&self, making_time: Duration) -> Duration {
        let allowed = if self.is_made {
            making_time
        } else {
            Duration::ZERO
        };
        self.asked.elapsed().saturating_sub(allowed)
    }
}

/// A body of which further parts follow; dropped when that is no more so.
pub(super) struct OpenBody {
    activity: Arc<Activity>,
    number: u64,
}

impl OpenBody {
    /// The connection asks for more.
    pub(super) fn asked_for(&self) {
        self.set(Progress::asked_now());
    }

    /// The answer that the connection asks for is being made.
    pub(super) fn in_the_making(&self) {
        self.set(Progress {
            is_made: true,
            ..Progress::asked_now()
        });
    }

    fn set(&self, progress: Progress) {
        self.activity.progressed();
        self.activity.bodies().open.insert(self.number, progress);
    }
}

impl Drop for OpenBody {
    fn drop(&mut self) {
        self.activity.progressed();
        self.activity.bodies().open.remove(&self.number);
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
        let activity = Activity::new(1, 1, Duration::ZERO);
        let (running, ordinal) = activity.begin();
        assert_eq!(ordinal, 1);
        assert_eq!(activity.idle_for(), Duration::ZERO);
        running.finish();
        assert_eq!(activity.begin().1, 2);
    }
    #[test]
    fn a_connection_is_busy_with_a_part_for_as_long_as_the_server_may_take_for_it() {
        let patient = Arc::new(Activity::new(1, 1, Duration::from_secs(3600)));
        let body = patient.open_body();
        std::thread::sleep(Duration::from_millis(20));
        assert!(patient.untaken_for() >= Duration::from_millis(20));
        body.in_the_making();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(patient.idle_for(), Duration::ZERO);
        assert_eq!(patient.untaken_for(), Duration::ZERO);

        let strict = Arc::new(Activity::new(1, 1, Duration::from_millis(10)));
        strict.open_body().in_the_making();
        let body = strict.open_body();
        body.in_the_making();
        std::thread::sleep(Duration::from_millis(30));
        assert!(strict.untaken_for() >= Duration::from_millis(20));
        assert!(strict.idle_for() >= Duration::from_millis(20));
        drop(body);
        assert_eq!(strict.untaken_for(), Duration::ZERO);
    }
}
