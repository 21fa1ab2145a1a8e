//! Several instances that read, write and lose connections at the same time: there is an order of all their calls that explains every
//! answer, and every commit knows its outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_ports::Store as _;
use gatehouse_spin_postgres::{Pools, Verdict};
use gatehouse_storage_adapter::postgres::DatabaseError;

use super::Setting;
use crate::histories::{NAMES, THREADS, ensure_linearizable};
use crate::setting::put;

#[test]
fn v5_instances_beside_each_other_that_lose_connections_are_linearizable() {
    let setting = Setting::new();
    let start = NAMES.map(|name| put(name, "0")).to_vec();
    setting.instance().commit(vec![], start).unwrap();
    let client = |_| {
        let pools = Pools::default();
        let commits = AtomicU64::new(0);
        pools.intercept(move |statement| {
            if !statement.contains("select gatehouse_spin.commit_entry") {
                return Verdict::Proceed;
            }
            match commits.fetch_add(1, Ordering::Relaxed) % 5 {
                3 => Verdict::LoseAnswer,
                4 => Verdict::Fail(DatabaseError::Lost),
                _ => Verdict::Proceed,
            }
        });
        let store = Arc::new(setting.instance_of(pools));
        move |_| store.clone()
    };
    let lost = ensure_linearizable((0..THREADS).map(client).collect());
    assert_eq!(lost, 0, "every outcome was found out");
}
