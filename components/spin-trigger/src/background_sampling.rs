//! Background work by sampling: Spin calls no component by the clock, so some requests are followed by a background duty.

use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_ports::{Clock, Random};

/// Each duty follows one in so many requests, on average. A duty rarely finds work, but looking for it takes reads that should not burden
/// every request.
pub const ONE_IN: u64 = 64;

/// How many milliseconds an instance rests after a duty. Spin gives an instance a hundred requests and more, in less than a second where there
/// are many, and then more than one in seven would be followed by one.
const REST: u64 = 5_000;

/// The rest of one instance between two duties.
#[derive(Debug, Default)]
pub struct Rest(AtomicU64);

impl Rest {
    /// Before the first duty.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// True if it is over; it begins anew then.
    pub fn is_over(&self, clock: &impl Clock) -> bool {
        let now = clock.now_milliseconds();
        // A clock that was set back ends it.
        let is_over = now.abs_diff(self.0.load(Ordering::Relaxed)) >= REST;
        if is_over {
            self.0.store(now, Ordering::Relaxed);
        }
        is_over
    }
}

/// Picks the duty that follows this request, if any. Without randomness it is the first, so that work is done too often rather than never.
#[must_use]
pub fn sampled_duty<D: Copy>(random: &impl Random, duties: &[D]) -> Option<D> {
    let mut drawn = [0; 8];
    match random.fill(&mut drawn) {
        Ok(()) => {
            let index = u64::from_le_bytes(drawn) % ONE_IN;
            duties.get(usize::try_from(index).ok()?).copied()
        }
        Err(_) => duties.first().copied(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gatehouse_ports::RandomError;
    use gatehouse_ports::doubles::ManualClock;

    use super::*;

    struct Drawn(Option<u64>);

    impl Random for Drawn {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
            let drawn = self.0.ok_or(RandomError)?;
            bytes.copy_from_slice(&drawn.to_le_bytes());
            Ok(())
        }
    }

    #[test]
    fn each_duty_follows_one_request_in_64() {
        for duty in ["a", "b", "c"] {
            let draws = 0..10 * ONE_IN;
            let followed = draws
                .filter(|draw| sampled_duty(&Drawn(Some(*draw)), &["a", "b", "c"]) == Some(duty));
            assert_eq!(followed.count(), 10);
        }
    }

    #[test]
    fn an_instance_rests_after_a_duty() {
        let (rest, clock) = (Rest::new(), ManualClock::at_seconds(1_000));
        assert!(rest.is_over(&clock));
        clock.advance(Duration::from_millis(REST - 1));
        assert!(!rest.is_over(&clock));
        clock.advance(Duration::from_millis(1));
        assert!(rest.is_over(&clock));
        assert!(!rest.is_over(&clock));
        assert!(rest.is_over(&ManualClock::at_seconds(10)), "set back");
    }

    #[test]
    fn without_randomness_the_first_duty_is_done() {
        assert_eq!(sampled_duty(&Drawn(None), &["a", "b"]), Some("a"));
    }
}
