//! Logins and their renewals, as far as the front is involved (contract 4).

use gatehouse_auth_method::{Renewed, TokenParameters};
use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Answer, Server, identity, parameters, renewed};

fn login(server: &Server, body: &str) -> Answer {
    server.send(Method::Put, "auth/gcp/login", None, body)
}

const BODY: &str = r#"{"role":"dev","jwt":"a.b.c"}"#;

#[test]
fn a_login_hands_out_a_token_that_works() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let envelope = login(&server, BODY).expect(200).json();
    assert_eq!(
        (&envelope["data"], &envelope["mount_type"]),
        (&json!(null), &json!("gcp"))
    );
    let auth = &envelope["auth"];
    let token = auth["client_token"].as_str().unwrap();
    assert_eq!(
        *auth,
        json!({"client_token": token, "accessor": auth["accessor"], "policies": ["default", "prod"],
            "token_policies": ["default", "prod"], "metadata": {"project_id": "p1", "role": "dev"},
            "lease_duration": 2_764_800, "renewable": true, "entity_id": auth["entity_id"], "token_type": "service",
            "orphan": true, "mfa_requirement": null, "num_uses": 0})
    );
    let data = server
        .send(Method::Get, "auth/token/lookup-self", Some(token), "")
        .expect(200)
        .data();
    assert_eq!(data["display_name"], "gcp-dev@p1.iam.gserviceaccount.com");
    assert_eq!(data["path"], "auth/gcp/login");
}

#[test]
fn a7_a_caller_chooses_role_and_jwt_only() {
    let server = Server::with_role();
    let before = server.commits();
    for field in ["policies", "ttl", "num_uses", "metadata", "token"] {
        let body = format!(r#"{{"role":"dev","jwt":"a.b.c","{field}":"x"}}"#);
        login(&server, &body).refused(422, &format!("unknown fields: [\"{field}\"]"));
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn a_token_is_ignored_and_other_operations_are_unsupported() {
    let server = Server::with_role();
    for token in [None, Some("hvs.bad")] {
        server
            .send(Method::Post, "auth/gcp/login", token, "{}")
            .refused(400, "role is required");
        server
            .send(Method::Get, "auth/gcp/login", token, "")
            .refused(405, "unsupported operation");
    }
    server
        .send(Method::Post, "auth/none/login", None, BODY)
        .refused(403, "permission denied");
}

#[test]
fn refusals_of_the_real_method_reach_the_caller() {
    let server = Server::with_role();
    let before = server.commits();
    for (body, text) in [
        ("{}", "role is required"),
        (r#"{"role":"none","jwt":"x"}"#, "role \"none\" not found"),
        (r#"{"role":"dev"}"#, "jwt argument is required"),
        (
            r#"{"role":"dev","jwt":"x"}"#,
            "unable to parse signed JWT: the token does not have three non-empty parts; this is not a JWT: send one from signJwt, generateIdToken or the metadata server, not an access token",
        ),
    ] {
        login(&server, body).refused(400, text);
    }
    server
        .post(
            "auth/gcp/role/dev",
            r#"{"token_bound_cidrs":"198.51.100.0/24"}"#,
        )
        .expect(200);
    login(&server, BODY).refused(403, "permission denied");
    assert_eq!(server.commits(), before + 1);
}

#[test]
fn a_login_never_yields_root() {
    let server = Server::with_role();
    let before = server.commits();
    for policy in ["root", " Root "] {
        let mut root = identity();
        root.token.policies = vec![policy.to_owned()];
        server.script.login.is(Ok(root));
        login(&server, BODY).refused(400, "auth methods cannot create root tokens");
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn renewal_asks_the_method_and_takes_what_the_role_says_now() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let token = login(&server, BODY).json()["auth"]["client_token"]
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

    server.script.renewal.is(Ok(renewed(TokenParameters {
        ttl: 1800,
        ..parameters()
    })));
    let auth = renew().expect(200).json()["auth"].clone();
    assert_eq!(
        (&auth["lease_duration"], &auth["client_token"]),
        (&json!(1800), &json!(token))
    );
}

#[test]
fn the_groups_that_a_login_and_a_renewal_bring_decide_the_memberships() {
    let server = Server::with_role();
    let accessor = server.get("sys/auth/gcp").data()["accessor"].clone();
    for name in ["folder-1", "folder-2"] {
        let group = json!({"name": name, "type": "external", "policies": [format!("of-{name}")]});
        let group = server
            .post("identity/group", &group.to_string())
            .expect(200);
        let alias =
            json!({"name": name, "mount_accessor": accessor, "canonical_id": group.data()["id"]});
        server
            .post("identity/group-alias", &alias.to_string())
            .expect(200);
    }
    let groups =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let mut caller = identity();
    caller.group_aliases = groups(&["folder-1", "folder-9"]);
    server.script.login.is(Ok(caller));
    let auth = login(&server, BODY).expect(200).json()["auth"].clone();
    assert_eq!(auth["identity_policies"], json!(["of-folder-1"]));

    let token = auth["client_token"].as_str().unwrap();
    let renew = |group_aliases| {
        server.script.renewal.is(Ok(Renewed {
            token: parameters(),
            group_aliases,
        }));
        let answer = server.send(Method::Put, "auth/token/renew-self", Some(token), "{}");
        answer.expect(200).json()["auth"]["identity_policies"].clone()
    };
    assert_eq!(renew(Some(groups(&["folder-2"]))), json!(["of-folder-2"]));
    // Google could not be asked, so the groups stay.
    assert_eq!(renew(None), json!(["of-folder-2"]));
    assert_eq!(renew(Some(Vec::new())), json!(null));
    assert_eq!(renew(Some(groups(&["folder-1"]))), json!(["of-folder-1"]));

    // A login with a role that does not ask for groups has none.
    server.script.login.is(Ok(identity()));
    let auth = login(&server, BODY).expect(200).json()["auth"].clone();
    assert_eq!(auth["identity_policies"], json!(null));
    assert_eq!(renew(None), json!(null));
}

#[test]
fn j20_of_a_long_field_that_nobody_knows_only_the_beginning_is_repeated() {
    let server = Server::with_method();
    let body = format!(r#"{{"role":"dev","{}":1}}"#, "é".repeat(100_000));
    let shown = "é".repeat(64);
    login(&server, &body).refused(422, &format!("unknown fields: [\"{shown}\"]"));
}
