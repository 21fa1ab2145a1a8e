//! Background work by sampling: Spin calls no component by the clock, so some requests are followed by a background duty.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_ports::{Clock, Random};

/// Each duty follows one in so many requests where they are rare. A duty rarely finds work, but looking for it takes reads that should not
/// burden every request.
pub const ONE_IN: u64 = 64;

/// How many milliseconds a busy instance leaves between two times that it sees to a duty, on average. Spin gives an instance a hundred requests
/// and more, in less than a second where there are many, so that requests alone would say nothing about time.
const PERIOD: u64 = 20_000;

/// Duties that find out what a host shows in its metrics, and nothing else: Spin has nowhere to show it.
const FOR_METRICS: [&str; 2] = ["count-tokens", "look-for-plan-ends"];

/// The last request of one instance.
#[derive(Debug, Default)]
pub struct LastRequest(AtomicU64);

impl LastRequest {
    /// Before the first request.
    #[must_use]
    pub const fn none() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Notes a request. Answers that each duty is to follow one in so many such requests, or none of them: the shorter the time since the one
    /// before, the fewer.
    pub fn note(&self, clock: &impl Clock) -> Option<NonZeroU64> {
        let now = clock.now_milliseconds();
        // After a clock that was set back it is as if none had been before.
        let passed = now.abs_diff(self.0.swap(now, Ordering::Relaxed));
        let one_in = PERIOD.checked_div(passed)?;
        NonZeroU64::new(one_in.max(ONE_IN))
    }
}

/// Picks the duty that follows a request of which each follows one in so many, if any. Without randomness it is the first, so that work is done
/// too often rather than never.
#[must_use]
pub fn sampled_duty<D: Copy>(
    random: &impl Random,
    duties: &[(&'static str, D)],
    one_in: NonZeroU64,
) -> Option<D> {
    let mut drawn = [0; 8];
    let duty = match random.fill(&mut drawn) {
        Ok(()) => {
            let index = u64::from_le_bytes(drawn) % one_in;
            duties.get(usize::try_from(index).ok()?)
        }
        Err(_) => duties.first(),
    };
    let (name, duty) = duty?;
    (!FOR_METRICS.contains(name)).then_some(*duty)
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

    const DUTIES: [(&str, char); 4] = [("a", 'a'), ("count-tokens", 'x'), ("b", 'b'), ("c", 'c')];

    #[test]
    fn each_duty_follows_one_request_in_so_many_but_those_for_metrics() {
        for one_in in [ONE_IN, 300] {
            let one_in = NonZeroU64::new(one_in).unwrap();
            let times = |duty| {
                let draws = 0..10 * one_in.get();
                let followed = draws.filter(|draw| {
                    sampled_duty(&Drawn(Some(*draw)), &DUTIES, one_in) == Some(duty)
                });
                followed.count()
            };
            assert_eq!(['a', 'b', 'c', 'x'].map(times), [10, 10, 10, 0]);
        }
    }

    #[test]
    fn rare_requests_are_followed_by_each_duty_once_in_64_and_many_once_in_a_time() {
        let (last, clock) = (LastRequest::none(), ManualClock::at_seconds(1_000));
        let after = |milliseconds| {
            clock.advance(Duration::from_millis(milliseconds));
            last.note(&clock).map(NonZeroU64::get)
        };
        assert_eq!(after(0), Some(ONE_IN), "the first of an instance");
        assert_eq!(after(60_000), Some(ONE_IN));
        assert_eq!(after(400), Some(ONE_IN));
        assert_eq!(after(50), Some(400));
        assert_eq!(after(1), Some(PERIOD));
        assert_eq!(after(0), None);
        let back = ManualClock::at_seconds(10);
        assert_eq!(last.note(&back).map(NonZeroU64::get), Some(ONE_IN));
    }

    /// Whatever the pace of requests is, as long as they are not rare.
    #[test]
    fn the_chances_of_a_busy_time_add_up_to_one_for_each_period() {
        for pace in [1, 5, 40, 200] {
            let (last, clock) = (LastRequest::none(), ManualClock::at_seconds(1_000));
            last.note(&clock);
            let chances = (0..PERIOD / pace).filter_map(|_| {
                clock.advance(Duration::from_millis(pace));
                last.note(&clock)
            });
            let sum: u64 = chances.map(|one_in| 1_000_000 / one_in).sum();
            assert!(sum.abs_diff(1_000_000) < 50_000, "{pace}: {sum}");
        }
    }

    #[test]
    fn without_randomness_the_first_duty_is_done() {
        let one_in = NonZeroU64::new(ONE_IN).unwrap();
        assert_eq!(sampled_duty(&Drawn(None), &DUTIES, one_in), Some('a'));
    }
}
