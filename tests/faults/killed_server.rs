//! SEC-S2: a server that is killed again and again under load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gatehouse_tests::{Host, Installation, ROLE, ServerProcess, Storage};
use serde_json::{Value, json};

use crate::HOST;

const KILLS: usize = 20;
const CLIENTS: usize = 8;
/// Logins that must be acknowledged before the server is killed, so that every round is a round under load.
const ACKNOWLEDGED_BEFORE_A_KILL: usize = 40;
/// How long those that a round asks for may take: a machine under load is no failure, a server that lets no client in is.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn s2_every_acknowledged_token_is_there_after_twenty_kills_under_login_load() {
    assert_kills_lose_nothing(HOST, KILLS);
}

/// Kills a server on this host so many times.
pub fn assert_kills_lose_nothing(host: Host, kills: usize) {
    let mut installation =
        Installation::start_program(host.program(), Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..kills {
        let fresh = under_load(&mut installation, ACKNOWLEDGED_BEFORE_A_KILL, |server| {
            server.kill();
        });
        installation.run().unwrap();
        for token in &fresh {
            assert_alive(&installation, token, round);
        }
        acknowledged.extend(fresh);
    }
    // Later kills have not undone what earlier rounds had acknowledged.
    for token in &acknowledged {
        assert_alive(&installation, token, kills);
    }
}

/// The token is as its login left it.
pub fn assert_alive(installation: &Installation, token: &str, round: usize) {
    let answer = installation.send("GET", "/v1/auth/token/lookup-self", Some(token), None);
    assert_eq!(answer.status, 200, "round {round}: {answer:?}");
    // The accessor's index entry was written by the same commit.
    let accessor = answer.json()["data"]["accessor"].clone();
    let found = installation.as_root(
        "POST",
        "/v1/auth/token/lookup-accessor",
        Some(&json!({ "accessor": accessor })),
    );
    assert_eq!(found.status, 200, "round {round}: {found:?}");
}

/// Logs in from several clients at once and ends the server in the middle, after the number `logins`; returns the tokens whose login was
/// answered.
pub fn under_load(
    installation: &mut Installation,
    logins: usize,
    end: impl FnOnce(&mut ServerProcess),
) -> Vec<String> {
    let url = format!("http://{}/v1/auth/gcp/login", installation.address());
    let body = json!({"role": ROLE, "jwt": installation.login_jwt().unwrap()}).to_string();
    let tokens: Arc<Mutex<Vec<String>>> = Arc::default();
    let over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (url, body) = (url.clone(), body.clone());
            let (tokens, over) = (Arc::clone(&tokens), Arc::clone(&over));
            std::thread::spawn(move || {
                let client = reqwest::blocking::Client::new();
                while !over.load(Ordering::Relaxed) {
                    let Ok(answer) = client.post(&url).body(body.clone()).send() else {
                        continue;
                    };
                    // An answer that was cut off acknowledges nothing.
                    let Ok(text) = answer.text() else { continue };
                    let Ok(json) = serde_json::from_str::<Value>(&text) else {
                        continue;
                    };
                    if let Some(token) = json["auth"]["client_token"].as_str() {
                        tokens.lock().unwrap().push(token.to_owned());
                    }
                }
            })
        })
        .collect();
    let deadline = Instant::now() + PATIENCE;
    while tokens.lock().unwrap().len() < logins && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    end(installation.server());
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    let tokens = tokens.lock().unwrap().clone();
    assert!(
        tokens.len() >= logins,
        "only {} logins were acknowledged in {PATIENCE:?}",
        tokens.len()
    );
    tokens
}
