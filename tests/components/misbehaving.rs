//! A component that loops, traps, hoards, writes without end or stays silent costs its own request, and nothing else (SEC-W1 to W3, W5).
//!
//! `misbehaving.wat` is that component; the first letter of a path chooses what it does. It also answers, with a status that says how
//! many requests its instance answered before: so a test sees whether an instance was used again. Where time has to pass, it
//! is Tokio's paused clock, which moves on only when no task has anything to do.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gatehouse::runtime::exchange::ServeError;
use gatehouse::runtime::linker::linker;
use gatehouse::runtime::pool::{Pool, PoolSettings};
use gatehouse::runtime::storage;
use gatehouse_store::Namespace;
use wasmtime::component::Component;

use crate::surroundings::Surroundings;

const MEMORY_LIMIT: usize = 4 << 20;
const WALL_TIME: Duration = Duration::from_secs(3600);

const CPU_TIME: Duration = Duration::from_millis(50);

/// A pool of `instances` of the component, each good for any number of requests.
fn pool(instances: usize) -> Arc<Pool> {
    let mut surroundings = Surroundings::new();
    surroundings.grants.cpu_time = CPU_TIME;
    pool_in(surroundings, instances)
}

fn pool_in(mut surroundings: Surroundings, instances: usize) -> Arc<Pool> {
    surroundings.grants.memory_limit = MEMORY_LIMIT;
    let bytes = wat::parse_str(include_str!("misbehaving.wat")).unwrap();
    let component = Component::new(&surroundings.engine, bytes).unwrap();
    let mut linker = linker(&surroundings.engine).unwrap();
    let store = surroundings.private(Namespace::Orgs);
    storage::bind(&mut linker, storage::INTERFACE, store).unwrap();
    let template = linker.instantiate_pre(&component).unwrap();
    let settings = PoolSettings {
        instances,
        instance_reuse: usize::MAX,
        queue: 64,
        wall_time: WALL_TIME,
    };
    Pool::new(template, surroundings.grants, settings).unwrap()
}

async fn send(pool: &Arc<Pool>, path: &str) -> Result<u16, ServeError> {
    let request = http::Request::builder()
        .uri(path)
        .header("host", "localhost")
        .body(Bytes::new())
        .unwrap();
    let answer = pool.serve(request).await?;
    Ok(answer.status().as_u16())
}

/// Sends `path` between good requests to the only instance there is; gives the failure.
///
/// Before it the instance is used again, after it there is a new one, which is used again in turn.
async fn failure_of(path: &str) -> ServeError {
    failure_in(&pool(1), path).await
}

async fn failure_in(pool: &Arc<Pool>, path: &str) -> ServeError {
    assert_eq!(send(pool, "/answer").await.unwrap(), 200);
    assert_eq!(send(pool, "/answer").await.unwrap(), 201);
    let failure = send(pool, path).await.unwrap_err();
    assert_eq!(send(pool, "/answer").await.unwrap(), 200, "after {path}");
    assert_eq!(send(pool, "/answer").await.unwrap(), 201, "after {path}");
    failure
}

/// The failure of `path` as an operator reads it.
async fn report_of(path: &str) -> String {
    report(failure_of(path).await)
}

fn report(failure: ServeError) -> String {
    match failure {
        ServeError::Failed(error) => format!("{error:?}"),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn w1_memory_beyond_the_limit_fails_the_request_alone() {
    let report = report_of("/memory").await;
    assert!(report.contains("needs more than 4194304 bytes"), "{report}");
}

#[tokio::test]
async fn w1_handles_beyond_the_limit_fail_the_request_alone() {
    let report = report_of("/handles").await;
    assert!(report.contains("table has no free keys"), "{report}");
}

#[tokio::test]
async fn w2_an_endless_loop_ends_when_its_time_is_used_up() {
    let report = report_of("/loop").await;
    assert!(report.contains("interrupt"), "{report}");
}

#[tokio::test]
async fn w2_an_endless_loop_of_calls_to_the_host_ends_too() {
    let report = report_of("/calls").await;
    assert!(report.contains("interrupt"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn w2_a_guest_that_waits_for_ever_runs_into_the_wall_time() {
    let failure = failure_of("/wait").await;
    assert!(
        matches!(failure, ServeError::TimedOut(WALL_TIME)),
        "{failure}"
    );
}

#[tokio::test]
async fn w3_a_trap_fails_the_request_alone() {
    let report = report_of("/trap").await;
    assert!(report.contains("unreachable"), "{report}");
}

#[tokio::test]
async fn w3_a_guest_that_gives_up_its_answer_fails_alone() {
    let report = report_of("/no-answer").await;
    assert!(report.contains("no answer"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn w3_a_guest_that_returns_and_keeps_the_place_of_its_answer_fails_alone() {
    let failure = failure_of("/silent").await;
    assert!(
        matches!(failure, ServeError::TimedOut(WALL_TIME)),
        "{failure}"
    );
}

/// One thread for all: a guest that would not let go of it would be noticed.
#[tokio::test]
async fn w3_one_in_four_requests_misbehaves_and_no_other_one_fails() {
    let evils = ["/trap", "/loop", "/memory", "/handles", "/no-answer"];
    good_ones_succeed_beside(&evils).await;
}

/// Sixty requests over four instances, of which every fourth is one of `evils`.
async fn good_ones_succeed_beside(evils: &[&'static str]) {
    let pool = pool(4);
    let mut requests = tokio::task::JoinSet::new();
    for number in 0..60 {
        let good = number % 4 != 0;
        let path = if good {
            "/answer"
        } else {
            evils[number / 4 % evils.len()]
        };
        let pool = Arc::clone(&pool);
        requests.spawn(async move { (path, good, send(&pool, path).await) });
    }
    while let Some(outcome) = requests.join_next().await {
        let (path, good, outcome) = outcome.unwrap();
        assert_eq!(outcome.is_ok(), good, "{path}: {outcome:?}");
    }
}

/// One thread for all, as above; each writer is cut off by another limit.
#[tokio::test]
async fn w5_one_in_four_requests_writes_without_end_and_no_other_one_fails() {
    let writers = [
        "/puts", "/errors", "/fields", "/memory", "/given", "/random",
    ];
    good_ones_succeed_beside(&writers).await;
}

#[tokio::test]
async fn w5_a_guest_that_writes_to_its_store_without_end_is_interrupted() {
    let mut surroundings = Surroundings::new();
    surroundings.grants.cpu_time = CPU_TIME;
    let store = surroundings.private(Namespace::Orgs);
    let report = report(failure_in(&pool_in(surroundings, 1), "/puts").await);
    assert!(report.contains("interrupt"), "{report}");
    let page = store.scan("", None, 1000).await.unwrap();
    let whole = |item: &gatehouse_ports::Item| item.entry.value.len() == 1024;
    assert!(!page.items.is_empty(), "it wrote");
    assert!(page.items.iter().all(whole), "what it wrote is whole");
}

#[tokio::test]
async fn w5_a_guest_that_writes_to_the_log_without_end_is_interrupted() {
    let report = report_of("/errors").await;
    assert!(report.contains("interrupt"), "{report}");
}

/// The time to compute is long enough here, so it is the limit of an answer that ends it.
#[tokio::test]
async fn w5_a_body_without_end_is_cut_off_at_the_limit_of_an_answer() {
    let pool = pool_in(Surroundings::new(), 1);
    let report = report(failure_in(&pool, "/body").await);
    assert!(report.contains("cut off or too large"), "{report}");
}

/// No one reads it: the host keeps a piece or two and lets the guest wait.
#[tokio::test(start_paused = true)]
async fn w5_a_body_that_is_never_read_is_not_kept_and_runs_into_the_wall_time() {
    let failure = failure_of("/unread").await;
    assert!(
        matches!(failure, ServeError::TimedOut(WALL_TIME)),
        "{failure}"
    );
}

#[tokio::test]
async fn w5_header_fields_beyond_the_limit_fail_the_request_alone() {
    let report = report_of("/fields").await;
    assert!(report.contains("size"), "{report}");
}

#[tokio::test]
async fn w5_random_bytes_beyond_the_limit_fail_the_request_alone() {
    let report = report_of("/random").await;
    assert!(
        report.contains("requested len 65537 exceeds limit 65536"),
        "{report}"
    );
}

/// Strings that lie in one place are many bytes on the side of the host, which copies each.
#[tokio::test]
async fn w5_a_call_cannot_hand_over_more_than_the_guest_may_have() {
    let report = report_of("/given").await;
    assert!(
        report.contains("fuel allocated for hostcalls has been exhausted"),
        "{report}"
    );
}

/// As many waiting guests as there are instances hold all of them until their time is over, and not longer.
#[tokio::test(start_paused = true)]
async fn w2_requests_behind_guests_that_wait_are_served_afterwards() {
    let pool = pool(2);
    let (first, second, third) = tokio::join!(
        send(&pool, "/wait"),
        send(&pool, "/wait"),
        send(&pool, "/answer")
    );
    assert!(matches!(first, Err(ServeError::TimedOut(_))), "{first:?}");
    assert!(matches!(second, Err(ServeError::TimedOut(_))), "{second:?}");
    assert_eq!(third.unwrap(), 200);
}
