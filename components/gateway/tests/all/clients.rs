//! The requests of real clients, in their order (contract 6.7).

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{ROOT, Server, identity};

#[test]
fn the_command_line_enables_configures_and_logs_in() {
    let server = Server::initialized();
    let put = |path: &str, token, body: &str| server.send(Method::Put, path, token, body);
    let enable = r#"{"type":"gcp","description":"","config":{"options":null,"default_lease_ttl":"0s","max_lease_ttl":"0s","force_no_cache":false},"local":false,"seal_wrap":false,"external_entropy_access":false,"options":null}"#;
    server.post("sys/auth/gcp", enable).expect(204);
    assert_eq!(server.get("sys/auth").data()["gcp/"]["type"], "gcp");
    put(
        "auth/gcp/config",
        Some(ROOT),
        r#"{"iam_alias":"unique_id"}"#,
    )
    .expect(204);
    let role = r#"{"type":"iam","bound_service_accounts":["a@p","b@p"],"token_policies":"dev","token_ttl":"30m"}"#;
    put("auth/gcp/role/dev", Some(ROOT), role).expect(200);
    server.get("auth/gcp/roles?list=true").expect(200);
    put(
        "sys/policies/acl/dev",
        Some(ROOT),
        r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#,
    )
    .expect(204);

    server.script.login.is(Ok(identity()));
    let login = put("auth/gcp/login", None, r#"{"role":"dev","jwt":"a.b.c"}"#)
        .expect(200)
        .json();
    let token = login["auth"]["client_token"].as_str().unwrap();
    server
        .send(Method::Get, "auth/token/lookup-self", Some(token), "")
        .expect(200);
    let path = format!(r#"{{"path":"x","token":"{token}"}}"#);
    let capabilities = server.send(Method::Post, "sys/capabilities-self", Some(token), &path);
    assert_eq!(
        capabilities.expect(200).json()["capabilities"],
        json!(["deny"])
    );
    put("auth/token/revoke-self", Some(token), "").expect(204);
}

#[test]
fn hvac_configures_roles_as_it_always_has() {
    let server = Server::with_method();
    let certs = r#"{"credentials":"","google_certs_endpoint":"https://www.googleapis.com/oauth2/v3/certs"}"#;
    server.post("auth/gcp/config", certs).expect(204);
    let role =
        r#"{"type":"iam","project_id":"p1","policies":"a,b","bound_service_accounts":"x@p,y@p"}"#;
    let created = server.post("auth/gcp/role/r", role).expect(200);
    assert!(
        created
            .warnings()
            .iter()
            .any(|warning| warning.contains("\"project_id\""))
    );
    let read = server
        .send(
            Method::Get,
            "auth/gcp/role/r",
            Some(ROOT),
            r#"{"name":"r"}"#,
        )
        .expect(200);
    assert_eq!(read.data()["bound_projects"], json!(["p1"]));
    assert_eq!(server.list("auth/gcp/roles").data()["keys"], json!(["r"]));
    server
        .send(
            Method::Delete,
            "auth/gcp/role/r",
            Some(ROOT),
            r#"{"role":"r"}"#,
        )
        .expect(204);
    server.delete("auth/gcp/config").expect(204);
    server.send(Method::Get, "sys/init", None, "").expect(200);
    server
        .send(Method::Get, "sys/seal-status", None, "")
        .expect(200);
    server
        .post("sys/auth/P", r#"{"type":"gcp","local":false}"#)
        .expect(204);
    server
        .send(
            Method::Put,
            "sys/policy/n",
            Some(ROOT),
            r#"{"policy":"path \"x\" {capabilities=[\"read\"]}"}"#,
        )
        .expect(204);
    assert_eq!(server.get("sys/policy/n").json()["name"], "n");
}

#[test]
fn the_auto_auth_daemon_renews_until_it_must_log_in_anew() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let login = server.send(
        Method::Put,
        "auth/gcp/login",
        None,
        r#"{"role":"dev","jwt":"a.b.c"}"#,
    );
    let token = login.expect(200).json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let renew = || {
        server.send(
            Method::Put,
            "auth/token/renew-self",
            Some(&token),
            r#"{"increment":0}"#,
        )
    };
    server
        .script
        .renewal
        .is(Ok(super::server::renewed(super::server::parameters())));
    renew().expect(200);
    server.delete("sys/auth/gcp").expect(204);
    let refused = renew().expect(403);
    assert!(refused.text().contains("invalid token"));
}
