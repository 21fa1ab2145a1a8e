//! `cubbyhole`: secrets that belong to one token (contract 6.1).

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{Answer, ROOT, Server, listed};

fn token(server: &Server, request: &str) -> String {
    let made = server.post("auth/token/create", request).expect(200).json();
    made["auth"]["client_token"].as_str().unwrap().to_owned()
}

fn by(server: &Server, token: &str, method: Method, target: &str, body: &str) -> Answer {
    server.send(method, target, Some(token), body)
}

#[test]
fn secrets_are_written_read_listed_and_deleted() {
    let server = Server::initialized();
    server.get("cubbyhole/a").silently_refused(404);
    server.list("cubbyhole").silently_refused(404);
    let secret = r#"{"n":112233445566778899001,"x":1.50,"z":null,"o":{"a":[true]}}"#;
    for method in [Method::Post, Method::Put] {
        by(&server, ROOT, method, "cubbyhole/a", secret).expect(204);
    }
    let read = server.get("cubbyhole/a?path=x&y=z").expect(200);
    assert!(read.text().contains(&format!(r#""data":{secret}"#)));
    let envelope = read.json();
    assert_eq!(envelope["mount_type"], "cubbyhole");
    assert_eq!(
        (&envelope["lease_id"], &envelope["lease_duration"]),
        (&json!(""), &json!(0))
    );
    assert!(read.warnings().is_empty());

    server
        .post("cubbyhole/A/b/c", "a=b")
        .refused(400, "error parsing JSON");
    server.post("cubbyhole/A/b/c", r#"{"k":"v"}"#).expect(204);
    for (folder, keys) in [
        ("cubbyhole", json!(["A/", "a"])),
        ("cubbyhole/", json!(["A/", "a"])),
        ("cubbyhole/A", json!(["b/"])),
        ("cubbyhole/A/b/", json!(["c"])),
    ] {
        assert_eq!(
            server.list(folder).expect(200).data(),
            json!({ "keys": keys })
        );
        let by_query = server.get(&format!("{folder}?list=true")).expect(200);
        assert_eq!(by_query.data(), json!({ "keys": keys }));
    }
    server.list("cubbyhole/a").silently_refused(404);

    for _ in 0..2 {
        server.delete("cubbyhole/a").expect(204);
    }
    server.get("cubbyhole/a").silently_refused(404);
}

#[test]
fn each_token_has_its_own_and_only_under_its_policies() {
    let server = Server::initialized();
    let mine = token(&server, r#"{"policies":["default"]}"#);
    let other = token(&server, r#"{"policies":["default"]}"#);
    let without = token(&server, r#"{"policies":["x"],"no_default_policy":true}"#);
    by(
        &server,
        &mine,
        Method::Post,
        "cubbyhole/a",
        r#"{"k":"mine"}"#,
    )
    .expect(204);
    by(&server, &other, Method::Get, "cubbyhole/a", "").silently_refused(404);
    by(&server, &other, Method::Delete, "cubbyhole/a", "").expect(204);
    by(&server, ROOT, Method::Get, "cubbyhole/a", "").silently_refused(404);
    let read = by(&server, &mine, Method::Get, "cubbyhole/a", "").expect(200);
    assert_eq!(read.data(), json!({"k": "mine"}));

    for (method, body) in [
        (Method::Get, ""),
        (Method::List, ""),
        (Method::Post, r#"{"k":"v"}"#),
        (Method::Delete, ""),
    ] {
        let denied = by(&server, &without, method, "cubbyhole/a", body);
        denied.refused(403, &listed("permission denied"));
        let nobody = server.send(method, "cubbyhole/a", None, body);
        nobody.refused(403, "permission denied");
    }
}

#[test]
fn to_create_and_to_change_are_two_capabilities() {
    let server = Server::initialized();
    let token = server.token_with(
        r#"path "cubbyhole/new" { capabilities = ["create", "read"] }
           path "cubbyhole/old" { capabilities = ["update"] }"#,
    );
    let write = |path: &str| {
        let target = format!("cubbyhole/{path}");
        by(&server, &token, Method::Post, &target, r#"{"k":"v"}"#)
    };
    let denied = listed("permission denied");
    write("new").expect(204);
    write("new").refused(403, &denied);
    write("old").refused(403, &denied);
    let kept = by(&server, &token, Method::List, "cubbyhole", "").expect(200);
    assert_eq!(kept.data()["keys"], json!(["new"]));
}

#[test]
fn secrets_end_with_their_token() {
    let server = Server::initialized();
    let holds = || {
        server
            .access_store
            .keys()
            .iter()
            .any(|it| it.starts_with("cubbyhole/"))
    };
    let keep = |request: &str| {
        let token = token(&server, request);
        by(&server, &token, Method::Post, "cubbyhole/a", r#"{"k":"v"}"#).expect(204);
        assert!(holds());
        token
    };
    let revoked = keep(r#"{"policies":["default"]}"#);
    by(
        &server,
        &revoked,
        Method::Post,
        "auth/token/revoke-self",
        "",
    )
    .expect(204);
    assert!(!holds());
    keep(r#"{"policies":["default"],"ttl":"1m"}"#);
    server.pass(60);
    assert!(!holds());
}

#[test]
fn t4_a_token_of_two_uses_hands_a_secret_over_once() {
    let server = Server::initialized();
    let carrier = token(&server, r#"{"policies":["default"],"num_uses":2}"#);
    by(
        &server,
        &carrier,
        Method::Post,
        "cubbyhole/s",
        r#"{"token":"hvs.inner"}"#,
    )
    .expect(204);
    let read = by(&server, &carrier, Method::Get, "cubbyhole/s", "").expect(200);
    assert_eq!(read.data(), json!({"token": "hvs.inner"}));
    let again = by(&server, &carrier, Method::Get, "cubbyhole/s", "");
    assert_eq!(again.0.status, 403);

    // A secret that is written with the last use of a token ends with the token.
    let single = token(&server, r#"{"policies":["default"],"num_uses":1}"#);
    by(
        &server,
        &single,
        Method::Post,
        "cubbyhole/s",
        r#"{"k":"v"}"#,
    )
    .expect(204);
    let keys = server.access_store.keys();
    assert!(!keys.iter().any(|key| key.starts_with("cubbyhole/")));
}

#[test]
fn a_secret_may_be_handed_out_wrapped() {
    let server = Server::initialized();
    server.post("cubbyhole/a", r#"{"k":"v"}"#).expect(204);
    let mut request = super::server::request(Method::Get, "cubbyhole/a", "");
    request.headers.push("X-Vault-Token", ROOT);
    request.headers.push("X-Vault-Wrap-TTL", "60");
    let wrapped = server.handle(&request).expect(200).json();
    let wrapping = wrapped["wrap_info"]["token"].as_str().unwrap();
    let unwrapped = by(&server, wrapping, Method::Post, "sys/wrapping/unwrap", "");
    assert_eq!(unwrapped.expect(200).data(), json!({"k": "v"}));
}

#[test]
fn refusals_say_what_is_wrong_and_keep_nothing() {
    let server = Server::initialized();
    let batch = token(&server, r#"{"policies":["default"],"type":"batch"}"#);
    let service = "cubbyhole operations are only supported by \"service\" type tokens";
    by(&server, &batch, Method::Post, "cubbyhole/a", r#"{"k":"v"}"#).refused(400, service);
    by(&server, &batch, Method::Get, "cubbyhole/a", "").refused(400, service);
    by(&server, &batch, Method::List, "cubbyhole", "").refused(400, service);

    for body in ["", "{}"] {
        server
            .post("cubbyhole/a", body)
            .refused(400, "missing data fields");
    }
    server
        .post("cubbyhole", r#"{"k":"v"}"#)
        .refused(400, "missing path");
    server.get("cubbyhole").refused(400, "missing path");
    server.delete("cubbyhole").refused(400, "missing path");
    server
        .get("cubbyhole/a/")
        .refused(404, &listed("unsupported path"));
    server
        .post("cubbyhole/a/", r#"{"k":"v"}"#)
        .refused(400, "cannot write to a path ending in '/'");
    server
        .post("cubbyhole/a", r#"{"k":1,"k":2}"#)
        .refused(400, "duplicate key");
    let mut patch = super::server::request(Method::Patch, "cubbyhole/a", r#"{"k":"v"}"#);
    patch.headers.push("X-Vault-Token", ROOT);
    patch
        .headers
        .push("Content-Type", "application/merge-patch+json");
    let refused = server.handle(&patch);
    refused.refused(405, &listed("unsupported operation"));
    for path in [
        "cubbyhole/%2e%2e/sys",
        "cubbyhole/a%252Fb",
        "cubbyhole/..%5ca",
    ] {
        assert_eq!(server.post(path, r#"{"k":"v"}"#).0.status, 400, "{path}");
    }
    let keys = server.access_store.keys();
    assert!(!keys.iter().any(|key| key.starts_with("cubbyhole/")));
}

#[test]
fn s14_what_is_too_much_is_refused_with_the_bound() {
    let server = Server::initialized();
    let large = |bytes: usize| json!({ "k": "x".repeat(bytes) }).to_string();
    // The path and the JSON around the text make it 524288 bytes.
    server.post("cubbyhole/a", &large(524_279)).expect(204);
    let text = "the secrets of a token have at most 524288 bytes together: delete some first";
    server
        .post("cubbyhole/a", &large(524_280))
        .refused(400, text);
    server.post("cubbyhole/b", &large(1)).refused(400, text);
    let kept = server.get("cubbyhole/a").expect(200).data();
    assert_eq!(kept["k"].as_str().unwrap().len(), 524_279);
    server.delete("cubbyhole/a").expect(204);

    let path = |bytes: usize| format!("cubbyhole/{}", "p".repeat(bytes));
    server.post(&path(512), &large(1)).expect(204);
    server.post(&path(513), &large(1)).refused(
        400,
        "the path of a secret has at most 512 bytes: shorten it",
    );
}

#[test]
fn the_mount_is_shown_as_a_local_one() {
    let server = Server::initialized();
    let mounts = server.get("sys/mounts").expect(200).data();
    let mount = &mounts["cubbyhole/"];
    assert_eq!(
        (&mount["type"], &mount["local"], &mount["description"]),
        (
            &json!("cubbyhole"),
            &json!(true),
            &json!("per-token private secret storage")
        )
    );
    assert!(
        mount["accessor"]
            .as_str()
            .unwrap()
            .starts_with("cubbyhole_")
    );
    assert_eq!(
        &server.get("sys/mounts/cubbyhole").expect(200).data(),
        mount
    );
    let help = server.get("cubbyhole/a?help=1").expect(200).json();
    assert!(
        help["help"]
            .as_str()
            .unwrap()
            .contains("A secret of the caller's token")
    );
    assert!(matches!(
        help["openapi"]["paths"]["/cubbyhole/{path}"],
        Value::Object(_)
    ));
}

#[test]
fn a_wrapping_token_gets_its_answer_by_unwrapping_alone() {
    let server = Server::initialized();
    let mut request = super::server::request(Method::Post, "sys/wrapping/wrap", r#"{"a":1}"#);
    request.headers.push("X-Vault-Token", ROOT);
    request.headers.push("X-Vault-Wrap-TTL", "60");
    let wrapped = server.handle(&request).expect(200).json();
    let wrapping = wrapped["wrap_info"]["token"].as_str().unwrap();
    by(&server, wrapping, Method::Get, "cubbyhole/response", "")
        .refused(403, &listed("permission denied"));
}

#[test]
fn l2_secrets_are_recorded_as_texts_to_be_hashed_and_names_that_may_be_tokens_with_them() {
    let server = Server::initialized();
    server.audit.take();
    server.post("cubbyhole/a", r#"{"k":"canary"}"#).expect(204);
    server.get("cubbyhole/a").expect(200);
    server
        .post("cubbyhole/b", r#"{"hvs.0123456789abcdef":1}"#)
        .expect(204);
    server.get("cubbyhole/b").expect(200);
    let records = server.audit.take();
    assert_eq!(records.len(), 8);
    let shown = &records[3].document["response"]["data"];
    assert_eq!(shown, &json!({"k": "canary"}));
    for record in &records {
        // The recorder checks the readable texts for tokens, but not the names of members.
        for (_, text) in record.readable() {
            assert!(!text.contains("canary"));
        }
        let mut names = String::new();
        collect_names(&record.document, &mut names);
        assert!(!names.contains("hvs."), "{names}");
    }
}

#[test]
fn contract_6_1_a_folder_of_secrets_is_listed_in_parts() {
    let server = Server::initialized();
    for name in ["a", "b", "c/d"] {
        server
            .post(&format!("cubbyhole/{name}"), r#"{"k":"v"}"#)
            .expect(204);
    }
    for (query, keys) in [
        ("limit=2", json!(["a", "b"])),
        ("after=a", json!(["b", "c/"])),
        ("after=b&limit=1", json!(["c/"])),
    ] {
        let shown = server.list(&format!("cubbyhole?{query}")).data();
        assert_eq!(shown, json!({ "keys": keys }), "{query}");
    }
    server.list("cubbyhole?after=c/").silently_refused(404);
}

fn collect_names(value: &Value, names: &mut String) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                names.push_str(name);
                collect_names(member, names);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|it| collect_names(it, names)),
        _ => {}
    }
}
