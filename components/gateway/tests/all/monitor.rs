//! `sys/monitor`: the lines of the server's log as they are logged (contract 6.1).

use std::sync::{Arc, Mutex};

use gatehouse_gateway::host::{Host, Log, LogLevel, LogLine, LogLines};
use gatehouse_gateway::{Method, Part, Request, ResumeError, Settings};
use gatehouse_ports::StoreError;
use serde_json::{Value, json};

use super::sealed;
use super::server::{ROOT, Server, listed, request};

/// A call of the log: the position after which, and the level from which, lines are wanted.
type Asked = (Option<u64>, LogLevel);

/// The lines that a host has logged, and the calls that it received.
#[derive(Clone, Default)]
struct Lines {
    logged: Arc<Mutex<Vec<LogLine>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Log for Lines {
    fn follow(&self, after: Option<u64>, level: LogLevel) -> Option<LogLines> {
        self.asked.lock().unwrap().push((after, level));
        let logged = self.logged.lock().unwrap();
        let all = logged.len() as u64;
        let from = usize::try_from(after.unwrap_or(all)).unwrap();
        Some(LogLines {
            lines: logged[from.min(logged.len())..].to_vec(),
            position: all,
            lost: 0,
        })
    }
}

impl Lines {
    fn add(&self, text: &str) {
        self.logged.lock().unwrap().push(LogLine {
            time: 1_795_464_014_250,
            level: LogLevel::Warn,
            target: "gatehouse::seal".to_owned(),
            text: text.to_owned(),
        });
    }
}

fn server() -> (Server, Lines) {
    let lines = Lines::default();
    let host = Host {
        log: Box::new(lines.clone()),
        ..Host::default()
    };
    let server = Server::on(host, Settings::default()).initialize();
    (server, lines)
}

/// A client that follows the log.
struct Follower<'s> {
    server: &'s Server,
    request: Request,
    continuation: Vec<u8>,
}

impl<'s> Follower<'s> {
    fn begin(server: &'s Server, token: &str, query: &str) -> Self {
        let mut request = request(Method::Get, &format!("sys/monitor{query}"), "");
        request.headers.push("X-Vault-Token", token);
        let answer = server.handle(&request).0;
        assert_eq!(answer.status, 200);
        assert!(answer.body.is_empty());
        let rest = answer.rest.unwrap();
        assert!(rest.wait > 0);
        Self {
            server,
            request,
            continuation: rest.continuation,
        }
    }

    fn next(&mut self) -> Result<String, ResumeError> {
        let Part { body, rest } = self.server.resume(&self.request, &self.continuation)?;
        match rest {
            Some(rest) => self.continuation = rest.continuation,
            None => self.continuation.clear(),
        }
        Ok(String::from_utf8(body).unwrap())
    }
}

#[test]
fn lines_are_told_as_they_come_in_the_form_that_was_asked_for() {
    let (server, lines) = server();
    lines.add("before");
    let mut standard = Follower::begin(&server, ROOT, "");
    let mut json = Follower::begin(&server, ROOT, "?log_level=DEBUG&log_format=JSON");
    assert_eq!(standard.next().unwrap(), "");
    lines.add("first");
    lines.add("second");
    assert_eq!(
        standard.next().unwrap(),
        "2026-11-23T20:00:14.250Z [WARN]  gatehouse::seal: first\n2026-11-23T20:00:14.250Z [WARN]  gatehouse::seal: second\n"
    );
    assert_eq!(standard.next().unwrap(), "");
    let told = json.next().unwrap();
    let first: Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    assert_eq!(
        first,
        json!({"@timestamp": "2026-11-23T20:00:14.250Z", "@level": "warn",
            "@module": "gatehouse::seal", "@message": "first"})
    );
    assert_eq!(told.lines().count(), 2);
    let asked = lines.asked.lock().unwrap();
    assert_eq!(asked[0], (None, LogLevel::Info));
    assert_eq!(asked.last(), Some(&(Some(1), LogLevel::Debug)));
}

#[test]
fn the_log_needs_sudo_and_is_closed_when_the_token_ends() {
    let (server, lines) = server();
    let reader = server.token_with(r#"path "sys/monitor" { capabilities = ["read"] }"#);
    let denied = server.send(Method::Get, "sys/monitor", Some(&reader), "");
    denied.refused(403, &listed("permission denied"));
    let operator = server.token_with(r#"path "sys/monitor" { capabilities = ["read", "sudo"] }"#);
    let mut follower = Follower::begin(&server, &operator, "");
    lines.add("shown");
    assert!(follower.next().unwrap().contains("shown"));
    server
        .send(Method::Post, "auth/token/revoke-self", Some(&operator), "")
        .expect(204);
    lines.add("secret");
    assert_eq!(follower.next(), Err(ResumeError::Refused));
}

#[test]
fn t4_following_takes_one_use_of_a_token() {
    let (server, lines) = server();
    server
        .post(
            "sys/policies/acl/operator",
            r#"{"policy":"path \"sys/monitor\" { capabilities = [\"read\", \"sudo\"] }"}"#,
        )
        .expect(204);
    let made = server
        .post(
            "auth/token/create",
            r#"{"policies":["operator"],"num_uses":2}"#,
        )
        .expect(200)
        .json();
    let token = made["auth"]["client_token"].as_str().unwrap();
    let mut follower = Follower::begin(&server, token, "");
    for text in ["one", "two", "three"] {
        lines.add(text);
        assert!(follower.next().unwrap().contains(text));
    }
    let remaining = server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    remaining.expect(200);
    assert_eq!(follower.next(), Err(ResumeError::Refused), "its last use");
}

#[test]
fn a_token_with_uses_that_could_not_go_on_is_refused_at_once() {
    let (server, _) = server();
    let policy = |name: &str, conditions: &str| {
        let text =
            format!("path \"sys/monitor\" {{ capabilities = [\"read\", \"sudo\"] {conditions} }}");
        let body = json!({ "policy": text }).to_string();
        server
            .post(&format!("sys/policies/acl/{name}"), &body)
            .expect(204);
    };
    policy("plain", "");
    policy(
        "conditional",
        "\n allowed_parameters = { \"log_level\" = [\"info\"] }",
    );
    for (policy, uses, is_followed) in [
        ("plain", 2, true),
        ("plain", 1, false),
        ("conditional", 0, true),
        ("conditional", 2, false),
    ] {
        let body = json!({"policies": [policy], "num_uses": uses}).to_string();
        let made = server.post("auth/token/create", &body).expect(200).json();
        let token = made["auth"]["client_token"].as_str().unwrap();
        if is_followed {
            let mut follower = Follower::begin(&server, token, "?log_level=info");
            assert_eq!(follower.next().unwrap(), "", "{policy} {uses}");
        } else {
            let target = "sys/monitor?log_level=info";
            let refused = server.send(Method::Get, target, Some(token), "");
            refused.refused(403, &listed("permission denied"));
        }
    }
}

#[test]
fn a_store_that_fails_holds_the_log_up_and_a_sealed_one_ends_it() {
    let (server, lines) = server();
    let Follower {
        request,
        continuation,
        ..
    } = Follower::begin(&server, ROOT, "");
    let json = Follower::begin(&server, ROOT, "?log_format=json").continuation;
    lines.add("not to be seen");
    let resumed = |failure: &StoreError, continuation: &[u8]| {
        let host = Host {
            log: Box::new(lines.clone()),
            ..Host::default()
        };
        let gateway = sealed::gateway(failure).with_host(host);
        gateway.resume(&request, continuation).unwrap()
    };
    let unavailable = StoreError::Unavailable("disk full".to_owned());
    let Part { body, rest } = resumed(&unavailable, &continuation);
    assert!(body.is_empty());
    let rest = rest.unwrap();
    assert!(rest.wait > 0);
    assert_eq!(rest.continuation, continuation);

    let words = "the server was sealed: its log is not shown any more";
    let Part { body, rest } = resumed(&StoreError::Sealed, &continuation);
    assert_eq!(body, format!("[{words}]\n").into_bytes());
    assert_eq!(rest, None);
    let Part { body, .. } = resumed(&StoreError::Sealed, &json);
    let told: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(told, json!({"@level": "warn", "@message": words}));
}

#[test]
fn what_cannot_be_told_is_refused() {
    let (server, _) = server();
    for (query, text) in [
        ("?log_level=loud", "unknown log level"),
        ("?log_format=xml", "unknown log format"),
    ] {
        let answer = server.get(&format!("sys/monitor{query}"));
        answer.refused(400, text);
    }
    server
        .post("sys/monitor", "{}")
        .refused(405, &listed("unsupported operation"));
    let mut wrapped = request(Method::Get, "sys/monitor", "");
    wrapped.headers.push("X-Vault-Token", ROOT);
    wrapped.headers.push("X-Vault-Wrap-TTL", "60");
    server.handle(&wrapped).expect(400);

    let follower = Follower::begin(&server, ROOT, "");
    for target in ["sys/auth", "sys/monitor/x", "sys/monitor?list=true"] {
        let mut other = request(Method::Get, target, "");
        other.headers.push("X-Vault-Token", ROOT);
        let refused = server.resume(&other, &follower.continuation);
        assert_eq!(refused, Err(ResumeError::Foreign), "{target}");
    }

    let elsewhere = Server::initialized();
    let text = "this host keeps no log lines to follow: read its log where it writes it";
    elsewhere.get("sys/monitor").refused(400, text);
}
