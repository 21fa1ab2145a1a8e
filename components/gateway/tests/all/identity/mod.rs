//! `identity/...` (contract 7.2), with the requests of the Python library.

mod admission;
mod aliases;
mod entities;
mod finding;
mod groups;

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{ROOT, Server, identity, listed};

const THEN: &str = "2026-11-21T10:00:00Z";

/// The `auth` block of a login at `gcp/`.
fn log_in(server: &Server) -> Value {
    server.script.login.is(Ok(identity()));
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let login = server.send(Method::Put, "auth/gcp/login", None, body);
    login.expect(200).json()["auth"].clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn accessor(server: &Server, mount: &str) -> String {
    text(&server.get(&format!("sys/auth/{mount}")).data()["accessor"])
}

/// The identifier of the object that a write created.
fn made(server: &Server, path: &str, body: &Value) -> String {
    let answer = server.post(path, &body.to_string()).expect(200);
    text(&answer.data()["id"])
}
