//! `sys/backup`: all data of the server, as a file (SEC-S11).

use std::sync::{Arc, Mutex};

use gatehouse_gateway::host::{BackupError, Backups, Host};
use gatehouse_gateway::{Method, Part, Request, ResumeError, Settings};
use serde_json::json;

use super::server::{ROOT, Server, listed, request};

const NAME: &str = "a-name";

/// A host with one backup of three parts.
#[derive(Clone, Default)]
struct Making {
    installation: Arc<Mutex<Option<String>>>,
    given: Arc<Mutex<usize>>,
    failure: Arc<Mutex<Option<BackupError>>>,
}

impl Making {
    fn fails(&self) -> Result<(), BackupError> {
        let failure = self.failure.lock().unwrap();
        failure.clone().map_or(Ok(()), Err)
    }
}

impl Backups for Making {
    fn begin(&self, installation: Option<&str>) -> Result<String, BackupError> {
        self.fails()?;
        *self.installation.lock().unwrap() = installation.map(str::to_owned);
        *self.given.lock().unwrap() = 0;
        Ok(NAME.to_owned())
    }

    fn next(&self, name: &str) -> Result<Option<Vec<u8>>, BackupError> {
        self.fails()?;
        assert_eq!(name, NAME);
        let mut given = self.given.lock().unwrap();
        *given += 1;
        Ok((*given <= 3).then(|| format!("part {given} ").into_bytes()))
    }
}

fn server() -> (Server, Making) {
    let making = Making::default();
    let host = Host {
        backups: Box::new(making.clone()),
        ..Host::default()
    };
    let server = Server::on(host, Settings::default()).initialize();
    (server, making)
}

fn asked(token: &str) -> Request {
    let mut request = request(Method::Get, "sys/backup", "");
    request.headers.push("X-Vault-Token", token);
    request
}

/// Begins to read a backup, and returns the continuation.
fn begun(server: &Server, token: &str) -> Vec<u8> {
    let answer = server.handle(&asked(token)).0;
    assert_eq!(answer.status, 200);
    assert!(answer.body.is_empty());
    let rest = answer.rest.unwrap();
    assert_eq!(rest.wait, 0, "it has an end");
    rest.continuation
}

#[test]
fn a_backup_comes_in_parts_and_names_the_installation() {
    let (server, making) = server();
    let answer = server.handle(&asked(ROOT)).0;
    assert_eq!(
        answer.header("content-type"),
        Some("application/octet-stream")
    );
    let disposition = answer.header("content-disposition").unwrap();
    assert!(disposition.contains("gatehouse.backup"), "{disposition}");
    let mut rest = answer.rest;
    let mut file = Vec::new();
    while let Some(next) = rest {
        let part = server.resume(&asked(ROOT), &next.continuation).unwrap();
        file.extend(part.body);
        rest = part.rest;
    }
    assert_eq!(file, b"part 1 part 2 part 3 ");
    let cluster = server.get("sys/health").expect(200).json();
    assert_eq!(
        making.installation.lock().unwrap().as_deref(),
        cluster["cluster_id"].as_str()
    );
}

#[test]
fn a3_a_backup_needs_sudo_and_is_cut_off_when_the_token_ends() {
    let (server, _) = server();
    let reader = server.token_with(r#"path "sys/backup" { capabilities = ["read"] }"#);
    let denied = server.send(Method::Get, "sys/backup", Some(&reader), "");
    denied.refused(403, &listed("permission denied"));
    let operator = server.token_with(r#"path "sys/backup" { capabilities = ["read", "sudo"] }"#);
    let continuation = begun(&server, &operator);
    let first = server.resume(&asked(&operator), &continuation).unwrap();
    assert_eq!(first.body, b"part 1 ");
    server
        .send(Method::Post, "auth/token/revoke-self", Some(&operator), "")
        .expect(204);
    let refused = server.resume(&asked(&operator), &continuation);
    assert_eq!(refused, Err(ResumeError::Refused));
}

#[test]
fn t4_a_backup_takes_one_use_of_a_token() {
    let (server, _) = server();
    let text = r#"path "sys/backup" { capabilities = ["read", "sudo"] }"#;
    let body = json!({ "policy": text }).to_string();
    server.post("sys/policies/acl/operator", &body).expect(204);
    for (uses, is_read) in [(1, false), (2, true)] {
        let body = json!({"policies": ["operator"], "num_uses": uses}).to_string();
        let made = server.post("auth/token/create", &body).expect(200).json();
        let token = made["auth"]["client_token"].as_str().unwrap();
        if is_read {
            let continuation = begun(&server, token);
            for _ in 0..3 {
                server.resume(&asked(token), &continuation).unwrap();
            }
        } else {
            let refused = server.send(Method::Get, "sys/backup", Some(token), "");
            refused.refused(403, &listed("permission denied"));
        }
    }
}

#[test]
fn a_backup_that_does_not_go_on_is_cut_off_and_does_not_look_complete() {
    let (server, making) = server();
    let continuation = begun(&server, ROOT);
    let part: Part = server.resume(&asked(ROOT), &continuation).unwrap();
    assert!(part.rest.is_some());
    let failure = BackupError::Unavailable("the disk is gone".to_owned());
    *making.failure.lock().unwrap() = Some(failure);
    let failed = server.resume(&asked(ROOT), &continuation);
    assert_eq!(failed, Err(ResumeError::Failed));
    for target in ["sys/monitor", "sys/backup/x", "sys/backup?list=true"] {
        let mut other = request(Method::Get, target, "");
        other.headers.push("X-Vault-Token", ROOT);
        let refused = server.resume(&other, &continuation);
        assert_eq!(refused, Err(ResumeError::Foreign), "{target}");
    }
}

#[test]
fn a_backup_that_cannot_be_made_is_refused_with_what_mends_it() {
    let (server, making) = server();
    for (failure, status, text) in [
        (
            BackupError::Busy,
            503,
            "as many backups are being made as may be at one time: try again when one is complete",
        ),
        (
            BackupError::Unavailable("secret detail".to_owned()),
            503,
            "the backup cannot be made now",
        ),
    ] {
        *making.failure.lock().unwrap() = Some(failure);
        server.get("sys/backup").refused(status, text);
    }
    let elsewhere = Server::initialized();
    let text = "this host makes no backups: make one by `gatehouse operator backup --spin-runtime`, with records in PostgreSQL by --postgres-url-file, or back its store up where it is kept";
    elsewhere.get("sys/backup").refused(400, text);
    elsewhere
        .post("sys/backup", "{}")
        .refused(405, &listed("unsupported operation"));
}
