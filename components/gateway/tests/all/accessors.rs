//! The list of accessors, and the limits of lists (contract 5.4, SEC-S14).

use std::collections::BTreeSet;

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Server, listed};

fn keys(server: &Server, query: &str) -> Vec<String> {
    let answer = server.list(&format!("auth/token/accessors{query}"));
    serde_json::from_value(answer.expect(200).data()["keys"].clone()).unwrap()
}

#[test]
fn contract_5_4_accessors_are_listed_and_each_leads_to_its_token() {
    let server = Server::initialized();
    let made = server.post("auth/token/create", "{}").expect(200).json();
    let listed = keys(&server, "");
    assert_eq!(listed.len(), 2);
    assert!(
        listed
            .iter()
            .any(|key| made["auth"]["accessor"] == key.as_str())
    );
    for accessor in &listed {
        let body = json!({ "accessor": accessor }).to_string();
        server.post("auth/token/lookup-accessor", &body).expect(200);
    }
    assert_eq!(keys(&server, "/"), listed);
    let read = server.get("auth/token/accessors?list=true").expect(200);
    assert_eq!(read.data()["keys"], json!(listed));
}

#[test]
fn s14_a_page_goes_on_after_a_key() {
    let server = Server::initialized();
    for _ in 0..4 {
        server.post("auth/token/create", "{}").expect(200);
    }
    let whole = keys(&server, "");
    assert_eq!(whole.len(), 5);
    for all in [
        "?limit=0",
        "?limit=-1",
        "?limit=",
        "?after=",
        "?limit=99999999",
    ] {
        assert_eq!(keys(&server, all), whole, "{all}");
    }
    assert_eq!(keys(&server, "?limit=2"), whole[..2]);
    let after = |key: &str, rest: &str| keys(&server, &format!("?after={key}{rest}"));
    assert_eq!(after(&whole[1], "&limit=2"), whole[2..4]);
    assert_eq!(after(&whole[1], ""), whole[2..]);
    server
        .list(&format!("auth/token/accessors?after={}", whole[4]))
        .silently_refused(404);
    let distinct: BTreeSet<_> = whole.iter().collect();
    assert_eq!(distinct.len(), whole.len());
}

#[test]
fn a_page_that_was_asked_for_has_no_warning_and_a_wrong_query_has() {
    let server = Server::initialized();
    server.post("auth/token/create", "{}").expect(200);
    let warnings = |query: &str| {
        let answer = server.list(&format!("auth/token/accessors?{query}"));
        answer.expect(200).warnings()
    };
    assert_eq!(warnings("limit=1"), [""; 0]);
    assert_eq!(
        warnings("limit=1&first=2"),
        ["Endpoint ignored these unrecognized parameters: [first]"]
    );
    for (limit, why) in [
        ("abc", "parsing \"abc\": invalid syntax"),
        ("1.5", "parsing \"1.5\": invalid syntax"),
        (
            "99999999999999999999",
            "parsing \"99999999999999999999\": value out of range",
        ),
    ] {
        let text = format!(
            "Field validation failed: error converting input for field \"limit\": cannot parse as int: strconv.ParseInt: {why}"
        );
        server
            .list(&format!("auth/token/accessors?limit={limit}"))
            .refused(400, &text);
    }
}

#[test]
fn s14_a_list_that_is_too_long_for_one_answer_says_how_it_goes_on() {
    let server = Server::initialized();
    for _ in 0..10_000 {
        server.post("auth/token/create", "{}").expect(200);
    }
    for query in ["", "?limit=-1", "?limit=10001"] {
        let answer = server
            .list(&format!("auth/token/accessors{query}"))
            .expect(200);
        let keys = answer.data()["keys"].as_array().unwrap().clone();
        assert_eq!(keys.len(), 10_000);
        let last = keys[9_999].as_str().unwrap();
        assert_eq!(
            answer.warnings(),
            [format!(
                "This list goes on: ask for the keys that follow with the query parameter after={last}"
            )]
        );
    }
    let asked = server.list("auth/token/accessors?limit=10000").expect(200);
    assert!(asked.warnings().is_empty());
}

#[test]
fn contract_5_4_accessors_need_sudo_and_are_only_listed() {
    let server = Server::initialized();
    let list = |policy: &str| {
        let token = server.token_with(policy);
        server.send(Method::List, "auth/token/accessors", Some(&token), "")
    };
    list(r#"path "auth/token/accessors" { capabilities = ["list"] }"#)
        .refused(403, &listed("permission denied"));
    list(r#"path "auth/token/accessors" { capabilities = ["list", "sudo"] }"#).expect(200);
    for method in [Method::Get, Method::Post, Method::Delete] {
        server
            .send(
                method,
                "auth/token/accessors",
                Some(super::server::ROOT),
                "",
            )
            .refused(405, &listed("unsupported operation"));
    }
}
