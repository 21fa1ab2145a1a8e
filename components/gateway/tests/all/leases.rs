//! `sys/leases` and the older names of its routes (contract 6.5).

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Server, identity, listed};

/// A login token and its lease.
fn logged_in(server: &Server) -> (String, String) {
    server.script.login.is(Ok(identity()));
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let answer = server.send(Method::Put, "auth/gcp/login", None, body);
    let token = answer.expect(200).json()["auth"]["client_token"].clone();
    let keys = server.list("sys/leases/lookup/auth/gcp/login").expect(200);
    let key = keys.data()["keys"][0].as_str().unwrap().to_owned();
    let token = token.as_str().unwrap().to_owned();
    (token, format!("auth/gcp/login/{key}"))
}

fn is_valid(server: &Server, token: &str) -> bool {
    let answer = server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    answer.0.status == 200
}

fn naming(lease: &str) -> String {
    json!({ "lease_id": lease }).to_string()
}

#[test]
fn contract_6_5_a_lease_is_looked_up() {
    let server = Server::with_role();
    let (_, lease) = logged_in(&server);
    let shown = server
        .post("sys/leases/lookup", &naming(&lease))
        .expect(200);
    assert_eq!(
        shown.data(),
        json!({"expire_time": "2026-12-23T10:00:00Z", "id": lease, "issue_time": "2026-11-21T10:00:00Z", "last_renewal": null,
            "path": "auth/gcp/login", "renewable": true, "ttl": 2_764_800})
    );
    assert_eq!(shown.json()["mount_type"], "system");
    for unknown in ["x", "auth/gcp/login/hx", &lease.replace("gcp", "aws")] {
        server
            .post("sys/leases/lookup", &naming(unknown))
            .refused(400, "invalid lease");
    }
    server
        .post("sys/leases/lookup", "{}")
        .refused(400, "lease_id must be specified");
}

#[test]
fn contract_6_5_a_token_is_not_renewed_by_its_lease() {
    let server = Server::with_role();
    let (_, lease) = logged_in(&server);
    let before = server.commits();
    for path in ["sys/leases/renew", "sys/renew"] {
        for (target, body) in [
            (path.to_owned(), naming(&lease)),
            (
                format!("{path}/{lease}"),
                r#"{"increment":"1h"}"#.to_owned(),
            ),
        ] {
            server
                .post(&target, &body)
                .refused(400, "tokens cannot be renewed through this endpoint");
        }
        server
            .post(path, &naming("auth/x"))
            .refused(400, "lease not found");
        server
            .post(&format!("{path}/auth/x"), "")
            .refused(400, "lease not found");
        server
            .post(path, "{}")
            .refused(400, "lease_id must be specified");
        let text = "Field validation failed: error converting input for field \"increment\": time: invalid duration \"x\"";
        server
            .post(path, r#"{"lease_id":"x","increment":"x"}"#)
            .refused(400, text);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_6_5_a_lease_is_revoked_by_every_spelling() {
    let server = Server::with_role();
    for path in ["sys/leases/revoke", "sys/revoke"] {
        for in_path in [true, false] {
            let (token, lease) = logged_in(&server);
            let (target, body) = if in_path {
                (format!("{path}/{lease}"), r#"{"sync":true}"#.to_owned())
            } else {
                (path.to_owned(), naming(&lease))
            };
            assert!(is_valid(&server, &token));
            server.post(&target, &body).expect(204);
            assert!(!is_valid(&server, &token));
            server.post(&target, &body).expect(204);
        }
        server
            .post(path, "{}")
            .refused(400, "lease_id must be specified");
    }
    let keys = server.access_store.keys();
    assert_eq!(
        keys.iter().filter(|key| key.starts_with("token/")).count(),
        1
    );
}

#[test]
fn contract_6_5_a_prefix_ends_every_login_of_a_mount_in_one_commit() {
    let server = Server::with_role();
    for family in ["revoke-prefix", "revoke-force"] {
        for path in [format!("sys/leases/{family}"), format!("sys/{family}")] {
            let (first, _) = logged_in(&server);
            let (second, _) = {
                server.post(&format!("{path}/auth/none"), "").expect(204);
                logged_in(&server)
            };
            let before = server.commits();
            server
                .post(&format!("{path}/auth/gcp/login"), "{}")
                .expect(204);
            assert_eq!(server.commits() - before, 1);
            assert!(!is_valid(&server, &first) && !is_valid(&server, &second));
            server
                .list("sys/leases/lookup/auth/gcp/login")
                .silently_refused(404);
            let (token, lease) = logged_in(&server);
            server.post(&format!("{path}/{lease}"), "").expect(204);
            assert!(!is_valid(&server, &token));
            server
                .post(&path, "{}")
                .refused(404, &listed("unsupported path"));
            server
                .get(&format!("{path}/auth"))
                .refused(405, &listed("unsupported operation"));
        }
    }
}

#[test]
fn contract_6_5_a_renewal_of_a_login_that_was_cut_off_is_refused() {
    let server = Server::with_role();
    let (token, _) = logged_in(&server);
    server
        .post("sys/leases/revoke-prefix/auth/gcp", "")
        .expect(204);
    let body = json!({ "token": token }).to_string();
    server
        .post("auth/token/renew", &body)
        .refused(400, "token not found");
    let own = server.send(Method::Put, "auth/token/renew-self", Some(&token), "{}");
    assert_eq!(own.0.status, 403);
    assert!(own.text().contains("invalid token"));
}

#[test]
fn the_tree_of_leases_is_listed_in_pages() {
    let server = Server::with_role();
    for _ in 0..3 {
        server.post("auth/token/create", "{}").expect(200);
    }
    for (path, keys) in [
        ("sys/leases/lookup", json!(["auth/"])),
        ("sys/leases/lookup/", json!(["auth/"])),
        ("sys/leases/lookup/auth", json!(["gcp/", "token/"])),
        ("sys/leases/lookup/auth/gcp", json!(["login/"])),
        ("sys/leases/lookup/auth?limit=1", json!(["gcp/"])),
        ("sys/leases/lookup/auth?after=gcp/", json!(["token/"])),
    ] {
        assert_eq!(server.list(path).expect(200).data()["keys"], keys, "{path}");
    }
    let all = server.get("sys/leases/lookup/auth/token/create?list=true");
    let all = all.expect(200).data()["keys"].as_array().unwrap().clone();
    assert_eq!(all.len(), 3);
    let first = all[0].as_str().unwrap();
    let rest = server.list(&format!(
        "sys/leases/lookup/auth/token/create?after={first}"
    ));
    assert_eq!(rest.data()["keys"], json!(all[1..]));
    for nothing in ["auth/none", "sys", "auth/gcp/config"] {
        server
            .list(&format!("sys/leases/lookup/{nothing}"))
            .silently_refused(404);
    }
}

#[test]
fn contract_5_6_the_tree_and_prefixes_need_sudo_and_a_known_lease_does_not() {
    let server = Server::with_role();
    let (_, lease) = logged_in(&server);
    let policy = r#"path "sys/*" { capabilities = ["update", "list", "read"] }"#;
    let token = server.token_with(policy);
    let send = |method, path: &str, body: &str| server.send(method, path, Some(&token), body);
    let denied = listed("permission denied");
    for path in ["sys/leases/lookup", "sys/leases/lookup/auth"] {
        send(Method::List, path, "").refused(403, &denied);
    }
    for path in [
        "sys/leases/revoke-prefix/auth",
        "sys/leases/revoke-force/auth",
        "sys/revoke-prefix/auth",
        "sys/revoke-force/auth",
    ] {
        send(Method::Put, path, "{}").refused(403, &denied);
    }
    send(Method::Put, "sys/leases/lookup", &naming(&lease)).expect(200);
    send(Method::Put, "sys/leases/revoke", &naming(&lease)).expect(204);
}

#[test]
fn no_lease_is_irrevocable() {
    let server = Server::initialized();
    let count = server.get("sys/leases/count?type=irrevocable").expect(200);
    assert_eq!(count.data(), json!({"counts": {}, "lease_count": 0}));
    let leases = server.get("sys/leases?type=irrevocable").expect(200);
    assert_eq!(leases.data(), json!({"leases": [], "lease_count": 0}));
    server.get("sys/leases/count").silently_refused(404);
    server.get("sys/leases").silently_refused(404);
}

#[test]
fn what_does_not_convert_is_refused() {
    let server = Server::with_role();
    let (token, lease) = logged_in(&server);
    let body = json!({"lease_id": lease, "sync": "zz"}).to_string();
    for (path, body) in [
        ("sys/leases/revoke".to_owned(), body),
        (
            format!("sys/leases/revoke-prefix/{lease}"),
            r#"{"sync":"zz"}"#.to_owned(),
        ),
    ] {
        let refused = server.post(&path, &body).expect(400);
        assert!(refused.text().contains("for field \\\"sync\\\""));
    }
    assert!(is_valid(&server, &token));
}
