//! Checks at the start that need more than the settings and the files they name (SEC-O5).

use std::time::Duration;

use crate::clock::SteadyClock;

/// By how much the system's clock may lie behind the latest time in the store. Within that, the server continues from the latest time, as
/// after a clock that was put right (SEC-T6); beyond it one of the two is wrong, and no token would end in its time.
const LARGEST_LAG: Duration = Duration::from_secs(60 * 60);

/// The system's clock and the store do not agree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system's clock lies {seconds} s behind the latest time in the store; put the clock right, or, where the store's time is the wrong \
     one, reset it with `gatehouse operator clock`"
)]
pub(crate) struct ClockBehindStoreError {
    seconds: u64,
}

/// Compares the system's clock with the latest time in the store, as far as that was open to be read.
///
/// # Errors
///
/// When it lies more than an hour behind.
pub(crate) fn check_clock(clock: &SteadyClock) -> Result<(), ClockBehindStoreError> {
    match clock.lag() {
        lag if lag > LARGEST_LAG => Err(ClockBehindStoreError {
            seconds: lag.as_secs(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gatehouse_ports::{Change, Clock, Put, SystemClock};
    use gatehouse_store::{Backend, MemoryBackend, Namespace};

    use super::*;
    use crate::metrics::ServerMetrics;

    /// The check's message where the latest time in the store lies so many seconds ahead of the system's.
    async fn checked(ahead: i64) -> Result<(), ClockBehindStoreError> {
        let backend = MemoryBackend::new(Arc::new(SystemClock));
        let now = i64::try_from(SystemClock.now_milliseconds()).unwrap();
        let mark = u64::try_from(now + ahead * 1000).unwrap();
        let put = Change::Put(Put {
            key: "clock".to_owned(),
            value: mark.to_be_bytes().to_vec(),
            expires_at: None,
        });
        let stored = backend.commit(Namespace::Host, Vec::new(), vec![put]).await;
        stored.unwrap();
        let clock = SteadyClock::new(Arc::new(ServerMetrics::new()));
        clock.keep(&backend).await.unwrap();
        check_clock(&clock)
    }

    #[tokio::test]
    async fn o5_a_clock_far_behind_the_mark_of_the_store_stops_the_start() {
        for ahead in [-365 * 24 * 3600, 0, 300, 3500] {
            assert_eq!(checked(ahead).await, Ok(()), "{ahead}");
        }
        let refused = checked(365 * 24 * 3600).await.unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("gatehouse operator clock"), "{text}");
        assert!(checked(3700).await.is_err());
    }
}
