//! The conformance suite: what every backend must do, sealed or not (SEC-S10).
//!
//! A scenario is a function over a [`subject::Subject`]; `for_every_backend!` runs it against each of them.

// Clippy knows test functions, and not the scenarios and helpers that they call.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

/// Makes a test of each scenario for each kind of backend.
macro_rules! for_every_backend {
    ($($scenario:ident),+ $(,)?) => {
        for_every_backend!(@ memory Memory $($scenario)+);
        for_every_backend!(@ redb Redb $($scenario)+);
        for_every_backend!(@ sealed_memory SealedMemory $($scenario)+);
        for_every_backend!(@ sealed_redb SealedRedb $($scenario)+);
        for_every_backend!(@ adapter Adapter $($scenario)+);
        for_every_backend!(@ sqlite_adapter SqliteAdapter $($scenario)+);
        for_every_backend!(@ postgres_adapter PostgresAdapter $($scenario)+);
        for_every_backend!(@ postgres Postgres $($scenario)+);
        for_every_backend!(@ sealed_postgres SealedPostgres $($scenario)+);
    };
    (@ $module:ident $kind:ident $($scenario:ident)+) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $scenario() {
                    let subject = crate::subject::Subject::new(crate::subject::Kind::$kind).await;
                    super::$scenario(subject).await;
                }
            )+
        }
    };
}

mod adapted;
mod backups;
mod ceremonies;
mod changes;
mod commits;
mod concurrency;
mod crashes;
mod expiry;
mod files;
mod first_starts;
mod keys;
mod limits;
mod model;
mod postgres_answers;
mod postgres_beats;
mod postgres_cuts;
mod postgres_databases;
mod postgres_failover;
mod postgres_faults;
mod postgres_locks;
mod postgres_nodes;
mod postgres_plans;
mod postgres_pooler;
mod postgres_proxy;
mod postgres_purge;
mod postgres_refusals;
mod postgres_room;
mod postgres_unreachable;
mod scans;
mod seal_orders;
mod sealing;
mod several_hosts;
mod shared_keys;
mod shares;
mod subject;
