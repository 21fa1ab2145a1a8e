//! The state that all calls of a backend share, and the rules by which each of them is tried again.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gatehouse_ports::rules::pause;
use gatehouse_ports::{OsRandom, StoreError};

use super::confirmation::Confirmation;
use super::error::{Failure, unavailable};
use super::gathering::Gathered;
use super::holder::Epoch;
use super::reach::Reach;
use super::session::Connections;
use super::versions::Versions;
use crate::rules::SharedClock;

/// From a call to its answer, whatever the database does (SEC-S8).
pub(super) const CALL_TIME: Duration = Duration::from_millis(1900);
/// The longest that a statement is waited for: more than the second after which the server gives it up, so that there mostly is an answer.
pub(super) const STATEMENT_TIME: Duration = Duration::from_millis(1200);
/// How often a statement is tried that others got in the way of.
pub(super) const ATTEMPTS: u32 = 24;
/// The first bound of the pause before it is tried again.
pub(super) const PAUSE: Duration = Duration::from_millis(1);

pub(super) struct Shared {
    pub(super) connections: Connections,
    pub(super) clock: SharedClock,
    pub(super) versions: Versions,
    pub(super) epoch: Arc<Epoch>,
    pub(super) gathered: Gathered,
    pub(super) reach: Reach,
    pub(super) confirmation: Arc<Confirmation>,
    /// Held by the commit to the keyring that is under way: they are applied in the order of their calls, so that one comes after all that
    /// were dropped.
    pub(super) keyring: tokio::sync::Mutex<()>,
    pub(super) since_purge: Mutex<SincePurge>,
    pub(super) is_purging: AtomicBool,
}

/// Counts of what has happened since the last purge began.
pub struct SincePurge {
    pub(super) began: Instant,
    pub(super) changes: usize,
}

impl Shared {
    /// How many of the attempts of a call are taken as made. Where the last call could not reach the database, the next ones try once: they
    /// would keep those waiting who ask if there is a store.
    pub(super) fn attempts_made(&self) -> u32 {
        match self.reach.is_away() {
            true => ATTEMPTS - 1,
            false => 0,
        }
    }

    /// Waits before the next attempt, or gives up with the last failure.
    pub(super) async fn wait(
        &self,
        times: &mut u32,
        deadline: Instant,
        failure: Failure,
    ) -> Result<(), StoreError> {
        let pause = pause(PAUSE, *times, &OsRandom);
        *times = times.saturating_add(1);
        if *times >= ATTEMPTS || Instant::now() + pause >= deadline {
            return Err(self.failed(failure));
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// The error of a call that ends with this failure.
    pub(super) fn failed(&self, failure: Failure) -> StoreError {
        self.reach.note(&failure);
        failure.into()
    }

    pub(super) fn now(&self) -> i64 {
        i64::try_from(self.clock.now_milliseconds()).unwrap_or(i64::MAX)
    }

    /// Tells if the database that this server is connected to is still the one that counts.
    pub(super) fn check_standing(&self) -> Result<(), StoreError> {
        if self.epoch.has_ended() {
            return Err(superseded());
        }
        self.confirmation.check()
    }
}

pub(super) fn superseded() -> StoreError {
    unavailable(
        "a command for stopped servers has had the database meanwhile; this server must be restarted",
    )
}
