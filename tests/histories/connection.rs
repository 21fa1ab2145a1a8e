//! Clients of the running server.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gatehouse_histories::{Answer, Reply, Request, Server};
use gatehouse_tests::{Installation, ServerProcess, Storage, number_from};
use reqwest::Method;
use reqwest::blocking::Client;
use serde_json::Value;

/// Longer than any answer takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connections to servers, which outlive their processes: one for each request that is under way. Several servers on one store are asked
/// in turns.
pub struct Connection {
    client: Client,
    addresses: Vec<String>,
    next: AtomicUsize,
    root_token: String,
}

impl Connection {
    /// Connections to the installation's server and to `further` ones on the same store.
    pub fn to_each(installation: &Installation, further: &[ServerProcess]) -> Self {
        let client = Client::builder().timeout(PATIENCE).build();
        let first = format!("http://{}", installation.address());
        let further = further.iter().map(|server| server.address().to_owned());
        Self {
            client: client.expect("a client"),
            addresses: std::iter::once(first).chain(further).collect(),
            next: AtomicUsize::new(0),
            root_token: installation.root_token().to_owned(),
        }
    }

    fn next_address(&self) -> &str {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        &self.addresses[turn % self.addresses.len()]
    }
}

/// Two further servers where the store is one that servers share.
pub fn further_servers(installation: &Installation, storage: Storage) -> Vec<ServerProcess> {
    let further = match storage {
        Storage::Postgres => 2,
        Storage::Memory | Storage::Durable => 0,
    };
    let start = |_| installation.another_server().unwrap();
    (0..further).map(start).collect()
}

/// The numbers of the histories that a test makes, as many as CI has time for. More find what is rarer: `GATEHOUSE_HISTORIES=200`.
pub fn rounds(of_ci: usize) -> Range<u64> {
    let rounds = number_from("GATEHOUSE_HISTORIES", of_ci);
    0..u64::try_from(rounds).expect("a small number")
}

impl Server for Connection {
    fn root_token(&self) -> &str {
        &self.root_token
    }

    fn send(&self, request: &Request<'_>) -> Reply {
        let method = Method::from_bytes(request.method.as_bytes()).expect("a method");
        let url = format!("{}/v1/{}", self.next_address(), request.path);
        let mut sent = self.client.request(method, url);
        sent = sent.header("X-Vault-Token", request.token);
        if let Some(ttl) = request.wrap_ttl {
            sent = sent.header("X-Vault-Wrap-TTL", ttl);
        }
        if !request.body.is_null() {
            sent = sent.body(request.body.to_string());
        }
        let response = match sent.send() {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Reply::Unsent,
            Err(_) => return Reply::Lost,
        };
        let status = response.status().as_u16();
        // An answer that was cut off tells nothing.
        let Ok(text) = response.text() else {
            return Reply::Lost;
        };
        match serde_json::from_str(&text) {
            Ok(body) => Reply::Answer(Answer { status, body }),
            Err(_) if text.is_empty() => Reply::Answer(Answer {
                status,
                body: Value::Null,
            }),
            Err(error) => panic!("{status} {text:?}: {error}"),
        }
    }
}
