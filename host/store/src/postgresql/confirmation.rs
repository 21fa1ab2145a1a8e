//! Knowledge of whether the database still confirms writes, and which server of the database does.
//!
//! A primary that was replaced by its synchronous standby, and still runs, confirms no write any more, since the standby that it waits for
//! has left it. It continues to answer reads, from its old data. So a server whose beats are not confirmed reads nothing from the database,
//! and every server reads only over connections to the one that confirms. A refusal needs no standby: where the database refuses a beat,
//! another write that needs no room has to be confirmed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gatehouse_ports::StoreError;

use super::error::{Failure, unavailable};

/// The number of beats in a row without a confirmed write after which nothing is read: a single one may meet a moment in which the database
/// is busy.
const UNCONFIRMED: u32 = 2;

/// The time after which nothing is read, counted from the beginning of the last beat by which a write was confirmed, or of the first beat
/// where none was, however many beats there were since: this server may have stood still, or found no connection for them. Two beats in a row
/// take less.
const CONFIRMED_FOR: Duration = Duration::from_secs(10);

/// The number of beats in a row without a confirmed write, and the server of the database that confirmed the last one.
#[derive(Debug, Default)]
pub struct Confirmation {
    unconfirmed: AtomicU32,
    /// How the last of them ended.
    why: Mutex<String>,
    confirmed: Mutex<Option<Confirmed>>,
    /// The beginning of the last beat by which a write was confirmed, or of the first beat until one was; `None` before that.
    last: Mutex<Option<Instant>>,
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

    /// Notes which server of the database confirmed a write at the beat that began at `began`, or why none did.
    ///
    /// A refusal confirms nothing: a primary that was replaced refuses what it has no room for, or what it may not write any more, without
    /// its standby. A beat that was not sent, or was rolled back because of others, says nothing of the database, which may be sound and have no
    /// connection to spare: it does not count, and does not reset the count either. A primary that was replaced and takes no new connection is
    /// left after [`CONFIRMED_FOR`].
    pub fn note(&self, confirmed_by: &Result<i64, Failure>, began: Instant) {
        self.last().get_or_insert(began);
        match confirmed_by {
            Ok(started_at) => {
                *self.last() = Some(began);
                self.unconfirmed.store(0, Ordering::Release);
                self.confirm(*started_at);
            }
            Err(Failure::NotSent(_) | Failure::Again(_)) => {}
            Err(Failure::Unknown(why) | Failure::Busy(why) | Failure::Refused(why)) => {
                self.why().clone_from(why);
                self.unconfirmed.fetch_add(1, Ordering::AcqRel);
            }
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn why(&self) -> MutexGuard<'_, String> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a call that the database is to answer.
    ///
    /// # Errors
    ///
    /// While writes are not confirmed.
    pub fn check(&self) -> Result<(), StoreError> {
        self.check_at(Instant::now())
    }

    fn check_at(&self, now: Instant) -> Result<(), StoreError> {
        if self.unconfirmed.load(Ordering::Acquire) >= UNCONFIRMED {
            return Err(unavailable(format!(
                "the database confirms no writes ({}), so nothing is read from it: see that it runs, and its synchronous standby where it has \
                 one; end it if another one has been promoted in its place",
                self.why()
            )));
        }
        let is_old = |began| now.saturating_duration_since(began) > CONFIRMED_FOR;
        match self.last().is_some_and(is_old) {
            false => Ok(()),
            true => Err(unavailable(format!(
                "the database has confirmed no write of this server for {} seconds: the server stood still, or finds no connection; it goes \
                 on once a write is confirmed",
                CONFIRMED_FOR.as_secs()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unanswered() -> Result<i64, Failure> {
        Err(Failure::Unknown("no answer in time".to_owned()))
    }

    fn note(confirmation: &Confirmation, confirmed_by: &Result<i64, Failure>) {
        confirmation.note(confirmed_by, Instant::now());
    }

    #[test]
    fn s7_ten_seconds_without_a_confirmed_write_end_reading_whatever_became_of_the_beats() {
        let confirmation = Confirmation::default();
        let began = Instant::now();
        let after = |seconds| confirmation.check_at(began + Duration::from_secs(seconds));
        assert!(after(60).is_ok(), "no beat was made yet");
        confirmation.note(&Ok(1), began);
        assert!(after(10).is_ok());
        let not_sent = Err(Failure::NotSent("too many connections".to_owned()));
        confirmation.note(&not_sent, began + Duration::from_secs(5));
        assert!(after(10).is_ok());
        assert!(after(11).is_err());
        confirmation.note(&Ok(1), began + Duration::from_secs(12));
        assert!(after(13).is_ok());
    }

    #[test]
    fn s7_a_server_none_of_whose_beats_was_sent_reads_for_ten_seconds_from_the_first() {
        let confirmation = Confirmation::default();
        let began = Instant::now();
        for seconds in 0..11 {
            let not_sent = Err(Failure::NotSent("too many connections".to_owned()));
            let seconds = Duration::from_secs(seconds);
            confirmation.note(&not_sent, began + seconds);
            assert!(confirmation.check_at(began + seconds).is_ok());
        }
        let late = began + Duration::from_secs(11);
        assert!(confirmation.check_at(late).is_err());
    }

    #[test]
    fn s7_two_beats_by_which_no_write_was_confirmed_end_reading_until_one_is() {
        let refused = Err(Failure::Refused("the disk is full".to_owned()));
        let busy = Err(Failure::Busy("canceled".to_owned()));
        for last in [unanswered(), refused, busy] {
            let confirmation = Confirmation::default();
            note(&confirmation, &unanswered());
            assert!(confirmation.check().is_ok());
            note(&confirmation, &last);
            assert!(confirmation.check().is_err());
            note(&confirmation, &Ok(1));
            assert!(confirmation.check().is_ok());
        }
    }

    #[test]
    fn s7_a_server_that_reads_nothing_says_how_the_last_beat_ended() {
        let confirmation = Confirmation::default();
        note(&confirmation, &unanswered());
        note(
            &confirmation,
            &Err(Failure::Refused("the disk is full".to_owned())),
        );
        let text = confirmation.check().unwrap_err().to_string();
        assert!(text.contains("the disk is full"), "{text}");
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
    fn s7_a_beat_that_was_not_sent_neither_counts_nor_makes_up_for_one_that_does() {
        let confirmation = Confirmation::default();
        let not_sent = Err(Failure::NotSent("too many connections".to_owned()));
        let note_not_sent = || {
            for _ in 0..3 {
                note(&confirmation, &not_sent);
            }
        };
        note_not_sent();
        assert!(confirmation.check().is_ok(), "the database was not asked");
        note(&confirmation, &unanswered());
        note_not_sent();
        assert!(confirmation.check().is_ok(), "it was asked once");
        note(&confirmation, &unanswered());
        assert!(confirmation.check().is_err());
        note_not_sent();
        assert!(confirmation.check().is_err(), "no write was confirmed");
        note(&confirmation, &Ok(1));
        assert!(confirmation.check().is_ok());
    }

    #[test]
    fn an_outage_is_not_said_to_be_a_replaced_database() {
        let confirmation = Confirmation::default();
        for _ in 0..UNCONFIRMED {
            note(&confirmation, &unanswered());
        }
        let text = confirmation.check().unwrap_err().to_string();
        assert!(text.contains("no answer in time"), "{text}");
        assert!(text.contains("see that it runs"), "{text}");
        assert!(!text.contains("may have been replaced"), "{text}");
    }
}
