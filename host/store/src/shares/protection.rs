//! The time for which ceremonies are protected from all origins but the one that began them.
//!
//! Every caller may begin a ceremony, and there is room for one of a kind. So an origin is protected for ten minutes of each hour, all of
//! its ceremonies together: a caller that begins them without bringing them to an end keeps holders of shares out no longer than that, for
//! a ceremony that is not protected can be cancelled by any caller. Shares that were given prove nothing, since a wrong one shows only
//! among enough others.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// For how long an origin is protected in one period.
const PROTECTED: Duration = Duration::from_secs(10 * 60);
const PERIOD: Duration = Duration::from_secs(60 * 60);

/// How many origins are remembered. Beyond them, new ones are not protected.
const MAXIMUM_ORIGINS: usize = 1024;

/// The time for which origins are still protected.
#[derive(Default)]
pub struct Protection {
    origins: HashMap<String, Remaining>,
}

struct Remaining {
    /// When the period began.
    since: Instant,
    left: Duration,
}

impl Protection {
    /// Takes all the time that `origin` has left: the ceremony that it begins now is protected for so long.
    pub fn take(&mut self, origin: &str, now: Instant) -> Duration {
        self.origins
            .retain(|_, remaining| now.saturating_duration_since(remaining.since) < PERIOD);
        if let Some(remaining) = self.origins.get_mut(origin) {
            return std::mem::take(&mut remaining.left);
        }
        if self.origins.len() >= MAXIMUM_ORIGINS {
            return Duration::ZERO;
        }
        let taken = Remaining {
            since: now,
            left: Duration::ZERO,
        };
        self.origins.insert(origin.to_owned(), taken);
        PROTECTED
    }

    /// Gives back the time that was not needed, because the ceremony ended before.
    pub fn give_back(&mut self, origin: &str, unused: Duration) {
        if let Some(remaining) = self.origins.get_mut(origin) {
            remaining.left = remaining.left.saturating_add(unused).min(PROTECTED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "192.0.2.1";
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn k2_an_origin_is_protected_for_ten_minutes_of_each_hour() {
        let mut protection = Protection::default();
        let start = Instant::now();
        assert_eq!(protection.take(ORIGIN, start), PROTECTED);
        assert_eq!(protection.take(ORIGIN, start + SECOND), Duration::ZERO);
        assert_eq!(protection.take("198.51.100.1", start), PROTECTED);
        let later = start + PERIOD - SECOND;
        assert_eq!(protection.take(ORIGIN, later), Duration::ZERO);
        assert_eq!(protection.take(ORIGIN, start + PERIOD), PROTECTED);
    }

    #[test]
    fn k2_what_a_ceremony_did_not_need_protects_the_next_one() {
        let mut protection = Protection::default();
        let start = Instant::now();
        for _ in 0..599 {
            let taken = protection.take(ORIGIN, start);
            protection.give_back(ORIGIN, taken - SECOND);
        }
        assert_eq!(protection.take(ORIGIN, start), SECOND);
        protection.give_back(ORIGIN, PERIOD);
        assert_eq!(protection.take(ORIGIN, start), PROTECTED, "and no more");
        protection.give_back("unknown", PERIOD);
        assert_eq!(protection.origins.len(), 1);
    }

    #[test]
    fn k2_origins_that_are_remembered_are_bounded() {
        let mut protection = Protection::default();
        let start = Instant::now();
        for number in 0..MAXIMUM_ORIGINS {
            assert_eq!(protection.take(&number.to_string(), start), PROTECTED);
        }
        assert_eq!(protection.take("one more", start), Duration::ZERO);
        assert_eq!(protection.origins.len(), MAXIMUM_ORIGINS);
        assert_eq!(protection.take("one more", start + PERIOD), PROTECTED);
        assert_eq!(protection.origins.len(), 1);
    }
}
