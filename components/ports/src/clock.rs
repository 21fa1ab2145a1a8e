//! The time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time of day, as far as the host lets the capability know it.
pub trait Clock {
    /// Milliseconds since 1970-01-01T00:00Z.
    fn now_milliseconds(&self) -> u64;

    /// Whole seconds since 1970-01-01T00:00Z.
    fn now_seconds(&self) -> u64 {
        self.now_milliseconds() / 1000
    }

    /// The time by which what has expired may be deleted. It is earlier than the present one while that is in doubt: what has expired by
    /// it is refused, and deleted once it is certain.
    fn certain_milliseconds(&self) -> u64 {
        self.now_milliseconds()
    }

    /// Blocks the caller, and no other, for `duration`.
    fn sleep(&self, duration: Duration);
}

/// The clock of the operating system, or of the WASI host.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_milliseconds(&self) -> u64 {
        // A clock before 1970 counts as 1970: everything then reads as not yet valid, never as still valid.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}
