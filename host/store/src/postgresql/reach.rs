//! Knows if the database could be reached lately.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::Failure;

/// How long a failure is remembered: a request that met it asks at once what kind it was.
const LATELY: Duration = Duration::from_secs(2);

/// The last time that the database could not be reached.
#[derive(Debug, Default)]
pub struct Reach(Mutex<Option<Instant>>);

impl Reach {
    /// Notes a failure, if it is one of a database that gives no answer.
    pub fn note(&self, failure: &Failure) {
        if failure.is_absence() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }

    /// True if the database could not be reached a moment ago.
    pub fn is_away(&self) -> bool {
        let failed = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|failed| failed.elapsed() < LATELY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s8_a_database_that_refuses_is_not_away() {
        let reach = Reach::default();
        reach.note(&Failure::Refused("the disk is full".to_owned()));
        assert!(!reach.is_away());
        for absence in [
            Failure::NotSent(String::new()),
            Failure::Unknown(String::new()),
            Failure::Again(String::new()),
            Failure::Busy(String::new()),
        ] {
            let reach = Reach::default();
            reach.note(&absence);
            assert!(reach.is_away(), "{absence:?}");
        }
    }
}
