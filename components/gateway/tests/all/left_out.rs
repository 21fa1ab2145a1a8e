//! The parts of Vault's API that are left out are answered as `docs/vault.md` says.

use gatehouse_gateway::Method;

use super::server::{ROOT, Server, listed, request};

#[test]
fn paths_that_are_left_out_do_not_exist() {
    let server = Server::with_method();
    for path in [
        "sys/plugins/reload/gcp",
        "sys/plugins/pins",
        "sys/plugins/runtimes/catalog",
        "sys/policies/egp",
        "sys/policies/rgp/x",
        "sys/quotas/config",
        "sys/quotas/rate-limit/x",
        "sys/namespaces",
        "sys/replication/performance/status",
        "sys/storage/raft/configuration",
        "sys/step-down",
        "sys/raw/x",
        "sys/loggers",
        "sys/pprof/heap",
        "sys/config/cors",
        "sys/license/status",
        "identity/oidc/key/x",
        "identity/oidc/role/x",
        "identity/oidc/provider/x",
        "identity/mfa/method/x",
    ] {
        for (method, body) in [(Method::Get, ""), (Method::Post, "{}")] {
            let answer = server.send(method, path, Some(ROOT), body);
            assert_eq!(answer.0.status, 404, "{method:?} {path}");
            answer.refused(404, &listed("unsupported path"));
        }
        let without = server.token_with(r#"path "auth/gcp/role/x" { capabilities = ["read"] }"#);
        let denied = server.send(Method::Get, path, Some(&without), "");
        denied.refused(403, &listed("permission denied"));
    }
    for path in ["secret/x", "kv/data/x", "database/config/x"] {
        for (method, body) in [(Method::Get, ""), (Method::Post, "{}")] {
            let text = format!("no handler for route \"{path}\". route entry not found.");
            server
                .send(method, path, Some(ROOT), body)
                .refused(404, &text);
        }
    }
}

#[test]
fn what_cannot_be_enabled_is_refused() {
    let server = Server::with_method();
    server
        .post("sys/mounts/kv", r#"{"type":"kv"}"#)
        .refused(405, &listed("unsupported operation"));
    server
        .post("sys/auth/userpass", r#"{"type":"userpass"}"#)
        .refused(400, "plugin not found in the catalog: userpass");
    server
        .post("sys/plugins/catalog/secret/x", r#"{"sha256":"00"}"#)
        .refused(405, &listed("unsupported operation"));
    for rule in ["mfa_methods = [\"x\"]", "control_group = {}"] {
        let policy = format!("path \"x\" {{ capabilities = [\"read\"] {rule} }}");
        let body = serde_json::json!({ "policy": policy }).to_string();
        assert_eq!(
            server.post("sys/policies/acl/x", &body).0.status,
            400,
            "{rule}"
        );
    }
    let mut elsewhere = request(Method::Get, "sys/auth", "");
    elsewhere.headers.push("X-Vault-Token", ROOT);
    elsewhere.headers.push("X-Vault-Namespace", "team");
    let refused = server.handle(&elsewhere);
    assert_eq!(refused.0.status, 404);
    assert!(refused.text().contains("namespace not found"));
}
