//! Admission to the paths of identity: the tokens that each path admits.

use super::*;

#[test]
fn contract_7_1_a_disabled_entity_gets_403_with_its_tokens_and_its_logins() {
    let server = Server::with_role();
    let auth = log_in(&server);
    let token = text(&auth["client_token"]);
    let path = format!("identity/entity/id/{}", text(&auth["entity_id"]));
    let own = || server.send(Method::Get, "auth/token/lookup-self", Some(&token), "");
    let login = || {
        server.script.login.is(Ok(identity()));
        let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
        server.send(Method::Put, "auth/gcp/login", None, body)
    };
    server.post(&path, r#"{"disabled":true}"#).expect(204);
    own().refused(403, &listed("permission denied"));
    login().refused(403, "permission denied");
    server.post(&path, r#"{"disabled":"false"}"#).expect(204);
    own().expect(200);
    login().expect(200);
    server.delete(&path).expect(204);
    own().refused(403, &listed("permission denied"));
    // The next login creates a new entity.
    assert_ne!(
        login().expect(200).json()["auth"]["entity_id"],
        auth["entity_id"]
    );
}

#[test]
fn policy_default_shows_callers_their_own_entity_and_no_other() {
    let server = Server::with_role();
    let auth = log_in(&server);
    let token = text(&auth["client_token"]);
    let other = made(&server, "identity/entity", &json!({"name": "other"}));
    let get = |path: &str| server.send(Method::Get, path, Some(&token), "");
    let id = text(&auth["entity_id"]);
    let own = get(&format!("identity/entity/id/{id}")).expect(200).data();
    get(&format!("identity/entity/name/{}", text(&own["name"]))).expect(200);
    get(&format!("identity/entity/id/{other}")).expect(403);
    get("identity/entity/name/other").expect(403);
    let change = format!("identity/entity/id/{id}");
    server
        .send(Method::Post, &change, Some(&token), r#"{"policies":"x"}"#)
        .expect(403);
}

#[test]
fn paths_and_operations_that_are_not_there() {
    let server = Server::initialized();
    for path in ["identity", "identity/none", "identity/entity/id/a/b"] {
        assert_eq!(server.get(path).0.status, 404, "{path}");
    }
    for path in [
        "identity/entity",
        "identity/group",
        "identity/entity-alias",
        "identity/lookup/entity",
        "identity/group/id",
    ] {
        server
            .get(path)
            .refused(405, &listed("unsupported operation"));
    }
    server
        .send(Method::Get, "identity/entity/id/x", None, "")
        .expect(403);
    server
        .send(Method::Get, "identity/entity/id/x", Some(ROOT), "")
        .silently_refused(404);
}
