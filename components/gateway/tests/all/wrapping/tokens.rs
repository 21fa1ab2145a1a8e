//! The uses of a wrapping token.

use gatehouse_gateway::Method;
use serde_json::json;

use super::{INVALID, UNWRAP, naming, send_wrapped, token_of, unwrap, wrap, wrapped};
use crate::server::{Answer, ROOT, Server, identity, listed};

const REWRAP: &str = "sys/wrapping/rewrap";
const LOOKUP: &str = "sys/wrapping/lookup";

#[test]
fn lookup_says_what_the_token_is_for_and_takes_no_use() {
    let server = Server::initialized();
    let token = wrap(&server);
    server.pass(30);
    let data = json!({"creation_path": "sys/wrapping/wrap", "creation_time": "2026-11-21T10:00:00Z", "creation_ttl": 60});
    for (method, caller, body) in [
        (Method::Get, Some(token.as_str()), String::new()),
        (Method::Post, Some(&token), String::new()),
        (Method::Post, Some(&token), naming(&token)),
        (Method::Put, None, naming(&token)),
        (Method::Post, Some("hvs.bad"), naming(&token)),
        (Method::Post, Some(ROOT), naming(&token)),
    ] {
        let shown = server.send(method, LOOKUP, caller, &body).expect(200);
        assert_eq!(shown.data(), data);
    }
    unwrap(&server, &token).expect(200);
    for (method, caller, body) in [
        (Method::Get, Some(token.as_str()), String::new()),
        (Method::Get, None, naming(&token)),
        (Method::Post, None, String::new()),
        (Method::Post, None, naming(&token)),
        (Method::Post, Some(ROOT), String::new()),
        (Method::Post, Some(ROOT), naming(ROOT)),
    ] {
        server
            .send(method, LOOKUP, caller, &body)
            .refused(400, INVALID);
    }
}

#[test]
fn unwrap_takes_the_token_as_caller_or_from_the_body_of_another() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let login = server.send(
        Method::Put,
        "auth/gcp/login",
        None,
        r#"{"role":"dev","jwt":"a.b.c"}"#,
    );
    let ordinary = login.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    // The caller is the wrapping token itself, named or not, or another caller who names it.
    for (caller, named) in [
        (None, false),
        (None, true),
        (Some(ordinary.as_str()), true),
        (Some(ROOT), true),
    ] {
        let token = wrap(&server);
        let body = if named { naming(&token) } else { String::new() };
        let caller = caller.unwrap_or(&token);
        let send = || server.send(Method::Post, UNWRAP, Some(caller), &body);
        assert_eq!(send().expect(200).data(), json!({"a": 1}));
        send().refused(400, INVALID);
    }
}

#[test]
fn what_is_no_wrapping_token_is_refused_in_one_way() {
    let server = Server::initialized();
    let expired = wrap(&server);
    server.pass(60);
    for path in [UNWRAP, REWRAP] {
        for token in [expired.as_str(), "hvs.unknown"] {
            server
                .send(Method::Put, path, Some(token), "")
                .refused(400, INVALID);
            server
                .send(Method::Put, path, Some(token), &naming(token))
                .refused(400, INVALID);
            server.post(path, &naming(token)).refused(400, INVALID);
        }
        server.post(path, "").refused(400, INVALID);
        server.post(path, &naming(ROOT)).refused(400, INVALID);
    }
}

#[test]
fn a_caller_without_rights_cannot_unwrap_and_costs_nobody_the_use() {
    let server = Server::initialized();
    let token = wrap(&server);
    let body = naming(&token);
    server
        .send(Method::Put, UNWRAP, None, &body)
        .refused(403, "permission denied");
    let invalid = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";
    server
        .send(Method::Put, UNWRAP, Some("hvs.bad"), &body)
        .refused(403, invalid);
    let made = server.post(
        "auth/token/create",
        r#"{"policies":["x"],"no_default_policy":true}"#,
    );
    let poor = made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    server
        .send(Method::Put, UNWRAP, Some(&poor), &body)
        .refused(403, &listed("permission denied"));
    unwrap(&server, &token).expect(200);
}

#[test]
fn t4_a_wrapping_token_unwraps_nothing_but_its_own() {
    let server = Server::initialized();
    let (one, other) = (wrap(&server), wrap(&server));
    for path in [UNWRAP, REWRAP] {
        server
            .send(Method::Put, path, Some(&one), &naming(&other))
            .refused(400, INVALID);
    }
    unwrap(&server, &one).expect(200);
    unwrap(&server, &other).expect(200);
}

#[test]
fn t4_used_for_anything_else_a_wrapping_token_is_spent() {
    let server = Server::initialized();
    let before = server.access_store.keys();
    let token = wrap(&server);
    server
        .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
        .refused(403, &listed("permission denied"));
    unwrap(&server, &token).refused(400, INVALID);
    assert_eq!(server.access_store.keys(), before);
}

#[test]
fn rewrap_exchanges_the_token_and_keeps_where_it_came_from() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let first = send_wrapped(&server, Method::Put, "auth/gcp/login", None, "60", body).expect(200);
    server.pass(10);
    let own = server
        .send(Method::Put, REWRAP, Some(&token_of(&first)), "")
        .expect(200);
    unwrap(&server, &token_of(&first)).refused(400, INVALID);
    let (before, after) = (&first.json()["wrap_info"], &own.json()["wrap_info"]);
    assert_eq!(own.json()["request_id"], "");
    assert_eq!(after["creation_path"], "auth/gcp/login");
    assert_eq!(after["wrapped_accessor"], before["wrapped_accessor"]);
    assert_eq!(
        (&after["ttl"], &after["creation_time"]),
        (&json!(60), &json!("2026-11-21T10:00:10Z"))
    );
    assert_ne!(after["accessor"], before["accessor"]);

    let shorter = wrapped_for(&server, "20", &token_of(&own));
    assert_eq!(shorter.json()["wrap_info"]["ttl"], 20);
    let unwrapped = unwrap(&server, &token_of(&shorter)).expect(200).json();
    assert_eq!(unwrapped["auth"]["accessor"], before["wrapped_accessor"]);
}

/// The answer to a rewrapping by root.
fn wrapped_for(server: &Server, ttl: &str, token: &str) -> Answer {
    send_wrapped(
        server,
        Method::Post,
        REWRAP,
        Some(ROOT),
        ttl,
        &naming(token),
    )
    .expect(200)
}

#[test]
fn an_unwrapped_answer_can_be_wrapped_again() {
    let server = Server::initialized();
    let created = wrapped(&server, Method::Post, "auth/token/create", "{}");
    let again = send_wrapped(
        &server,
        Method::Put,
        UNWRAP,
        Some(&token_of(&created)),
        "60",
        "",
    );
    let accessor = &created.json()["wrap_info"]["wrapped_accessor"];
    assert_eq!(&again.json()["wrap_info"]["wrapped_accessor"], accessor);
    let unwrapped = unwrap(&server, &token_of(&again)).expect(200).json();
    assert_eq!(&unwrapped["auth"]["accessor"], accessor);
}

#[test]
fn other_operations_and_paths_do_not_exist() {
    let server = Server::initialized();
    for path in ["sys/wrapping/wrap", UNWRAP, REWRAP] {
        server
            .get(path)
            .refused(405, &listed("unsupported operation"));
    }
    server.list(LOOKUP).refused(405, "unsupported operation");
    server.delete(LOOKUP).refused(405, "unsupported operation");
    server
        .get("sys/wrapping")
        .refused(404, &listed("unsupported path"));
    server
        .post("sys/wrapping/x", "")
        .refused(404, &listed("unsupported path"));
}
