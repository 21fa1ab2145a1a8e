//! Several instances that read, write and lose answers at the same time: there is an order of all their calls that explains every answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_histories::{Call, Ending, check};
use gatehouse_ports::Store as _;
use gatehouse_spin_sqlite::Verdict;
use gatehouse_storage_adapter::sqlite::DatabaseError;

use super::Setting;
use crate::histories::{CALLS, NAMES, Operation, Outcome, THREADS, TwoEntries, number, outcome};
use crate::setting::{at_version, put};

#[test]
fn v5_instances_beside_each_other_of_which_some_lose_answers_are_linearizable() {
    let setting = Arc::new(Setting::new());
    let start = NAMES.map(|name| put(name, "0")).to_vec();
    setting.instance().commit(vec![], start).unwrap();
    let history: Arc<Mutex<Vec<Call<Operation, Outcome>>>> = Arc::default();
    let began = Instant::now();
    let client = |thread: u32| {
        let (setting, history) = (setting.clone(), history.clone());
        thread::spawn(move || {
            let client = setting.databases.another_client();
            let commits = AtomicU64::new(0);
            client.intercept(move |statement| {
                if !statement.contains("insert into gatehouse_entry") {
                    return Verdict::Proceed;
                }
                let broken = || DatabaseError::Io("the connection was reset".to_owned());
                match commits.fetch_add(1, Ordering::Relaxed) % 5 {
                    3 => Verdict::LoseAnswer(broken()),
                    4 => Verdict::Fail(broken()),
                    _ => Verdict::Proceed,
                }
            });
            let store = setting.instance_of(client);
            for round in 0..CALLS {
                let written = thread * 1000 + round + 1;
                let invoked = began.elapsed();
                let read = store.get(&NAMES).unwrap();
                let [Some(left), Some(right)] = &read[..] else {
                    panic!("{} entries", read.len());
                };
                let seen = [number(left), number(right)];
                let returned = Ending::Returned(began.elapsed(), Outcome::Read(seen));
                let note = |invoked: Duration, operation, ending| {
                    let call = Call {
                        invoked,
                        operation,
                        ending,
                    };
                    history.lock().unwrap().push(call);
                };
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
    let threads: Vec<_> = (0..THREADS).map(client).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let history = std::mem::take(&mut *history.lock().unwrap());
    assert_eq!(history.len() as u32, 2 * THREADS * CALLS);
    let is_lost = |call: &Call<_, _>| call.ending == Ending::Unknown;
    assert!(history.iter().any(is_lost), "no answer was lost");
    if let Err(violation) = check(&TwoEntries, history) {
        panic!("{violation:?}");
    }
}
