//! Knows if the database still confirms writes, and which server of the database does.
//!
//! A primary that was replaced by its synchronous standby, and still runs, confirms no write any more, since the standby that it waits for
//! has left it. It goes on to answer reads, from what it had. So a server that is not confirmed that it runs reads nothing from it either,
//! and reads only over connections to the one that confirms.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gatehouse_ports::StoreError;

use super::error::Failure;
use super::unavailable;

/// After how many beats in a row that have no answer nothing is read: one may meet a moment in which the database is busy.
const UNANSWERED: u32 = 2;

/// How many beats in a row have no answer, and who confirmed the last write.
#[derive(Debug, Default)]
pub struct Confirmation {
    unanswered: AtomicU32,
    confirmed: Mutex<Option<Confirmed>>,
}

/// The server of the database that confirmed a write.
#[derive(Debug, Clone, Copy)]
struct Confirmed {
    /// When it started, in its own microseconds: no two servers and no two starts share that.
    started_at: i64,
    /// When it confirmed its first write, after another one had confirmed the one before.
    since: Instant,
}

impl Confirmation {
    /// Notes that a write was confirmed by the server of the database that started then.
    pub fn confirm(&self, started_at: i64) {
        let confirmed = self.confirmed.lock();
        let mut confirmed = confirmed.unwrap_or_else(PoisonError::into_inner);
        if confirmed.is_none_or(|last| last.started_at != started_at) {
            *confirmed = Some(Confirmed {
                started_at,
                since: Instant::now(),
            });
        }
    }

    /// True if the last confirmed write was confirmed by the server of the database that started then, or none was confirmed yet.
    pub fn is_by(&self, started_at: i64) -> bool {
        let confirmed = self.confirmed();
        confirmed.is_none_or(|confirmed| confirmed.started_at == started_at)
    }

    /// True if a connection that was made at `time` may lead to the server that confirmed the last write: those from before its first one were
    /// made to another.
    pub fn is_since(&self, time: Instant) -> bool {
        let confirmed = self.confirmed();
        confirmed.is_none_or(|confirmed| time >= confirmed.since)
    }

    fn confirmed(&self) -> Option<Confirmed> {
        let confirmed = self.confirmed.lock();
        *confirmed.unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the answer to a beat. One that is refused, for want of room for example, is an answer. One that was not sent says nothing of the
    /// database that connections are open to, unless the one before had no answer: a primary that was replaced may take no new connection.
    pub fn note<T>(&self, answer: &Result<T, Failure>) {
        match answer {
            Ok(_) | Err(Failure::Refused(_)) => self.unanswered.store(0, Ordering::Release),
            Err(Failure::Unknown(_) | Failure::Busy(_)) => {
                self.unanswered.fetch_add(1, Ordering::AcqRel);
            }
            Err(Failure::NotSent(_)) if self.unanswered.load(Ordering::Acquire) > 0 => {
                self.unanswered.fetch_add(1, Ordering::AcqRel);
            }
            Err(Failure::Again(_) | Failure::NotSent(_)) => {}
        }
    }

    /// Lets a call go on that is to be answered by the database.
    ///
    /// # Errors
    ///
    /// While writes are not confirmed.
    pub fn check(&self) -> Result<(), StoreError> {
        match self.unanswered.load(Ordering::Acquire) < UNANSWERED {
            true => Ok(()),
            false => Err(unavailable(
                "the database confirms no writes, so it may have been replaced: see that its synchronous standby runs, or end it if another one \
                 has been promoted in its place",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unanswered() -> Result<(), Failure> {
        Err(Failure::Unknown("no answer in time".to_owned()))
    }

    #[test]
    fn s7_two_beats_without_an_answer_end_reading_until_one_has_it() {
        let confirmation = Confirmation::default();
        confirmation.note(&unanswered());
        assert!(confirmation.check().is_ok());
        confirmation.note(&unanswered());
        assert!(confirmation.check().is_err());
        confirmation.note(&Ok(()));
        assert!(confirmation.check().is_ok());
    }

    #[test]
    fn a_database_that_refuses_a_beat_has_answered_and_one_that_cannot_be_reached_has_not_been_asked()
     {
        let confirmation = Confirmation::default();
        for _ in 0..3 {
            confirmation.note(&unanswered());
            confirmation.note(&Err::<(), _>(Failure::Refused(
                "the disk is full".to_owned(),
            )));
            confirmation.note(&unanswered());
            assert!(confirmation.check().is_ok());
            confirmation.note(&Err::<(), _>(Failure::Refused(String::new())));
        }
        for _ in 0..3 {
            confirmation.note(&Err::<(), _>(Failure::NotSent(String::new())));
        }
        assert!(confirmation.check().is_ok());
    }

    #[test]
    fn s7_connections_from_before_another_server_confirmed_a_write_are_of_no_use() {
        let confirmation = Confirmation::default();
        let before = Instant::now();
        assert!(confirmation.is_by(1) && confirmation.is_since(before));
        confirmation.confirm(1);
        assert!(confirmation.is_by(1) && !confirmation.is_by(2));
        let made = Instant::now();
        confirmation.confirm(1);
        assert!(confirmation.is_since(made), "it is the same server");
        confirmation.confirm(2);
        assert!(!confirmation.is_since(made));
        assert!(confirmation.is_since(Instant::now()));
        assert!(confirmation.is_by(2) && !confirmation.is_by(1));
    }

    #[test]
    fn s7_a_beat_that_cannot_be_sent_after_one_without_an_answer_ends_reading() {
        let confirmation = Confirmation::default();
        let not_sent = || Err::<(), _>(Failure::NotSent("too many connections".to_owned()));
        confirmation.note(&not_sent());
        confirmation.note(&unanswered());
        assert!(confirmation.check().is_ok());
        confirmation.note(&not_sent());
        assert!(confirmation.check().is_err());
        confirmation.note(&not_sent());
        assert!(confirmation.check().is_err());
        confirmation.note(&Ok(()));
        assert!(confirmation.check().is_ok());
    }
}
