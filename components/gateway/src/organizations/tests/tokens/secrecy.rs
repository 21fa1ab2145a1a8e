//! No record of an exchange shows the text of a token (SEC-L2).

use std::sync::{Arc, Mutex};

use super::*;
use crate::host::{AuditEntry, AuditFailure, AuditLog, AuditSink, Host};

/// What stays readable of all records, as it was written.
#[derive(Clone, Default)]
struct Readable(Arc<Mutex<Vec<String>>>);

impl AuditLog for Readable {
    fn is_on(&self) -> bool {
        true
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AuditFailure> {
        let document: Value = serde_json::from_str(&entry.document).unwrap();
        let found = entry.clear.iter().filter_map(|at| document.pointer(at));
        let found = found.map(Value::to_string);
        self.0.lock().unwrap().extend(found);
        Ok(())
    }

    fn sinks(&self) -> Vec<AuditSink> {
        Vec::new()
    }

    fn hash(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

#[test]
fn l2_a_token_is_readable_neither_where_it_is_told_nor_where_it_is_presented() {
    let readable = Readable::default();
    let mut world = self_hosted();
    world.gateway = world.gateway.with_host(Host {
        audit: Box::new(readable.clone()),
        ..Host::default()
    });
    let ada = world.user("ada", false);
    world.create_named("acme");
    let own = secret(&world.issue(ACME_TOKEN, &json!({"description": "of ci"})));
    for token in [&ada, &own] {
        world.status(token, Method::Get, ACME_TOKEN);
        // Who takes it for an identifier.
        let mistaken = format!("/api/v2/authentication-tokens/{token}");
        assert_not_found(&world.get(&mistaken));
        assert_not_found(&world.get(&format!("{mistaken}/")));
    }
    let readable = readable.0.lock().unwrap();
    assert!(
        readable
            .iter()
            .any(|text| text.contains("authentication-tokens/<secret>"))
    );
    for text in readable.iter() {
        for token in [&ada, &own] {
            assert!(!text.contains(&token[..14]), "{text}");
            assert!(!text.contains(&token[23..]), "{text}");
        }
    }
}
