//! Rules with conditions, applied to requests as clients send them (contract 5.6, 1.8).

use gatehouse_gateway::{Method, Response};
use serde_json::json;

use super::server::{Server, listed, request};

fn denied() -> String {
    listed("permission denied")
}

/// The grants on `sys/policies/acl/x`, with `conditions`.
fn rule(conditions: &str) -> String {
    format!(
        r#"path "sys/policies/acl/x" {{
             capabilities = ["create", "read", "update", "delete", "list"]
             {conditions}
           }}"#
    )
}

const BODY: &str = r#"{"policy":"path \"a\" {}"}"#;

#[test]
fn contract_5_6_json_forms_and_queries_all_bring_parameters() {
    let server = Server::initialized();
    let token = server.token_with(&rule(
        r#"allowed_parameters = { policy = [], version = ["1", 2, true] }"#,
    ));
    let send = |method, target: &str, body: &str| server.send(method, target, Some(&token), body);
    let path = "sys/policies/acl/x";
    send(Method::Post, path, BODY).expect(204);
    let with = |value: &str| format!(r#"{{"policy":"path \"a\" {{}}","Version":{value}}}"#);
    for value in [r#""1""#, "1", "2", r#""2""#, "true", r#""true""#] {
        send(Method::Put, path, &with(value)).expect(204);
    }
    let before = server.commits();
    for value in [
        r#""3""#,
        "3",
        "null",
        "[1]",
        r#"{"a":1}"#,
        "false",
        r#""\ud800""#,
    ] {
        send(Method::Put, path, &with(value)).refused(403, &denied());
    }
    send(Method::Put, path, r#"{"other":1}"#).refused(403, &denied());
    assert_eq!(server.commits(), before);

    let form = |body: &str| {
        let mut request = request(Method::Post, path, body);
        request.headers.push("X-Vault-Token", token.as_str());
        request
            .headers
            .push("Content-Type", "application/x-www-form-urlencoded");
        server.handle(&request)
    };
    form("policy=path%20%22a%22%20%7B%7D&version=1").expect(204);
    form("policy=path%20%22a%22%20%7B%7D&version=3").refused(403, &denied());

    send(Method::Get, path, "").expect(200);
    send(Method::Get, &format!("{path}?version=2"), "").expect(200);
    send(Method::Get, &format!("{path}?version=3"), "").refused(403, &denied());
    send(Method::Get, &format!("{path}?version=2&version=2"), "").refused(403, &denied());
    // The body of a read and the parameters of a deletion are ignored.
    send(Method::Get, path, r#"{"other":1}"#).expect(200);
    send(Method::Delete, &format!("{path}?other=1"), "").expect(204);
}

#[test]
fn contract_1_6_a_body_that_cannot_be_read_is_refused_after_the_policies() {
    let server = Server::initialized();
    let allowed = server.token_with(&rule(r#"denied_parameters = { x = [] }"#));
    let answer = server.send(Method::Put, "sys/policies/acl/x", Some(&allowed), "{bad");
    answer.expect(400);
    let required = server.token_with(&rule(r#"required_parameters = ["policy"]"#));
    let send = |body: &str| server.send(Method::Put, "sys/policies/acl/x", Some(&required), body);
    send("{bad").refused(403, &denied());
    send("{}").refused(403, &denied());
    send(BODY).expect(204);
}

#[test]
fn contract_1_8_limits_are_held_against_the_wrapping_that_was_asked_for() {
    let server = Server::initialized();
    server.post("sys/policies/acl/x", BODY).expect(204);
    let token = server.token_with(&rule(r#"min_wrapping_ttl = "1m" max_wrapping_ttl = "90s""#));
    let get = |ttl: Option<&str>| {
        let mut request = request(Method::Get, "sys/policies/acl/x", "");
        request.headers.push("X-Vault-Token", token.as_str());
        if let Some(ttl) = ttl {
            request.headers.push("X-Vault-Wrap-TTL", ttl);
        }
        server.handle(&request)
    };
    for ttl in [None, Some("0"), Some("59"), Some("91s")] {
        get(ttl).refused(403, &denied());
    }
    let wrapped = get(Some("60")).expect(200).json();
    assert_eq!(wrapped["wrap_info"]["ttl"], 60);
}

#[test]
fn a_policy_is_refused_with_the_texts_that_scripts_match() {
    let server = Server::initialized();
    let before = server.commits();
    for (text, error) in [
        (
            r#"path "a" { capabilities = ["reed"] }"#,
            r#"failed to parse policy: invalid capability "reed""#,
        ),
        (
            "path \"a\"\n{\n  capability = []\n}",
            r#"failed to parse policy: invalid key "capability" on line 3"#,
        ),
        (
            r#"path "a" { min_wrapping_ttl = "x" }"#,
            r#"failed to parse policy: error parsing min_wrapping_ttl: time: invalid duration "x""#,
        ),
        (
            r#"path "a" { min_wrapping_ttl = 5 max_wrapping_ttl = 4 }"#,
            "failed to parse policy: max_wrapping_ttl cannot be less than min_wrapping_ttl",
        ),
        (
            r#"path "a" {"#,
            "failed to parse policy: At 1:11: expected a key, got the end of the text",
        ),
    ] {
        let body = json!({ "policy": text }).to_string();
        server.post("sys/policies/acl/x", &body).refused(400, error);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn questions_about_capabilities_name_what_is_missing() {
    let server = Server::initialized();
    server
        .post("sys/capabilities-accessor", r#"{"path":"a"}"#)
        .refused(400, "missing accessor");
    server
        .post(
            "sys/capabilities-accessor",
            r#"{"path":"a","accessor":"x"}"#,
        )
        .refused(400, &listed("invalid accessor"));
    server
        .post("sys/capabilities-self", r#"{"paths":["","a"]}"#)
        .refused(400, &listed("missing path"));
    let twice = server.post("sys/capabilities-self", r#"{"paths":["a","a"]}"#);
    assert_eq!(twice.data(), json!({"a": ["root"]}));
    server
        .list("sys/policies/acl/default")
        .refused(405, &listed("unsupported operation"));
}

/// A policy with one capability on all policies and on their list.
fn only(capability: &str) -> String {
    format!(
        r#"path "sys/policies/acl" {{ capabilities = ["{capability}"] }}
           path "sys/policies/acl/*" {{ capabilities = ["{capability}"] }}"#
    )
}

#[test]
fn a3_each_verb_needs_its_own_capability_and_nothing_else_chooses_the_verb() {
    let rows = [
        (Method::Get, "sys/policies/acl/x", "read"),
        (Method::Get, "sys/policies/acl/x?list=false", "read"),
        (Method::Get, "sys/policies/acl/x?_method=DELETE", "read"),
        (Method::Get, "sys/policies/acl?list=true", "list"),
        (Method::Get, "sys/policies/acl/?list=1", "list"),
        (Method::Get, "sys/policies/acl/x?list=true", "list"),
        (Method::List, "sys/policies/acl", "list"),
        (Method::List, "sys/policies/acl/", "list"),
        (Method::List, "sys/policies/acl/x/", "list"),
        (Method::Post, "sys/policies/acl/x", "update"),
        (Method::Put, "sys/policies/acl/x", "update"),
        (Method::Patch, "sys/policies/acl/x", "patch"),
        (Method::Delete, "sys/policies/acl/x", "delete"),
    ];
    for granted in [
        "create", "read", "update", "delete", "list", "patch", "sudo", "deny",
    ] {
        let server = Server::initialized();
        let token = server.token_with(&only(granted));
        let mut refused = 0;
        for (method, target, needed) in rows {
            for verb in ["", "GET", "LIST", "PUT", "DELETE", "PATCH"] {
                let mut request = request(method, target, BODY);
                request.headers.push("X-Vault-Token", token.as_str());
                if method == Method::Patch {
                    let media_type = "application/merge-patch+json";
                    request.headers.push("Content-Type", media_type);
                }
                if !verb.is_empty() {
                    for name in [
                        "X-HTTP-Method-Override",
                        "X-HTTP-Method",
                        "X-Method-Override",
                    ] {
                        request.headers.push(name, verb);
                    }
                }
                let Response { status, .. } = server.handle(&request).0;
                assert_eq!(
                    status == 403,
                    granted != needed,
                    "{granted}: {method:?} {target} {verb}"
                );
                refused += usize::from(status == 403);
            }
        }
        assert!(refused > 0, "{granted}");
    }
}

#[test]
fn a3_head_reaches_nothing() {
    let server = Server::initialized();
    for granted in ["read", "list", "update"] {
        let token = server.token_with(&only(granted));
        let answer = server.send(Method::Head, "sys/policies/acl/x", Some(&token), "");
        assert_eq!((answer.0.status, answer.0.body.len()), (405, 0));
    }
}

/// Other spellings of `path`, below `/v1/`.
fn spellings(path: &str) -> Vec<String> {
    let mut spellings = vec![path.to_owned(), format!("{path}/"), format!("{path}//")];
    let (before, name) = path.rsplit_once('/').unwrap();
    for at in 0..name.len() {
        let (start, rest) = name.split_at(at);
        let (byte, end) = (rest.as_bytes()[0], &rest[1..]);
        spellings.push(format!("{before}/{start}%{byte:02x}{end}"));
        spellings.push(format!("{before}/{start}%{byte:02X}{end}"));
        spellings.push(format!("{before}/{start}%25{byte:02x}{end}"));
        spellings.push(format!(
            "{before}/{start}{}{end}",
            char::from(byte).to_ascii_uppercase()
        ));
        spellings.push(format!(
            "{before}/{start}%{:02x}{end}",
            byte.to_ascii_uppercase()
        ));
    }
    for inserted in [
        "/",
        "/./",
        "/../x/",
        "%2f",
        "%2F",
        "%5c",
        "\\",
        "/%2e/",
        "/%2e%2e/x/",
        "/%2E./x/",
        "/.%2e/x/",
        ";",
        "%00/",
        "/%00",
        "%20/",
        "/%20",
        "/%09",
        "/%e2%80%8b",
        "/\u{200b}",
        "?",
        "%3f",
        "%23",
        "/%c0%ae/",
        "//",
        "/;/",
        "/x/%2e%2e/",
        "/x/..%2f",
        "%252f",
    ] {
        spellings.push(format!("{before}{inserted}{name}"));
    }
    for end in [
        "%20",
        "%00",
        ".",
        "/.",
        "%2f",
        "%2F",
        "%09",
        "%0a",
        "%e2%80%8b",
        ";x",
        "%3b",
        "+",
    ] {
        spellings.push(format!("{path}{end}"));
    }
    spellings.push(path.to_uppercase());
    spellings.push(format!("{before}/{}", name.to_uppercase()));
    spellings.push(format!("./{path}"));
    spellings.push(format!("x/../{path}"));
    spellings
}

#[test]
fn a2_no_spelling_of_a_denied_path_reaches_what_it_names() {
    let server = Server::with_role();
    server.post("sys/policies/acl/prod", BODY).expect(204);
    let protected = [
        "sys/policies/acl/prod",
        "sys/policy/prod",
        "auth/gcp/role/dev",
        "sys/auth/gcp",
    ];
    let denials: String = protected
        .iter()
        .map(|path| format!("path \"{path}\" {{ capabilities = [\"deny\"] }}\n"))
        .collect();
    let all = r#"capabilities = ["create", "read", "update", "delete", "list", "patch", "sudo"]"#;
    let token = server.token_with(&format!("path \"*\" {{ {all} }}\n{denials}"));
    for path in protected {
        let kept = server.get(path).expect(200).data();
        let spellings = spellings(path);
        assert!(spellings.len() >= 60, "{path}: {}", spellings.len());
        for spelling in spellings {
            for method in [Method::Get, Method::Delete, Method::Put] {
                let answer = server.send(method, &spelling, Some(&token), BODY);
                // Other objects may be read, written and deleted, but this one must be neither shown nor changed.
                let shown = answer.0.status == 200 && answer.data() == kept;
                assert!(!shown, "{method:?} {spelling}: {}", answer.text());
            }
            assert_eq!(server.get(path).expect(200).data(), kept, "{spelling}");
        }
    }
}

#[test]
fn a4_no_spelling_of_root_gives_power_from_anywhere_that_a_policy_is_named() {
    for spelling in [
        "root",
        "Root",
        "ROOT",
        " root",
        "root ",
        "\troot",
        "r\u{43e}ot",
    ] {
        let server = Server::initialized();
        let token = server.token_with(
            r#"path "*" { capabilities = ["create", "read", "update", "list", "sudo"] }
               path "sys/policies/acl/secret" { capabilities = ["deny"] }"#,
        );
        server.post("sys/policies/acl/secret", BODY).expect(204);
        let reaches = |token: &str| {
            let answer = server.send(Method::Get, "sys/policies/acl/secret", Some(token), "");
            answer.0.status == 200
        };
        assert!(!reaches(&token));
        for path in ["auth/token/create", "auth/token/create-orphan"] {
            let body = json!({ "policies": [spelling] }).to_string();
            let made = server.send(Method::Post, path, Some(&token), &body);
            if made.0.status == 200 {
                let made = made.json()["auth"]["client_token"].clone();
                assert!(!reaches(made.as_str().unwrap()), "{path} {spelling:?}");
            }
        }
        // An entity and a group, whose policies apply to the tokens of all members.
        for (family, id) in [("entity", "e"), ("group", "g")] {
            let path = format!("identity/{family}");
            for policies in [
                json!([spelling]),
                json!(["a", spelling]),
                json!(format!("a,{spelling}")),
            ] {
                let before = server.commits();
                let body = json!({ "name": id, "policies": policies }).to_string();
                let answer = server.post(&path, &body);
                let refused = spelling.trim().eq_ignore_ascii_case("root");
                assert_eq!(
                    answer.0.status == 400,
                    refused,
                    "{family} {policies}: {}",
                    answer.text()
                );
                assert!(
                    !refused || server.commits() == before,
                    "{family} {policies}"
                );
            }
        }
    }
}
