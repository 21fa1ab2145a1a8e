//! Several instances that read, write and are cut off at the same time: one order of all their calls explains every answer.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_histories::{Call, Ending, Model, check};
use gatehouse_ports::{CommitError, Store, StoreError};

use crate::setting::{Setting, at_version, put};

pub const NAMES: [&str; 2] = ["left", "right"];
pub const THREADS: u32 = 4;
pub const CALLS: u32 = 25;

/// After how many writes an instance is cut off at every fifth call. A commit takes four: the note, what it clears, the root, the head.
const CUTS_EVERY: u32 = 5;
const CUTS: [u64; 5] = [0, 3, 4, 6, 1];

/// Two entries that are read together and written one by one.
pub struct TwoEntries;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write(usize, u32),
    /// Writes the second entry if both are still what was read.
    WriteIf([u32; 2], u32),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Read([u32; 2]),
    Written,
    Refused,
}

impl Model for TwoEntries {
    type State = [u32; 2];
    type Operation = Operation;
    type Outcome = Outcome;

    fn initial(&self) -> [u32; 2] {
        [0, 0]
    }

    fn step(
        &self,
        state: &[u32; 2],
        operation: &Operation,
        outcome: Option<&Outcome>,
    ) -> Option<[u32; 2]> {
        let (told, next) = match operation {
            Operation::Read => (Outcome::Read(*state), *state),
            Operation::Write(place, number) => {
                let mut next = *state;
                next[*place] = *number;
                (Outcome::Written, next)
            }
            Operation::WriteIf(seen, number) if seen == state => {
                (Outcome::Written, [state[0], *number])
            }
            Operation::WriteIf(..) => (Outcome::Refused, *state),
        };
        outcome
            .is_none_or(|outcome| *outcome == told)
            .then_some(next)
    }

    fn only_observes(&self, _: &Operation, outcome: &Outcome) -> bool {
        *outcome != Outcome::Written
    }
}

pub fn number(entry: &gatehouse_ports::Entry) -> u32 {
    String::from_utf8_lossy(&entry.value).parse().unwrap()
}

/// The outcome of a call of the store; `None` when its caller cannot know.
pub fn outcome(committed: Result<(), CommitError>) -> Option<Outcome> {
    match committed {
        Ok(()) => Some(Outcome::Written),
        Err(CommitError::Conflict(_)) => Some(Outcome::Refused),
        Err(CommitError::Failed(StoreError::Unavailable(_))) => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// Makes each client, on a thread of its own, read, write, and write if nothing has changed, by the instance that it gives for a round.
/// Panics unless one order of all calls explains every answer. Returns the number of lost answers.
pub fn ensure_linearizable<S, C>(clients: Vec<C>) -> usize
where
    S: Store + Send + Sync + 'static,
    C: FnMut(u32) -> Arc<S> + Send + 'static,
{
    let history: Arc<Mutex<Vec<Call<Operation, Outcome>>>> = Arc::default();
    let began = Instant::now();
    let count = clients.len();
    let begin = |(thread, mut client): (usize, C)| {
        let history = history.clone();
        thread::spawn(move || {
            let note = |invoked: Duration, operation, ending| {
                let call = Call {
                    invoked,
                    operation,
                    ending,
                };
                history.lock().unwrap().push(call);
            };
            for round in 0..CALLS {
                let store = client(round);
                let written = u32::try_from(thread).unwrap() * 1000 + round + 1;
                let invoked = began.elapsed();
                let read = store.get(&NAMES).unwrap();
                let [Some(left), Some(right)] = &read[..] else {
                    panic!("{} entries", read.len());
                };
                let seen = [number(left), number(right)];
                let returned = Ending::Returned(began.elapsed(), Outcome::Read(seen));
                note(invoked, Operation::Read, returned);

                let invoked = began.elapsed();
                let (operation, told) = if round % 2 == 0 {
                    let place = usize::try_from(round / 2 % 2).unwrap();
                    let change = put(NAMES[place], &written.to_string());
                    let told = outcome(store.commit(vec![], vec![change]));
                    (Operation::Write(place, written), told)
                } else {
                    let checks = vec![
                        at_version(NAMES[0], left.version),
                        at_version(NAMES[1], right.version),
                    ];
                    let change = put(NAMES[1], &written.to_string());
                    let told = outcome(store.commit(checks, vec![change]));
                    (Operation::WriteIf(seen, written), told)
                };
                let ending = told.map_or(Ending::Unknown, |told| {
                    Ending::Returned(began.elapsed(), told)
                });
                note(invoked, operation, ending);
            }
        })
    };
    let threads: Vec<_> = clients.into_iter().enumerate().map(begin).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let history = std::mem::take(&mut *history.lock().unwrap());
    assert_eq!(history.len(), 2 * count * CALLS as usize);
    let is_lost = |call: &&Call<_, _>| call.ending == Ending::Unknown;
    let lost = history.iter().filter(is_lost).count();
    if let Err(violation) = check(&TwoEntries, history) {
        panic!("{violation:?}");
    }
    lost
}

#[test]
fn v5_instances_that_are_cut_off_beside_each_other_are_linearizable() {
    let setting = Arc::new(Setting::new());
    let start = NAMES.map(|name| put(name, "0")).to_vec();
    setting.instance().commit(vec![], start).unwrap();
    let client = |_| {
        let setting = setting.clone();
        let mut store = Arc::new(setting.instance());
        move |round: u32| {
            let turn = round % CUTS_EVERY;
            if turn == 0 || turn == CUTS_EVERY - 1 {
                // An instance that was cut off is gone, and a new one takes its place.
                let client = setting.stores.another_client();
                if turn != 0 {
                    client.stop_after_writes(CUTS[(round / CUTS_EVERY) as usize]);
                }
                store = Arc::new(setting.instance_of(client));
            }
            store.clone()
        }
    };
    let lost = ensure_linearizable((0..THREADS).map(client).collect());
    assert!(lost > 0, "no instance was cut off");
}
