//! The time of day that never goes back (SEC-T6).
//!
//! An expired record must not come to life again because the clock was set back: not while the server runs, nor over a restart.
//! So the server's time is the system's, or, where that lies behind the latest time so far, that latest time advanced at the rate of the
//! monotonic clock. The latest time is written into the store at intervals, and read at the start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gatehouse_ports::{
    Change, Check, Clock, CommitError, Put, Requirement, StoreError, SystemClock, Version,
};
use gatehouse_store::{Backend, Namespace, SharedClock};
use wasmtime_wasi::HostWallClock;

/// Where the latest time is kept: 8 bytes, big-endian, in milliseconds since 1970.
const MARK_KEY: &str = "clock";

/// How often the latest time is kept. A clock that is set back while the server is down brings back what expired within this time at most.
pub const KEEPING_INTERVAL: Duration = Duration::from_secs(10);

/// By how much the system's clock may be ahead of the passing of time until that counts as a step, which is logged.
const FORWARD_STEP: Duration = Duration::from_secs(5 * 60);
/// How long a step forward has to last before the new time is kept: a clock that was wrong at the start of the machine has usually been
/// corrected by then, and a restart undoes a step that was not kept.
const STANDING: Duration = Duration::from_secs(10 * 60);
/// By how much the time may be ahead of the kept one without a witness that agrees, or [`UNWITNESSED_STANDING`].
const BELIEVED_STEP: Duration = Duration::from_secs(60 * 60);
/// How long a larger step has to last without a witness, and for how long the answer of a witness counts.
const UNWITNESSED_STANDING: Duration = Duration::from_secs(24 * 60 * 60);
/// By how much the time may be ahead of the witness's, whose answer took a while.
const WITNESS_TOLERANCE: Duration = Duration::from_secs(5 * 60);
/// By how much the system's clock may be behind until that counts as a step: a synchronized clock is slowed down a little now and then.
const BACKWARD_STEP: Duration = Duration::from_secs(1);

/// The times that the clocks of the machine show.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Milliseconds since 1970.
    system: u64,
    /// Time by the monotonic clock, which no change of the system's clock affects.
    elapsed: Duration,
}

/// The observer of the steps and doubts of the system's clock, which counts them.
pub trait ClockWatch: Send + Sync {
    /// The system's clock was set: forward if `forward` is true, else backward.
    fn stepped(&self, forward: bool);

    /// Tells whether the system's clock is far ahead without a witness that agrees.
    fn doubted(&self, doubted: bool);
}

/// A clock that never goes back.
pub struct SteadyClock {
    read: Box<dyn Fn() -> Reading + Send + Sync>,
    state: Mutex<State>,
    watch: Arc<dyn ClockWatch>,
}

struct State {
    /// The latest time so far, and when that was.
    latest: Reading,
    /// True if the operator was told that the system's clock is behind that.
    behind: bool,
    /// The time by the monotonic clock at the last step forward; the start counts as one.
    stepped_at: Duration,
    /// The time that was last heard from a witness, and when.
    witnessed: Option<Reading>,
    /// The time that was last kept, and when. `None` before the first.
    kept: Option<Reading>,
    /// True if the operator was told that the time is doubted.
    doubted: bool,
}

impl SteadyClock {
    /// A clock that starts with the system's time. Steps are told to `watch`.
    #[must_use]
    pub fn new(watch: Arc<dyn ClockWatch>) -> Self {
        let start = Instant::now();
        let read = move || Reading {
            system: SystemClock.now_milliseconds(),
            elapsed: start.elapsed(),
        };
        Self::reading(Box::new(read), watch)
    }

    fn reading(read: Box<dyn Fn() -> Reading + Send + Sync>, watch: Arc<dyn ClockWatch>) -> Self {
        let latest = read();
        let state = State {
            latest,
            behind: false,
            stepped_at: latest.elapsed,
            witnessed: None,
            kept: None,
            doubted: false,
        };
        Self {
            read,
            state: Mutex::new(state),
            watch,
        }
    }

    /// Raises this clock to the latest time that is kept in `backend`, if the system has not reached it yet, and keeps the present time.
    ///
    /// To be called at the start, before anything is decided by this clock, and every [`KEEPING_INTERVAL`] from then on. Hosts that share a
    /// store share its latest time.
    ///
    /// # Errors
    ///
    /// When the backend does not answer, sealed included.
    pub async fn keep(&self, backend: &dyn Backend) -> Result<(), StoreError> {
        let kept = read_mark(backend).await?;
        if let Some((mark, _)) = kept {
            self.raise_to(mark);
        }
        let (now, version) = (self.now(), kept.map(|(_, version)| version));
        let mark = match kept {
            Some((mark, _)) => self.proven(mark, now),
            None => now,
        };
        self.note_kept(mark, now);
        write_mark(backend, mark, version).await
    }

    /// By how much the system's clock lies behind the latest time so far.
    #[must_use]
    pub fn lag(&self) -> Duration {
        let state = self.lock();
        let system = (self.read)().system;
        Duration::from_millis(state.latest.system.saturating_sub(system))
    }

    /// Notes the time by the clock of another machine, in milliseconds since 1970: a step forward that it agrees with is kept, and one that
    /// it contradicts is not, however long the step lasts.
    pub fn witness(&self, time: u64) {
        let mut state = self.lock();
        let elapsed = (self.read)().elapsed;
        state.witnessed = Some(Reading {
            system: time,
            elapsed,
        });
    }

    /// True if the time is so far ahead of the kept one that nothing may be deleted because of it, as no witness has agreed and the step has
    /// not lasted long enough. Also true until the time has been compared with the kept one for the first time.
    pub fn is_doubted(&self) -> bool {
        let now = self.now();
        let state = self.lock();
        state.mark().is_none_or(|mark| state.doubts(mark, now))
    }

    fn note_kept(&self, mark: u64, now: u64) {
        let mut state = self.lock();
        state.kept = Some(Reading {
            system: mark,
            elapsed: state.latest.elapsed,
        });
        let ahead = now.saturating_sub(mark);
        let doubted = state.doubts(mark, now);
        if doubted && !state.doubted {
            tracing::warn!(
                seconds = ahead / 1000,
                "the system's clock is far ahead of the latest time that the store remembers, and no witness agrees: expired tokens are refused, but background work deletes nothing until Google's answers agree or the clock has stood for 24 hours"
            );
        }
        state.doubted = doubted;
        self.watch.doubted(doubted);
    }

    /// The time to be kept in place of `mark`: `now` once no step forward is recent or a witness agrees, and before that `mark` advanced by
    /// the time that has certainly passed.
    fn proven(&self, mark: u64, now: u64) -> u64 {
        let state = self.lock();
        let standing = state.latest.elapsed.saturating_sub(state.stepped_at);
        if !state.doubts(mark, now)
            && (standing >= STANDING || state.witness_agrees(now) == Some(true))
        {
            return now;
        }
        now.min(mark.saturating_add(milliseconds(KEEPING_INTERVAL.min(standing))))
    }

    fn raise_to(&self, mark: u64) {
        let mut state = self.lock();
        let reading = (self.read)();
        let passed = reading.elapsed.saturating_sub(state.latest.elapsed);
        let steady = state.latest.system.saturating_add(milliseconds(passed));
        if mark <= steady.max(reading.system) {
            return;
        }
        state.latest = Reading {
            system: mark,
            ..reading
        };
        self.note_behind(&mut state, mark - reading.system);
    }

    fn now(&self) -> u64 {
        let mut state = self.lock();
        let reading = (self.read)();
        let passed = reading.elapsed.saturating_sub(state.latest.elapsed);
        let steady = state.latest.system.saturating_add(milliseconds(passed));
        if reading.system >= steady {
            let ahead = reading.system - steady;
            if ahead > milliseconds(FORWARD_STEP) {
                state.stepped_at = reading.elapsed;
                self.watch.stepped(true);
                tracing::warn!(
                    seconds = ahead / 1000,
                    "the system's clock was set forward, or the machine slept; what expires in between has expired"
                );
            }
            state.behind = false;
            state.latest = reading;
        } else {
            let behind = steady - reading.system;
            state.latest = Reading {
                system: steady,
                ..reading
            };
            if behind > milliseconds(BACKWARD_STEP) && !state.behind {
                self.note_behind(&mut state, behind);
            }
        }
        state.latest.system
    }

    fn note_behind(&self, state: &mut State, behind: u64) {
        state.behind = true;
        self.watch.stepped(false);
        tracing::error!(
            seconds = behind / 1000,
            "the system's clock is behind the latest time that this server has seen; the server goes on from that time, so that nothing that has expired is valid again"
        );
    }

    // The state is whole even after a panic elsewhere: nothing in here panics between two of its steps.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The kept time, advanced by the time that has passed since; `None` before it was first kept.
    fn mark(&self) -> Option<u64> {
        let kept = self.kept?;
        let passed = self.latest.elapsed.saturating_sub(kept.elapsed);
        Some(kept.system.saturating_add(milliseconds(passed)))
    }

    /// True if `now` is too far ahead of `mark` to be believed.
    fn doubts(&self, mark: u64, now: u64) -> bool {
        if now.saturating_sub(mark) <= milliseconds(BELIEVED_STEP) {
            return false;
        }
        match self.witness_agrees(now) {
            Some(agrees) => !agrees,
            None => self.latest.elapsed.saturating_sub(self.stepped_at) < UNWITNESSED_STANDING,
        }
    }

    /// True if `now` is not far ahead of the witness's time; `None` where no witness answered within the last day.
    fn witness_agrees(&self, now: u64) -> Option<bool> {
        let witnessed = self.witnessed?;
        let passed = self.latest.elapsed.saturating_sub(witnessed.elapsed);
        let bound = milliseconds(passed.saturating_add(WITNESS_TOLERANCE));
        (passed < UNWITNESSED_STANDING).then(|| now <= witnessed.system.saturating_add(bound))
    }
}

/// The latest time that the store of a stopped server remembers, in milliseconds since 1970; `None` for a store that remembers none.
///
/// # Errors
///
/// When the backend does not answer, sealed included.
pub async fn remembered(backend: &dyn Backend) -> Result<Option<u64>, StoreError> {
    Ok(read_mark(backend).await?.map(|(mark, _)| mark))
}

/// Stores `time`, in milliseconds since 1970, as the latest time in the store of a stopped server. Where it is earlier than the one before,
/// records that expired in between are valid again, as far as they still exist.
///
/// # Errors
///
/// When the backend does not answer, sealed included.
pub async fn remember(backend: &dyn Backend, time: u64) -> Result<(), StoreError> {
    let version = read_mark(backend).await?.map(|(_, version)| version);
    write_mark(backend, time, version).await
}

async fn read_mark(backend: &dyn Backend) -> Result<Option<(u64, Version)>, StoreError> {
    let found = backend.get(Namespace::Host, &[MARK_KEY]).await?;
    let Some(entry) = found.into_iter().next().flatten() else {
        return Ok(None);
    };
    let mark = <[u8; 8]>::try_from(entry.value.as_slice());
    let mark = mark.map_err(|_| StoreError::Corrupt(MARK_KEY.to_owned()))?;
    Ok(Some((u64::from_be_bytes(mark), entry.version)))
}

async fn write_mark(
    backend: &dyn Backend,
    now: u64,
    version: Option<Version>,
) -> Result<(), StoreError> {
    let check = Check {
        key: MARK_KEY.to_owned(),
        requirement: version.map_or(Requirement::Absent, Requirement::AtVersion),
    };
    let put = Change::Put(Put {
        key: MARK_KEY.to_owned(),
        value: now.to_be_bytes().to_vec(),
        expires_at: None,
    });
    match backend
        .commit(Namespace::Host, vec![check], vec![put])
        .await
    {
        // Another host has just kept its time, which is as good.
        Ok(()) | Err(CommitError::Conflict(_)) => Ok(()),
        Err(CommitError::Failed(error)) => Err(error),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Clock for SteadyClock {
    fn now_milliseconds(&self) -> u64 {
        self.now()
    }

    fn certain_milliseconds(&self) -> u64 {
        let now = self.now();
        let state = self.lock();
        match state.mark() {
            Some(mark) if state.doubts(mark, now) => mark,
            Some(_) => now,
            None => 0,
        }
    }

    fn sleep(&self, duration: Duration) {
        SystemClock.sleep(duration);
    }
}

/// The same clock as a component sees it.
pub struct WallClock(pub SharedClock);

impl HostWallClock for WallClock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.0.now_milliseconds())
    }
}

#[cfg(test)]
mod tests;
