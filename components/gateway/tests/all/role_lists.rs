//! `role/<name>/service-accounts` and `role/<name>/labels` (contract 3.6).

use gatehouse_auth_method::{EditError, ListEdit, RoleError, RoleType};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;
use serde_json::Value;

use super::rows::{rows, texts};
use super::server::{ROOT, Server, listed};

fn accounts_refused(error: EditError, status: u16, text: &str) {
    refused("service-accounts", error, status, text);
}

fn labels_refused(error: EditError, status: u16, text: &str) {
    refused("labels", error, status, text);
}

fn refused(list: &str, error: EditError, status: u16, text: &str) {
    let server = Server::with_role();
    let before = server.commits();
    server.script.edit.is(Err(error));
    server
        .post(&format!("auth/gcp/role/dev/{list}"), r#"{"add":"a"}"#)
        .refused(status, text);
    assert_eq!(server.commits(), before);
}

rows! { accounts_refused:
    accounts_of_a_gce_role: EditError::WrongType(RoleType::Gce) => 400 "role is type 'gce', cannot edit attribute 'service_accounts' (expected role type: 'iam')";
    d16_accounts_of_a_missing_role: EditError::RoleNotFound("x".to_owned()) => 400 "role \"x\" not found";
    accounts_neither_added_nor_removed: EditError::Empty => 400 "must provide at least one value to add or remove";
    accounts_emptied: EditError::Role(RoleError::NoServiceAccounts) => 400 "IAM role type must have at least one service account";
    accounts_ending_with_the_wildcard_and_others: EditError::Role(RoleError::WildcardWithOthers) => 400 "cannot provide IAM service account wildcard '*' (for all service accounts) with other service accounts";
    accounts_of_a_sealed_store: EditError::Storage(StoreError::Sealed.into()) => 503 "Vault is sealed";
}

rows! { labels_refused:
    labels_of_an_iam_role: EditError::WrongType(RoleType::Iam) => 400 "role is type 'iam', cannot edit attribute 'labels' (expected role type: 'gce')";
    labels_malformed: EditError::InvalidLabels(texts(&["x", "y"])) => 400 "given invalid labels to add: [\"x\" \"y\"]";
}

#[test]
fn lists_are_taken_in_every_spelling() {
    for (list, body, edit) in [
        (
            "service-accounts",
            r#"{"add":["a"," b "],"remove":"c,d"}"#,
            (&["a", "b"][..], &["c", "d"][..]),
        ),
        ("service-accounts", r#"{"remove":7}"#, (&[], &["7"])),
        ("labels", r#"{"add":"a:1,b:2"}"#, (&["a:1", "b:2"], &[])),
        (
            "labels",
            r#"{"add":{"a":"1"},"remove":["b"]}"#,
            (&["a:1"], &["b"]),
        ),
        ("labels", r#"{"add":null,"remove":["b"]}"#, (&[], &["b"])),
    ] {
        for method in [Method::Post, Method::Put] {
            let server = Server::with_role();
            server.script.edit.is(Ok(Vec::new()));
            let target = format!("auth/gcp/role/dev/{list}");
            let answer = server.send(method, &target, Some(ROOT), body).expect(200);
            assert_eq!((answer.data(), answer.warnings().len()), (Value::Null, 0));
            let edits = server.script.edits.lock().unwrap();
            let expected = ListEdit {
                add: texts(edit.0),
                remove: texts(edit.1),
            };
            assert_eq!(edits.len(), 1);
            assert_eq!(edits[0].1, expected, "{body}");
        }
    }
}

#[test]
fn d17_names_are_folded_before_policies_see_them() {
    let server = Server::with_role();
    let token = server.token_with(
        r#"
        path "auth/gcp/role/+/labels" { capabilities = ["update"] }
        path "auth/gcp/role/dev/labels" { capabilities = ["deny"] }
        "#,
    );
    let edit = |name: &str| {
        let target = format!("auth/gcp/role/{name}/labels");
        server.send(Method::Post, &target, Some(&token), r#"{"add":"a:b"}"#)
    };
    for name in ["dev", "DEV", "%44ev"] {
        edit(name).refused(403, &listed("permission denied"));
    }
    server.script.edit.is(Ok(Vec::new()));
    edit("Other").expect(200);
    let edits = server.script.edits.lock().unwrap();
    assert_eq!(edits[0].0, "labels of other");
}

#[test]
fn only_writes_of_known_fields_reach_the_role() {
    let server = Server::with_role();
    let before = server.commits();
    for list in ["service-accounts", "labels"] {
        let target = format!("auth/gcp/role/dev/{list}");
        for method in [Method::Get, Method::Delete, Method::List] {
            let answer = server.send(method, &target, Some(ROOT), "");
            answer.refused(405, &listed("unsupported operation"));
        }
        server
            .post(&target, r#"{"add":"a","added":"b"}"#)
            .refused(422, &listed(r#"unknown fields: ["added"]"#));
    }
    for target in ["auth/gcp/role/dev/zones", "auth/gcp/role/-/labels"] {
        server
            .post(target, r#"{"add":"a"}"#)
            .refused(404, &listed("unsupported path"));
    }
    assert!(server.script.edits.lock().unwrap().is_empty());
    assert_eq!(server.commits(), before);
}

#[test]
fn a_name_in_the_body_is_replaced_with_a_warning() {
    let server = Server::with_role();
    server.script.edit.is(Ok(Vec::new()));
    let answer = server.post("auth/gcp/role/dev/labels", r#"{"name":"x","add":"a:b"}"#);
    let warning = "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]";
    assert_eq!(answer.expect(200).warnings(), [warning]);
}

#[test]
fn editing_needs_update_also_for_a_role_called_role() {
    let server = Server::with_role();
    let creator = server.token_with(r#"path "auth/gcp/*" { capabilities = ["create"] }"#);
    let send = |target: &str| server.send(Method::Post, target, Some(&creator), r#"{"add":"a"}"#);
    for target in ["auth/gcp/role/dev/labels", "auth/gcp/role/role/labels"] {
        send(target).refused(403, &listed("permission denied"));
    }
    server.script.edit.is(Ok(Vec::new()));
    server
        .post("auth/gcp/role/role/labels", r#"{"add":"a:b"}"#)
        .expect(200);
    assert_eq!(server.script.edits.lock().unwrap()[0].0, "labels of role");
}
