//! SEC-O4: what a server holds does not grow with what it has served.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatehouse_tests::{Installation, ROLE, Storage, number_from};
use serde_json::{Value, json};

use crate::HOST;
use crate::cluster::await_that;

/// Cycles in a quarter of a run, as many as CI has time for. More show smaller leaks: `GATEHOUSE_SOAK_CYCLES=25000`.
const CYCLES: usize = 1_000;
/// By how many hundredths memory and store may be larger at the end of a run as long as CI's, and of a longer one.
const TOLERATED: [u64; 2] = [10, 2];
/// By how many bytes the store may be larger in any case: as many pages as the writers of a busy machine happen to hold at once. One record
/// of 100 bytes that every cycle of CI's second half left would be 200,000.
const PAGES_AT_WORK: u64 = 128 * 1024;
const CLIENTS: usize = 4;

/// The memory that the server holds while there are no requests.
#[derive(Debug)]
struct Held {
    memory: u64,
    threads: u64,
    descriptors: usize,
    store: u64,
}

fn held(installation: &mut Installation) -> Held {
    let process = format!("/proc/{}", installation.server().id());
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    let field = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let words = line.unwrap().split_whitespace();
        words.take(1).collect::<String>().parse().unwrap()
    };
    let files = fs::read_dir(installation.folder().join("data")).unwrap();
    Held {
        memory: field("VmRSS:"),
        threads: field("Threads:"),
        descriptors: fs::read_dir(format!("{process}/fd")).unwrap().count(),
        store: files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum(),
    }
}

/// Logs in, uses the token and revokes it, `cycles` times in all, from several clients whose connections stay open.
fn cycles(installation: &Installation, clients: &[reqwest::blocking::Client], cycles: usize) {
    let address = format!("http://{}/v1", installation.address());
    let login = json!({"role": ROLE, "jwt": installation.login_jwt().unwrap()}).to_string();
    let begun = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for client in clients {
            scope.spawn(|| {
                while begun.fetch_add(1, Ordering::Relaxed) < cycles {
                    let url = format!("{address}/auth/gcp/login");
                    let answer = client.post(url).body(login.clone()).send().unwrap();
                    assert_eq!(answer.status(), 200);
                    let answer: Value = serde_json::from_str(&answer.text().unwrap()).unwrap();
                    let token = answer["auth"]["client_token"].as_str().unwrap();
                    for (method, path, status) in [
                        (reqwest::Method::GET, "lookup-self", 200),
                        (reqwest::Method::POST, "revoke-self", 204),
                    ] {
                        let url = format!("{address}/auth/token/{path}");
                        let request = client.request(method, url);
                        let answer = request.header("X-Vault-Token", token).send().unwrap();
                        assert_eq!(answer.status(), status, "{path}");
                        answer.bytes().unwrap();
                    }
                }
            });
        }
    });
}

#[test]
fn o4_memory_descriptors_threads_and_store_do_not_grow_with_what_was_served() {
    let quarter = number_from("GATEHOUSE_SOAK_CYCLES", CYCLES);
    let tolerated = TOLERATED[usize::from(quarter > CYCLES)];
    let mut installation =
        Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| reqwest::blocking::Client::new())
        .collect();
    let mut run = |quarters| {
        cycles(&installation, &clients, quarters * quarter);
        held(&mut installation)
    };
    // The first half fills pools and caches.
    let (before, after) = (run(2), run(2));
    println!("{before:?}, and after as many cycles again {after:?}");
    let most = |before: u64| before * (100 + tolerated) / 100;
    assert!(after.memory <= most(before.memory), "{before:?} {after:?}");
    let most_stored = most(before.store).max(before.store + PAGES_AT_WORK);
    assert!(after.store <= most_stored, "{before:?} {after:?}");
    // A connection that the end of the run found open, such as one for Google's keys, is closed once it has been idle; what leaks stays.
    let as_before = format!("threads and descriptors are as few as in {before:?}");
    await_that(&as_before, || {
        let now = held(&mut installation);
        now.threads <= before.threads && now.descriptors <= before.descriptors
    });
}
