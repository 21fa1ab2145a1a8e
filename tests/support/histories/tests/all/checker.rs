//! The checker, on histories written by hand and on small worlds that are right or wrong on purpose.

use std::time::Duration;

use fastrand::Rng;
use gatehouse_histories::{Call, Ending, Model, check};

/// A number that is written and read.
struct Register;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write(u8),
    Read,
    /// Writes the second when it finds the first.
    Swap(u8, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Value(u8),
    Written,
    Refused,
}

use Access::{Read, Swap, Write};
use Seen::{Refused, Value, Written};

impl Model for Register {
    type State = u8;
    type Operation = Access;
    type Outcome = Seen;

    fn initial(&self) -> u8 {
        0
    }

    fn step(&self, &state: &u8, operation: &Access, outcome: Option<&Seen>) -> Option<u8> {
        let (after, seen) = match *operation {
            Write(value) => (value, Written),
            Read => (state, Value(state)),
            Swap(from, to) if from == state => (to, Written),
            Swap(..) => (state, Refused),
        };
        outcome.is_none_or(|told| *told == seen).then_some(after)
    }

    fn only_observes(&self, operation: &Access, outcome: &Seen) -> bool {
        *operation == Read || *outcome == Refused
    }
}

type History = Vec<Call<Access, Seen>>;

fn at(time: u64) -> Duration {
    Duration::from_nanos(time)
}

fn call(invoked: u64, returned: u64, operation: Access, seen: Seen) -> Call<Access, Seen> {
    Call {
        invoked: at(invoked),
        operation,
        ending: Ending::Returned(at(returned), seen),
    }
}

fn lost(invoked: u64, operation: Access) -> Call<Access, Seen> {
    Call {
        invoked: at(invoked),
        operation,
        ending: Ending::Unknown,
    }
}

fn is_linearizable(history: &[Call<Access, Seen>]) -> bool {
    check(&Register, history.to_vec()).is_ok()
}

#[test]
fn v5_many_calls_whose_outcomes_were_lost_are_decided_at_once() {
    let mut history: History = (0..60).map(|time| lost(time, Write(1))).collect();
    history.push(call(70, 80, Read, Value(1)));
    history.push(call(90, 100, Swap(1, 2), Written));
    history.push(call(110, 120, Read, Value(1)));
    assert!(is_linearizable(&history), "a lost write came late");
    history.push(call(130, 140, Read, Value(3)));
    assert!(!is_linearizable(&history), "no call wrote it");
}

#[test]
fn v5_nothing_and_one_call_after_the_other_are_linearizable() {
    assert!(is_linearizable(&[]));
    assert!(is_linearizable(&[
        call(0, 1, Read, Value(0)),
        call(2, 3, Write(7), Written),
        call(4, 5, Read, Value(7)),
        call(6, 7, Swap(7, 8), Written),
        call(8, 9, Swap(7, 9), Refused),
        call(10, 11, Read, Value(8)),
    ]));
}

#[test]
fn v5_a_read_that_overlaps_a_write_may_see_either_value_and_a_later_one_only_the_new() {
    let write = call(0, 10, Write(1), Written);
    for value in [0, 1] {
        assert!(is_linearizable(&[
            write.clone(),
            call(1, 2, Read, Value(value))
        ]));
    }
    assert!(!is_linearizable(&[
        write.clone(),
        call(11, 12, Read, Value(0))
    ]));
    // Moments that look the same do not tell which was first.
    assert!(is_linearizable(&[write, call(10, 12, Read, Value(0))]));
}

#[test]
fn v5_a_value_that_was_seen_does_not_become_unseen_while_its_write_goes_on() {
    let write = call(0, 10, Write(1), Written);
    let seen = call(1, 2, Read, Value(1));
    assert!(is_linearizable(&[
        write.clone(),
        seen.clone(),
        call(3, 4, Read, Value(1))
    ]));
    assert!(!is_linearizable(&[write, seen, call(3, 4, Read, Value(0))]));
}

#[test]
fn v5_a_lost_update_is_found() {
    assert!(!is_linearizable(&[
        call(0, 10, Swap(0, 1), Written),
        call(0, 10, Swap(0, 2), Written),
    ]));
    assert!(is_linearizable(&[
        call(0, 10, Swap(0, 1), Written),
        call(0, 10, Swap(0, 2), Refused),
    ]));
    assert!(!is_linearizable(&[
        call(0, 10, Swap(0, 1), Refused),
        call(0, 10, Swap(0, 2), Refused),
    ]));
}

#[test]
fn v5_a_call_whose_outcome_was_lost_takes_effect_at_any_later_time_or_never() {
    let write = lost(5, Write(1));
    let never = [write.clone(), call(100, 101, Read, Value(0))];
    assert!(is_linearizable(&never));
    let late = [
        write.clone(),
        call(100, 101, Read, Value(0)),
        call(200, 201, Read, Value(1)),
    ];
    assert!(is_linearizable(&late));
    let twice = [
        write.clone(),
        call(10, 11, Read, Value(1)),
        call(12, 13, Write(2), Written),
        call(14, 15, Read, Value(1)),
    ];
    assert!(!is_linearizable(&twice));
    assert!(!is_linearizable(&[write, call(1, 2, Read, Value(1))]));
    assert!(is_linearizable(&[lost(0, Write(1)), lost(0, Read)]));
}

#[test]
fn v5_many_reads_at_one_time_are_no_more_work_than_one() {
    let reads = |value| (0..60).map(move |_| call(0, 9, Read, Value(value)));
    let write = call(0, 9, Write(1), Written);
    let both: History = reads(1).chain([write]).chain(reads(0)).collect();
    assert!(is_linearizable(&both));
    let late: History = both
        .into_iter()
        .chain([call(10, 11, Read, Value(0))])
        .collect();
    assert!(!is_linearizable(&late));
}

#[test]
fn v5_a_violation_says_how_far_the_history_can_be_explained() {
    let violation = check(
        &Register,
        vec![
            call(0, 1, Write(1), Written),
            call(2, 3, Read, Value(0)),
            call(4, 5, Read, Value(1)),
        ],
    )
    .unwrap_err();
    assert_eq!((violation.explained, &*violation.state), (1, "1"));
    assert_eq!(violation.stuck.len(), 1);
    assert!(violation.to_string().contains("Value(0)"), "{violation}");
}

/// Every order of the calls, and every choice of the lost ones that take effect.
fn by_exhaustion(history: &[Call<Access, Seen>], state: u8, done: u32) -> bool {
    let open = || (0..history.len()).filter(|at| done & (1 << at) == 0);
    let returned = |at: usize| match history[at].ending {
        Ending::Returned(time, _) => Some(time),
        Ending::Unknown => None,
    };
    if open().all(|at| returned(at).is_none()) {
        return true;
    }
    open().any(|at| {
        let call = &history[at];
        let outcome = match &call.ending {
            Ending::Returned(_, seen) => Some(seen),
            Ending::Unknown => None,
        };
        open().all(|other| returned(other).is_none_or(|end| end >= call.invoked))
            && Register
                .step(&state, &call.operation, outcome)
                .is_some_and(|after| by_exhaustion(history, after, done | 1 << at))
    })
}

#[test]
fn v5_the_checker_agrees_with_the_trial_of_all_orders() {
    let mut choice = Rng::with_seed(5);
    let mut verdicts = [0, 0];
    for _ in 0..5_000 {
        let history: History = (0..choice.usize(1..7))
            .map(|_| {
                let invoked = choice.u64(..20);
                let returned = invoked + choice.u64(1..8);
                let mut value = || choice.u8(..3);
                let (operation, seen) = match value() {
                    0 => (Write(value()), Written),
                    1 => (Read, Value(value())),
                    _ => (
                        Swap(value(), value()),
                        if value() > 0 { Written } else { Refused },
                    ),
                };
                if choice.u8(..6) == 0 {
                    lost(invoked, operation)
                } else {
                    call(invoked, returned, operation, seen)
                }
            })
            .collect();
        let verdict = is_linearizable(&history);
        assert_eq!(verdict, by_exhaustion(&history, 0, 0), "{history:?}");
        verdicts[usize::from(verdict)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 500), "{verdicts:?}");
}

/// Clients that take turns at random. Each call takes effect at one moment between its beginning and its end; where the world is
/// `stale`, it goes by what was true before the last write.
fn simulated(choice: &mut Rng, stale: bool) -> History {
    let (mut value, mut overwritten) = (0, 0);
    let mut history = History::new();
    let mut running: Vec<(u64, Access, Option<Seen>)> = Vec::new();
    for time in 0..600 {
        if running.is_empty() || running.len() < 6 && choice.bool() {
            let operation = match choice.u8(..3) {
                0 => Write(choice.u8(..5)),
                1 => Read,
                _ => Swap(choice.u8(..5), choice.u8(..5)),
            };
            running.push((time, operation, None));
            continue;
        }
        let at = choice.usize(..running.len());
        let (invoked, operation, seen) = &mut running[at];
        if let Some(seen) = *seen {
            history.push(call(*invoked, time, *operation, seen));
            running.swap_remove(at);
            continue;
        }
        let known = if stale { overwritten } else { value };
        *seen = Some(match *operation {
            Read => Value(known),
            Swap(from, _) if from != known => Refused,
            Write(new) | Swap(_, new) => {
                overwritten = std::mem::replace(&mut value, new);
                Written
            }
        });
    }
    // Some of these had taken effect, and some had not: no client was told.
    let unanswered = running.into_iter();
    history.extend(unanswered.map(|(invoked, operation, _)| lost(invoked, operation)));
    history
}

#[test]
fn v5_long_histories_of_a_right_world_pass_and_stale_ones_are_found() {
    let mut choice = Rng::with_seed(11);
    for _ in 0..20 {
        let history = simulated(&mut choice, false);
        assert!(history.len() > 150);
        check(&Register, history).unwrap();
        assert!(!is_linearizable(&simulated(&mut choice, true)));
    }
}
