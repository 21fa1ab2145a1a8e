//! Several instances that read, write and lose answers at the same time: there is an order of all their calls that explains every answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_ports::Store as _;
use gatehouse_spin_sqlite::{Nature, Verdict, lost_answer};
use gatehouse_storage_adapter::sqlite::DatabaseError;

use super::Setting;
use crate::histories::{NAMES, THREADS, ensure_linearizable};
use crate::setting::put;

fn assert_linearizable(nature: Nature) {
    let setting = Setting::new();
    let start = NAMES.map(|name| put(name, "0")).to_vec();
    setting.instance().commit(vec![], start).unwrap();
    let client = |_| {
        let databases = setting.databases.another_client().with(nature);
        let commits = AtomicU64::new(0);
        databases.intercept(move |statement| {
            if !statement.contains("insert into gatehouse_entry") {
                return Verdict::Proceed;
            }
            let broken = || match nature {
                Nature::LibSql { .. } => lost_answer(),
                _ => DatabaseError::Io("the connection was reset".to_owned()),
            };
            match commits.fetch_add(1, Ordering::Relaxed) % 10 {
                3 | 8 => Verdict::LoseAnswer(broken()),
                4 => Verdict::Fail(broken()),
                // A client of libSQL cannot tell these from lost answers, and each outcome that is never known multiplies the orders to try.
                9 if matches!(nature, Nature::Files) => Verdict::Fail(broken()),
                _ => Verdict::Proceed,
            }
        });
        let store = Arc::new(setting.instance_of(databases));
        move |_| store.clone()
    };
    let lost = ensure_linearizable((0..THREADS).map(client).collect());
    assert!(lost > 0, "no answer was lost");
}

#[test]
fn v5_instances_beside_each_other_of_which_some_lose_answers_are_linearizable() {
    assert_linearizable(Nature::Files);
}

#[test]
fn v5_instances_of_one_server_that_ends_their_connections_are_linearizable() {
    assert_linearizable(Nature::LIBSQL);
}
