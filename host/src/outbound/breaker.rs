//! A circuit breaker for hosts that fail, so that an outage costs no time here and adds no load there (SEC-N7).

use std::time::Duration;

use tokio::time::Instant;

/// The last exchanges that count.
const WINDOW: u32 = 20;
/// How many of them have failed when the breaker opens.
const FAILURES_TO_OPEN: u32 = WINDOW / 2;
/// How often a host that failed is tried again.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// How one exchange went, as far as the host's health is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The host did its work.
    Answered,
    /// No connection, no answer in time, or an answer by which the host says that it is unwell or too busy (5xx, 429).
    Failed,
}

/// A permit for a call that may go out, to be given back with its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    /// A call that was let out before the breaker changed says nothing about the time after.
    epoch: u64,
}

/// A change that the operator should know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Opened,
    Closed,
}

/// The breaker of one host. Times are handed in.
#[derive(Debug)]
pub(super) struct Breaker {
    state: State,
    epoch: u64,
}

#[derive(Debug)]
enum State {
    Closed(Window),
    Open { next_probe: Instant },
}

impl Breaker {
    /// One that lets everything through.
    pub(super) fn new() -> Self {
        Self {
            state: State::Closed(Window::default()),
            epoch: 0,
        }
    }

    /// True if a call would be turned away at `now`.
    pub(super) fn is_shut(&self, now: Instant) -> bool {
        matches!(self.state, State::Open { next_probe } if now < next_probe)
    }

    /// True if nothing is remembered that a new breaker would not know.
    pub(super) fn is_like_new(&self) -> bool {
        matches!(&self.state, State::Closed(window) if window.failures() == 0)
    }

    /// Lets a call out at `now`, or does not. An open breaker lets one probe out per [`PROBE_INTERVAL`].
    pub(super) fn admit(&mut self, now: Instant) -> Option<Pass> {
        if self.is_shut(now) {
            return None;
        }
        if let State::Open { next_probe } = &mut self.state {
            *next_probe = now + PROBE_INTERVAL;
        }
        Some(Pass { epoch: self.epoch })
    }

    /// Takes note of how the call with `pass` went that ended at `now`.
    pub(super) fn record(&mut self, pass: Pass, outcome: Outcome, now: Instant) -> Option<Change> {
        if pass.epoch != self.epoch {
            return None;
        }
        match (&mut self.state, outcome) {
            (State::Closed(window), outcome) => {
                window.add(outcome);
                if window.failures() < FAILURES_TO_OPEN || !window.is_full() {
                    return None;
                }
                let next_probe = now + PROBE_INTERVAL;
                self.enter(State::Open { next_probe });
                Some(Change::Opened)
            }
            (State::Open { .. }, Outcome::Answered) => {
                self.enter(State::Closed(Window::default()));
                Some(Change::Closed)
            }
            (State::Open { .. }, Outcome::Failed) => None,
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.epoch = self.epoch.wrapping_add(1);
    }
}

/// The outcomes of the last [`WINDOW`] exchanges, the latest in the lowest bit; a failure is a one.
#[derive(Debug, Default)]
struct Window {
    outcomes: u32,
    count: u32,
}

impl Window {
    fn add(&mut self, outcome: Outcome) {
        let bit = u32::from(outcome == Outcome::Failed);
        self.outcomes = ((self.outcomes << 1) | bit) & ((1 << WINDOW) - 1);
        self.count = WINDOW.min(self.count + 1);
    }

    fn failures(&self) -> u32 {
        self.outcomes.count_ones()
    }

    fn is_full(&self) -> bool {
        self.count == WINDOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Answered, Failed};

    fn pass(breaker: &mut Breaker, now: Instant) -> Pass {
        breaker.admit(now).unwrap()
    }

    /// Lets a call out at `now` that ends at once.
    fn exchange(breaker: &mut Breaker, outcome: Outcome, now: Instant) -> Option<Change> {
        let pass = pass(breaker, now);
        breaker.record(pass, outcome, now)
    }

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new();
        for _ in 1..WINDOW {
            assert_eq!(exchange(&mut breaker, Failed, now), None);
        }
        assert_eq!(exchange(&mut breaker, Failed, now), Some(Change::Opened));
        breaker
    }

    #[test]
    fn n7_half_of_the_last_twenty_exchanges_open_it_and_fewer_do_not() {
        let now = Instant::now();
        let mut breaker = Breaker::new();
        for number in 0..100 {
            // Nine of any twenty in a row.
            let outcome = if number % 20 < 9 { Failed } else { Answered };
            assert_eq!(exchange(&mut breaker, outcome, now), None, "{number}");
        }
        let changes: Vec<Change> = (0..10)
            .filter_map(|_| exchange(&mut breaker, Failed, now))
            .collect();
        assert_eq!(changes, [Change::Opened]);
    }

    #[test]
    fn n7_a_few_failures_after_a_start_do_not_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::new();
        for _ in 1..WINDOW {
            assert_eq!(exchange(&mut breaker, Failed, now), None);
        }
    }

    #[test]
    fn n7_an_outage_of_a_minute_costs_one_call_a_second() {
        let start = Instant::now();
        let mut breaker = opened(start);
        let mut probes = 0;
        for tenths in 1..=600 {
            let now = start + Duration::from_millis(100) * tenths;
            if let Some(pass) = breaker.admit(now) {
                probes += 1;
                assert_eq!(breaker.record(pass, Failed, now), None);
            }
        }
        assert_eq!(probes, 60);
    }

    #[test]
    fn n7_a_probe_that_never_ends_does_not_keep_the_next_one_away() {
        let start = Instant::now();
        let mut breaker = opened(start);
        let _lost = pass(&mut breaker, start + PROBE_INTERVAL);
        assert!(breaker.is_shut(start + PROBE_INTERVAL));
        assert!(breaker.admit(start + PROBE_INTERVAL * 2).is_some());
    }

    #[test]
    fn n7_a_probe_that_is_answered_closes_it_and_old_failures_are_forgotten() {
        let start = Instant::now();
        let mut breaker = opened(start);
        let later = start + PROBE_INTERVAL;
        assert_eq!(
            exchange(&mut breaker, Answered, later),
            Some(Change::Closed)
        );
        assert!(breaker.is_like_new());
        assert_eq!(exchange(&mut breaker, Failed, later), None);
        assert!(!breaker.is_shut(later));
    }

    #[test]
    fn n7_calls_from_before_it_opened_neither_close_it_nor_count_afterwards() {
        let start = Instant::now();
        let mut breaker = Breaker::new();
        let early: Vec<Pass> = (0..2).map(|_| pass(&mut breaker, start)).collect();
        for _ in 0..WINDOW {
            let _ = exchange(&mut breaker, Failed, start);
        }
        assert_eq!(breaker.record(early[0], Answered, start), None);
        assert!(breaker.is_shut(start));
        let later = start + PROBE_INTERVAL;
        let _ = exchange(&mut breaker, Answered, later);
        assert_eq!(breaker.record(early[1], Failed, later), None);
        assert!(breaker.is_like_new());
    }
}
