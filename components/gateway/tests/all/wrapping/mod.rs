//! Response wrapping (contract 1.8, 6.6).

mod answers;
mod tokens;

use gatehouse_gateway::{Headers, Method};
use serde_json::{Value, json};

use super::server::{Answer, ROOT, Server, request};

const INVALID: &str = "wrapping token is not valid or does not exist";
const UNWRAP: &str = "sys/wrapping/unwrap";

/// Sends a request that asks for a wrapped answer.
fn send_wrapped(
    server: &Server,
    method: Method,
    target: &str,
    token: Option<&str>,
    ttl: &str,
    body: &str,
) -> Answer {
    let mut request = request(method, target, body);
    request.headers = Headers::from_iter([("X-Vault-Wrap-TTL", ttl)]);
    if let Some(token) = token {
        request.headers.push("X-Vault-Token", token);
    }
    server.handle(&request)
}

/// Sends a request as root, with an answer that is wrapped for a minute.
fn wrapped(server: &Server, method: Method, target: &str, body: &str) -> Answer {
    send_wrapped(server, method, target, Some(ROOT), "60", body)
}

/// A wrapping token for `{"a":1}`.
fn wrap(server: &Server) -> String {
    let answer = wrapped(server, Method::Post, "sys/wrapping/wrap", r#"{"a":1}"#);
    token_of(&answer)
}

fn token_of(answer: &Answer) -> String {
    let token = &answer.json()["wrap_info"]["token"];
    token.as_str().unwrap().to_owned()
}

/// Sends the request of a client whose own token is the wrapping token.
fn unwrap(server: &Server, token: &str) -> Answer {
    server.send(Method::Put, UNWRAP, Some(token), "")
}

fn naming(token: &str) -> String {
    json!({ "token": token }).to_string()
}

/// The envelope without the request id, which differs from answer to answer.
fn without_id(answer: &Answer) -> Value {
    let mut envelope = answer.json();
    let id = envelope["request_id"].take();
    assert_eq!(id.as_str().unwrap().len(), 36);
    envelope
}
