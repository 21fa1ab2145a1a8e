//! The time that a login or renewal, or one question of it, may take.

use std::time::Duration;

use gatehouse_ports::Clock;

/// For one login or renewal, with all its questions.
const LOGIN_LIMIT: Duration = Duration::from_secs(20);

/// The point in time by which everything must be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(u64);

impl Deadline {
    /// For a login or renewal that begins now.
    pub(crate) fn of_login(clock: &impl Clock) -> Self {
        Self::after(clock, LOGIN_LIMIT)
    }

    pub(super) fn after(clock: &impl Clock, limit: Duration) -> Self {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Self(clock.now_milliseconds().saturating_add(limit))
    }

    /// `None` when no time is left.
    pub(super) fn time_left(self, clock: &impl Clock) -> Option<Duration> {
        let left = self.0.saturating_sub(clock.now_milliseconds());
        (left > 0).then(|| Duration::from_millis(left))
    }
}
