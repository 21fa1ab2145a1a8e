//! Answers that tell the text of a token and cannot be recorded (SEC-L1).

use std::sync::{Arc, Mutex};

use super::audit_trails::premium;
use super::*;
use crate::host::{AuditEntry, AuditFailure, AuditLog, AuditSink, Host, Side};

/// Takes the records of requests, and those of answers until told otherwise.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    refuses_answers: bool,
    answers: Vec<Value>,
}

impl AuditLog for Sink {
    fn is_on(&self) -> bool {
        true
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AuditFailure> {
        let mut kept = self.0.lock().unwrap();
        if entry.side == Side::Request {
            return Ok(());
        }
        kept.answers
            .push(serde_json::from_str(&entry.document).unwrap());
        if kept.refuses_answers {
            Err(AuditFailure::NoSink)
        } else {
            Ok(())
        }
    }

    fn sinks(&self) -> Vec<AuditSink> {
        Vec::new()
    }

    fn hash(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

/// What is stored of tokens that open something.
fn stored(world: &World) -> Vec<String> {
    let keys = world.store.keys().into_iter();
    keys.filter(|key| {
        ["token/", "token-id/", "slot/", "tokens-of/"]
            .iter()
            .any(|prefix| key.starts_with(prefix))
    })
    .collect()
}

/// A world on whose audit log answers are refused from now on, and what was answered.
fn refusing(world: World) -> (World, Sink) {
    let sink = Sink::default();
    sink.0.lock().unwrap().refuses_answers = true;
    let host = Host {
        audit: Box::new(sink.clone()),
        ..Host::default()
    };
    let gateway = world.gateway.with_host(host);
    (World { gateway, ..world }, sink)
}

/// Asks for a token whose answer cannot be recorded, and gives the text that no client was told.
fn untold(world: &World, sink: &Sink, target: &str, sent: &Value, pointer: &str) -> String {
    let refused = world.send(Method::Post, target, Some(sent));
    assert_eq!(refused.status, 500, "{target}");
    let mut kept = sink.0.lock().unwrap();
    let answer = kept.answers.pop().unwrap();
    let found = answer.pointer(&format!("/response/data{pointer}"));
    let token = found.unwrap().as_str().unwrap().to_owned();
    assert!(token.contains(".atlasv1."));
    assert!(!text(&refused).contains(&token));
    token
}

#[test]
fn l1_an_api_token_whose_answer_cannot_be_recorded_ends_at_once() {
    let world = premium();
    let external = external_id(&body(&world.get(ACME)));
    let team = format!("/api/v2/teams/{}", world.owners(&external));
    let ada = world.user("ada", false);
    let details = body(&world.send_as(&ada, Method::Get, "/api/v2/account/details", None));
    let pool = json!({"data": {"type": "agent-pools", "attributes": {"name": "pool"}}});
    let pool = world.send(Method::Post, &format!("{ACME}/agent-pools"), Some(&pool));
    let pool = id(&body(&pool));
    let before = stored(&world);
    let (world, sink) = refusing(world);
    for target in [
        ACME_TOKEN.to_owned(),
        format!("{ACME_TOKEN}?token=audit-trails"),
        format!("{team}/authentication-token"),
        format!("{team}/authentication-tokens"),
        format!("/api/v2/users/{}/authentication-tokens", id(&details)),
        format!("/api/v2/agent-pools/{pool}/authentication-tokens"),
    ] {
        let sent = token_document(&json!({"description": "of ci"}));
        let pointer = "/data/attributes/token";
        let token = untold(&world, &sink, &target, &sent, pointer);
        assert_eq!(stored(&world), before, "{target}");
        sink.0.lock().unwrap().refuses_answers = false;
        assert_eq!(world.status(&token, Method::Get, ACME), 401, "{target}");
        sink.0.lock().unwrap().refuses_answers = true;
    }
}

#[test]
fn l1_a_token_that_replaces_another_ends_too_and_the_other_does_not_come_back() {
    let world = premium();
    let none = stored(&world);
    let old = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&old, Method::Get, ACME), 200);
    let (world, sink) = refusing(world);
    let sent = token_document(&json!({}));
    let new = untold(&world, &sink, ACME_TOKEN, &sent, "/data/attributes/token");
    assert_eq!(stored(&world), none);
    sink.0.lock().unwrap().refuses_answers = false;
    for token in [old, new] {
        assert_eq!(world.status(&token, Method::Get, ACME), 401);
    }
    assert_not_found(&world.get(ACME_TOKEN));
    // As soon as it can be recorded there is one again.
    let next = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&next, Method::Get, ACME), 200);
}

#[test]
fn l1_the_first_token_of_a_user_ends_where_it_cannot_be_recorded() {
    let world = self_hosted();
    let before = stored(&world);
    let (world, sink) = refusing(world);
    let sent = json!({"data": {"type": "users", "attributes": {
        "username": "ada", "email": "ada@example.com", "is-site-admin": true,
    }}});
    let token = untold(&world, &sink, "/api/v2/admin/users", &sent, "/meta/token");
    assert_eq!(stored(&world), before);
    sink.0.lock().unwrap().refuses_answers = false;
    let account = "/api/v2/account/details";
    assert_eq!(world.status(&token, Method::Get, account), 401);
}

#[test]
fn l1_a_token_that_is_only_shown_stays_where_that_cannot_be_recorded() {
    let world = self_hosted();
    world.create_named("acme");
    let token = secret(&world.issue(ACME_TOKEN, &json!({})));
    let (world, sink) = refusing(world);
    assert_eq!(world.get(ACME_TOKEN).status, 500);
    sink.0.lock().unwrap().refuses_answers = false;
    assert_eq!(world.status(&token, Method::Get, ACME), 200);
}
