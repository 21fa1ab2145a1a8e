//! Malformed bodies get a clear 4xx, and nothing is stored (contract 1.3, SEC-H11).

use gatehouse_gateway::{MAXIMUM_BODY_BYTES, Method};

use super::server::{ROOT, Server, request};

/// Paths where a write stores something.
const WRITES: [&str; 5] = [
    "auth/gcp/config",
    "auth/gcp/role/other",
    "sys/auth/other",
    "sys/policies/acl/other",
    "auth/token/create",
];

fn refuse_everywhere(body: &[u8], content_type: &str, status: u16, text: &str) {
    let server = Server::with_role();
    let before = server.commits();
    for path in WRITES {
        let mut request = request(Method::Post, path, "");
        request.body = body.to_vec();
        request.headers.push("x-vault-token", ROOT);
        request.headers.push("content-type", content_type);
        server.handle(&request).refused(status, text);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn what_is_not_a_json_object_is_refused() {
    for body in [
        "{",
        "nonsense",
        "[]",
        "1",
        "\"x\"",
        "{\"type\":\"gcp\"} {}",
        "{'a':1}",
    ] {
        refuse_everywhere(
            body.as_bytes(),
            "application/json",
            400,
            "error parsing JSON",
        );
    }
}

#[test]
fn what_is_not_utf8_is_refused() {
    let text = "error parsing JSON: body is not UTF-8";
    refuse_everywhere(b"{\"type\":\"\xff\"}", "", 400, text);
    refuse_everywhere(b"type=\xff", "application/x-www-form-urlencoded", 400, text);
}

#[test]
fn h11_what_is_too_deep_is_refused() {
    let text = "error parsing JSON: more than 32 levels of nesting";
    let body = format!("{{\"policy\":{}1{}}}", "[".repeat(40), "]".repeat(40));
    refuse_everywhere(body.as_bytes(), "application/json", 400, text);
    refuse_everywhere(
        "[".repeat(1_000_000).as_bytes(),
        "application/json",
        400,
        text,
    );
}

#[test]
fn h11_what_has_too_many_members_is_refused() {
    let text = "error parsing JSON: more than 10000 members and elements";
    let body = format!("{{\"policy\":[{}1]}}", "1,".repeat(20_000));
    refuse_everywhere(body.as_bytes(), "application/json", 400, text);
    let form = "a=1&".repeat(20_000);
    refuse_everywhere(
        form.as_bytes(),
        "application/x-www-form-urlencoded",
        400,
        text,
    );
}

#[test]
fn h11_numbers_without_end_are_refused() {
    let body = format!("{{\"token_ttl\":{}}}", "9".repeat(65));
    let text = "error parsing JSON: a number of more than 64 characters";
    refuse_everywhere(body.as_bytes(), "application/json", 400, text);
}

#[test]
fn h1_what_is_too_large_is_refused_and_the_limit_itself_is_not() {
    let of_size = |bytes: usize| {
        let frame = r#"{"description":"","type":"gcp"}"#.len();
        format!(
            r#"{{"description":"{}","type":"gcp"}}"#,
            "x".repeat(bytes - frame)
        )
    };
    let server = Server::initialized();
    let before = server.commits();
    let over = server.post("sys/auth/gcp", &of_size(MAXIMUM_BODY_BYTES + 1));
    over.refused(413, "request body too large");
    assert_eq!(server.commits(), before);
    // The gateway accepts a body at the limit; the next check decides whether a description may be that long.
    let at = server.post("sys/auth/gcp", &of_size(MAXIMUM_BODY_BYTES));
    assert_ne!(at.0.status, 413);
}

#[test]
fn h10_compressed_and_multipart_bodies_are_refused() {
    let server = Server::initialized();
    let before = server.commits();
    for (name, value) in [
        ("content-encoding", "gzip"),
        ("content-type", "multipart/form-data"),
    ] {
        let mut request = request(Method::Post, "sys/auth/gcp", r#"{"type":"gcp"}"#);
        request.headers.push("x-vault-token", ROOT);
        request.headers.push(name, value);
        server.handle(&request).expect(415);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn h10_json_is_read_under_any_type_and_forms_under_theirs_alone() {
    let server = Server::with_role();
    let ttl = |content_type: &str, body: &str| {
        let mut request = request(Method::Post, "auth/gcp/role/dev", body);
        request.headers.push("x-vault-token", ROOT);
        if !content_type.is_empty() {
            request.headers.push("content-type", content_type);
        }
        let status = server.handle(&request).0.status;
        (
            status,
            server.get("auth/gcp/role/dev").data()["token_ttl"].clone(),
        )
    };
    let types = [
        "",
        "application/json",
        "text/plain",
        "application/vnd.api+json",
        "application/x-www-form-urlencoded",
        "nonsense",
    ];
    for (number, content_type) in types.into_iter().enumerate() {
        let wanted = 60 + number;
        let json = format!("{{\"token_ttl\":{wanted}}}");
        let found = ttl(content_type, &json);
        assert_eq!(found, (200, wanted.into()), "{content_type:?}");
    }
    let form = ttl("application/x-www-form-urlencoded", "token_ttl=90");
    assert_eq!(form, (200, 90.into()));
    for content_type in ["", "application/json", "text/plain", "nonsense"] {
        let (status, kept) = ttl(content_type, "token_ttl=91");
        assert_eq!((status, kept), (400, 90.into()), "{content_type:?}");
    }
}

#[test]
fn h11_a_key_that_stands_twice_is_refused_at_any_depth() {
    let server = Server::with_role();
    let before = server.commits();
    for (path, body) in [
        ("auth/gcp/login", r#"{"role":"dev","jwt":"a","jwt":"b"}"#),
        ("auth/gcp/role/dev", r#"{"token_ttl":1,"token_ttl":2}"#),
        (
            "sys/auth/new",
            r#"{"type":"gcp","config":{"max_lease_ttl":1,"max_\u006cease_ttl":2}}"#,
        ),
        (
            "identity/entity",
            r#"{"name":"x","metadata":{"a":"1","a":"2"}}"#,
        ),
    ] {
        let answer = server.send(Method::Put, path, Some(ROOT), body);
        answer.refused(400, "duplicate key");
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn bodies_of_reads_and_deletes_are_ignored() {
    let server = Server::with_role();
    let read = server.send(Method::Get, "auth/gcp/role/dev", Some(ROOT), "{\"name\":");
    read.expect(200);
    server
        .send(Method::List, "auth/gcp/roles", Some(ROOT), "[")
        .expect(200);
    server
        .send(Method::Delete, "auth/gcp/role/dev", Some(ROOT), "\u{0}")
        .expect(204);
}

#[test]
fn empty_bodies_and_null_have_no_fields() {
    let server = Server::with_role();
    for body in ["", " ", "null", "{}"] {
        server.post("auth/gcp/config", body).expect(204);
        server.post("auth/gcp/role/dev", body).expect(200);
    }
}
