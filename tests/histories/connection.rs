//! Clients of the running server.

use std::time::Duration;

use gatehouse_histories::{Answer, Reply, Request, Server};
use gatehouse_tests::Installation;
use reqwest::Method;
use reqwest::blocking::Client;
use serde_json::Value;

/// Longer than any answer takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connections to a server, which outlive its process: one for each request that is under way.
pub struct Connection {
    client: Client,
    address: String,
    root_token: String,
}

impl Connection {
    pub fn to(installation: &Installation) -> Self {
        let client = Client::builder().timeout(PATIENCE).build();
        Self {
            client: client.expect("a client"),
            address: format!("http://{}", installation.address()),
            root_token: installation.root_token().to_owned(),
        }
    }
}

impl Server for Connection {
    fn root_token(&self) -> &str {
        &self.root_token
    }

    fn send(&self, request: &Request<'_>) -> Reply {
        let method = Method::from_bytes(request.method.as_bytes()).expect("a method");
        let url = format!("{}/v1/{}", self.address, request.path);
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
