//! Facts about a server for operators and their tools: `sys/ha-status` and the like (contract 6.1).

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{ROOT, Server, listed, request};

/// Every request is denied to a caller without rights to it.
#[test]
fn facts_are_shown_to_who_may_read_them() {
    let server = Server::initialized();
    let without = server.token_with(r#"path "sys/none" { capabilities = ["read"] }"#);
    for (method, path) in [
        (Method::Get, "sys/ha-status"),
        (Method::Get, "sys/host-info"),
        (Method::Get, "sys/replication/status"),
        (Method::List, "sys/version-history"),
        (Method::Get, "sys/in-flight-req"),
        (Method::Get, "sys/plugins/catalog"),
        (Method::List, "sys/plugins/catalog/auth"),
        (Method::Get, "sys/plugins/catalog/auth/gcp"),
        (Method::Post, "sys/leases/tidy"),
        (Method::Delete, "sys/mounts/none"),
        (Method::Get, "sys/metrics"),
    ] {
        let denied = server.send(method, path, Some(&without), "");
        denied.refused(403, &listed("permission denied"));
        let nobody = server.send(method, path, None, "");
        nobody.refused(403, "permission denied");
        let other = server.send(Method::Post, path, Some(ROOT), "{}");
        assert!(path.ends_with("tidy") || other.0.status == 405, "{path}");
    }
}

#[test]
fn the_one_server_is_the_active_one() {
    let server = Server::initialized();
    let status = server.get("sys/ha-status").expect(200).json();
    let nodes = json!([{"hostname": "", "api_address": "", "cluster_address": "", "active_node": true,
        "last_echo": null, "version": "1.21.0", "echo_duration_ms": 0, "clock_skew_ms": 0,
        "replication_primary_canary_age_ms": 0}]);
    assert_eq!(status["data"], json!({ "nodes": nodes }));
    assert_eq!(status["nodes"], nodes);
}

#[test]
fn nothing_is_replicated() {
    let server = Server::initialized();
    let status = server.get("sys/replication/status").expect(200);
    assert_eq!(status.data(), json!({"mode": "disabled"}));
}

#[test]
fn of_its_machine_the_server_tells_the_time_and_says_what_it_does_not_see() {
    let server = Server::initialized();
    let info = server.get("sys/host-info").expect(200);
    assert_eq!(info.data(), json!({"timestamp": "2026-11-21T10:00:00Z"}));
    let warnings = info.warnings();
    assert_eq!(warnings.len(), 5);
    assert_eq!(
        warnings[0],
        "host: the server sees nothing of its machine: ask the machine itself"
    );
}

#[test]
fn the_present_version_is_the_history() {
    let server = Server::initialized();
    let built = server.get("sys/seal-status").json()["build_date"].clone();
    let known = json!({"timestamp_installed": "", "build_date": built, "previous_version": null});
    for history in [
        server.list("sys/version-history"),
        server.get("sys/version-history?list=true"),
    ] {
        assert_eq!(
            history.expect(200).data(),
            json!({"keys": ["1.21.0"], "key_info": {"1.21.0": known}})
        );
    }
    server
        .get("sys/version-history")
        .refused(405, &listed("unsupported operation"));
}

#[test]
fn the_request_that_asks_is_being_answered() {
    let server = Server::initialized();
    let shown = server.get("sys/in-flight-req").expect(200).json();
    let requests = shown.as_object().unwrap();
    assert_eq!(requests.len(), 1);
    let (id, only) = requests.iter().next().unwrap();
    assert_eq!(id.len(), 36);
    assert_eq!(
        only,
        &json!({"start_time": "2026-11-21T10:00:00Z", "client_remote_address": "192.0.2.1",
            "request_path": "/v1/sys/in-flight-req", "request_method": "GET", "client_id": ""})
    );
    let mut wrapped = request(Method::Get, "sys/in-flight-req", "");
    wrapped.headers.push("X-Vault-Token", ROOT);
    wrapped.headers.push("X-Vault-Wrap-TTL", "60");
    assert_eq!(server.handle(&wrapped).0.status, 400);
}

#[test]
fn the_catalog_has_the_one_method_and_cannot_be_changed() {
    let server = Server::initialized();
    let catalog = server.get("sys/plugins/catalog").expect(200).data();
    assert_eq!(catalog["auth"], json!(["gcp"]));
    let detailed = catalog["detailed"].as_array().unwrap();
    assert_eq!(detailed.len(), 1);
    assert_eq!(
        (
            &detailed[0]["name"],
            &detailed[0]["type"],
            &detailed[0]["builtin"]
        ),
        (&json!("gcp"), &json!("auth"), &json!(true))
    );
    assert_eq!(
        server.list("sys/plugins/catalog/auth").expect(200).data(),
        json!({"keys": ["gcp"]})
    );
    let method = server
        .get("sys/plugins/catalog/auth/gcp")
        .expect(200)
        .data();
    assert_eq!(method["version"], detailed[0]["version"]);
    assert_eq!(
        (&method["name"], &method["builtin"], &method["args"]),
        (&json!("gcp"), &json!(true), &Value::Null)
    );
    let enabled = Server::with_method();
    let mount = enabled.get("sys/auth/gcp").data();
    assert_eq!(mount["running_plugin_version"], method["version"]);

    for path in ["secret", "database"] {
        let path = format!("sys/plugins/catalog/{path}");
        server.list(&path).silently_refused(404);
    }
    for path in ["auth/aws", "secret/kv", "database/gcp", "auth/gcp/x"] {
        let path = format!("sys/plugins/catalog/{path}");
        server.get(&path).silently_refused(404);
        server
            .post(&path, "{}")
            .refused(405, &listed("unsupported operation"));
        server
            .delete(&path)
            .refused(405, &listed("unsupported operation"));
    }
    for path in [
        "plugins",
        "plugins/reload/gcp",
        "plugins/catalog/gcp",
        "plugins/catalogue",
        "plugins/catalogauth",
    ] {
        server
            .get(&format!("sys/{path}"))
            .refused(404, &listed("unsupported path"));
        server
            .list(&format!("sys/{path}"))
            .refused(404, &listed("unsupported path"));
    }
}

#[test]
fn leases_are_tidied_with_their_tokens() {
    let server = Server::initialized();
    let begun = server.post("sys/leases/tidy", "{}").expect(202);
    assert_eq!(
        begun.warnings(),
        [
            "Tidy operation successfully started. It is done in the background, while the server's clock is not in doubt."
        ]
    );
    server
        .get("sys/leases/tidy")
        .refused(405, &listed("unsupported operation"));
}

#[test]
fn what_is_not_mounted_is_as_good_as_removed() {
    let server = Server::with_method();
    for path in ["kv", "kv/", "a/b", "auth/none", "sys/x"] {
        let answer = server.delete(&format!("sys/mounts/{path}")).expect(204);
        assert!(answer.0.body.is_empty(), "{path}");
    }
    for (path, mount) in [
        ("sys", "sys/"),
        ("cubbyhole/", "cubbyhole/"),
        ("identity", "identity/"),
        ("auth/gcp", "auth/gcp/"),
        ("auth/token", "auth/token/"),
    ] {
        server
            .delete(&format!("sys/mounts/{path}"))
            .refused(400, &format!("cannot unmount \"{mount}\""));
    }
    server.get("sys/auth/gcp").expect(200);
    server
        .delete("sys/mounts")
        .refused(405, &listed("unsupported operation"));
    server
        .delete("sys/mounts/auth/gcp/tune")
        .refused(405, &listed("unsupported operation"));
}
