//! `sys/audit` and `sys/audit-hash`.

use gatehouse_gateway::Method;
use serde_json::json;

use crate::server::{Server, listed};

#[test]
fn contract_6_5_sinks_are_listed_as_the_reference_lists_them() {
    let server = Server::initialized();
    let answer = server.get("sys/audit").expect(200).json();
    let sinks = json!({"main/": {"description": "", "local": false, "path": "main/", "type": "file",
        "options": {"file_path": "/var/log/audit.log"}}});
    assert_eq!(answer["data"], sinks);
    assert_eq!(answer["main/"], sinks["main/"]);
}

#[test]
fn l4_no_request_enables_or_disables_a_sink() {
    let server = Server::initialized();
    let before = server.commits();
    let body = r#"{"type":"file","options":{"file_path":"/tmp/run.sh","mode":"0755"}}"#;
    for method in [Method::Post, Method::Put] {
        let answer = server.send(method, "sys/audit/new", Some(crate::server::ROOT), body);
        answer.refused(
            400,
            "cannot enable audit device via API; name it in the configuration file of the server, as [audit.NAME]",
        );
    }
    server.delete("sys/audit/main").refused(
        400,
        "cannot disable configuration-managed audit device; take it out of the configuration file of the server",
    );
    server.delete("sys/audit/none").expect(204);
    server
        .get("sys/audit/main")
        .refused(405, &listed("unsupported operation"));
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_6_5_a_text_can_be_looked_for_by_its_hash() {
    let server = Server::initialized();
    let answer = server.post("sys/audit-hash/main", r#"{"input":"abc"}"#);
    let answer = answer.expect(200).json();
    assert_eq!(answer["data"], json!({"hash": "hmac-sha256:3"}));
    assert_eq!(answer["hash"], "hmac-sha256:3");
    server
        .post("sys/audit-hash/main", r#"{"input":""}"#)
        .refused(400, r#"the "input" parameter is empty"#);
    server
        .post("sys/audit-hash/none", r#"{"input":"abc"}"#)
        .refused(400, r#"unknown audit backend "none/""#);
    server
        .get("sys/audit-hash/main")
        .refused(405, &listed("unsupported operation"));
}

#[test]
fn contract_5_6_sinks_need_sudo() {
    let server = Server::initialized();
    let token =
        server.token_with(r#"path "sys/audit*" { capabilities = ["read", "update", "delete"] }"#);
    for (method, target) in [(Method::Get, "sys/audit"), (Method::Put, "sys/audit/x")] {
        let answer = server.send(method, target, Some(&token), "{}");
        answer.refused(403, &listed("permission denied"));
    }
}
