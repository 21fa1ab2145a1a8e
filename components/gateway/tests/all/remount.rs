//! `sys/remount` (contract 6.3).

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Server, identity, listed};

const LOGIN: &str = r#"{"role":"dev","jwt":"a.b.c"}"#;

#[test]
fn contract_6_3_a_mount_moves_with_its_roles_and_its_identities() {
    for (from, to) in [
        ("auth/gcp/", "auth/cloud/prod/"),
        ("auth/gcp", "auth/cloud/prod"),
        ("/auth//gcp/", "/auth/cloud/prod"),
    ] {
        let server = Server::with_role();
        server.script.login.is(Ok(identity()));
        let before = server.send(Method::Put, "auth/gcp/login", None, LOGIN);
        let before = before.expect(200).json()["auth"].clone();
        let kept = server.method_store.keys();
        let body = json!({"from": from, "to": to, "x": 1}).to_string();
        let moved = server.post("sys/remount", &body).expect(200);
        let id = moved.data()["migration_id"].as_str().unwrap().to_owned();
        assert_eq!((id.len(), &moved.json()["migration_id"]), (36, &json!(id)));
        assert_eq!(
            moved.warnings(),
            [
                "Mount move has been queued. Progress will be reported in Vault's server log, tagged with the returned migration_id",
                "Endpoint ignored these unrecognized parameters: [x]",
            ]
        );
        let status = server.get(&format!("sys/remount/status/{id}")).expect(200);
        assert_eq!(
            status.data(),
            json!({"migration_id": id, "migration_info":
                {"source_mount": "auth/gcp/", "target_mount": "auth/cloud/prod/", "status": "success"}})
        );
        assert_eq!(status.json().get("migration_id"), None);

        assert_eq!(server.method_store.keys(), kept);
        let role = server.get("auth/cloud/prod/role/dev").expect(200);
        assert_eq!(role.data()["bound_projects"], json!(["p1"]));
        let token = before["client_token"].as_str();
        let dead = server.send(Method::Get, "auth/token/lookup-self", token, "");
        assert_eq!(dead.0.status, 403);
        server.script.login.is(Ok(identity()));
        let again = server.send(Method::Put, "auth/cloud/prod/login", None, LOGIN);
        let again = again.expect(200).json()["auth"].clone();
        assert_eq!(again["entity_id"], before["entity_id"]);
        let entity = server.get(&format!(
            "identity/entity/id/{}",
            before["entity_id"].as_str().unwrap()
        ));
        assert_eq!(
            entity.expect(200).data()["aliases"][0]["mount_path"],
            "auth/cloud/prod/"
        );
        server
            .get("sys/auth/gcp")
            .refused(400, "No auth engine at gcp/");
    }
}

#[test]
fn refused_moves_have_their_texts_and_change_nothing() {
    let server = Server::with_method();
    server.post("sys/auth/c/d", r#"{"type":"gcp"}"#).expect(204);
    let before = server.commits();
    for (from, to, text) in [
        ("auth/none", "auth/x", "no matching mount at \"auth/none/\""),
        (
            "auth/gcp",
            "auth/c/d",
            "path already in use at \"auth/c/d/\"",
        ),
        (
            "auth/gcp",
            "auth/c/d/e",
            "path already in use at \"auth/c/d/\"",
        ),
        ("auth/gcp", "auth/c", "path already in use at \"auth/c/d/\""),
        (
            "auth/gcp",
            "auth/gcp/",
            "path already in use at \"auth/gcp/\"",
        ),
        (
            "auth/gcp",
            "auth/gcp/x",
            "path already in use at \"auth/gcp/\"",
        ),
        ("auth/token", "auth/x", "cannot remount \"auth/token/\""),
        (
            "auth/gcp",
            "auth/token",
            "cannot remount to destination \"auth/token/\"",
        ),
        (
            "auth/gcp",
            "auth/token/x",
            "cannot remount to destination \"auth/token/x/\"",
        ),
        (
            "auth/none",
            "auth/token",
            "cannot remount to destination \"auth/token/\"",
        ),
        (
            "auth/gcp",
            "x",
            "cannot remount auth mount to non-auth mount \"x/\"",
        ),
        (
            "auth/token",
            "x",
            "cannot remount auth mount to non-auth mount \"x/\"",
        ),
        ("secret", "auth/x", "cannot remount to destination auth/x/"),
        ("secret", "sys", "cannot remount to destination sys/"),
        ("sys", "x", "cannot remount \"sys/\""),
        ("cubbyhole/", "x", "cannot remount \"cubbyhole/\""),
        ("identity/", "x", "cannot remount \"identity/\""),
        ("secret", "x", "no matching mount at \"secret/\""),
        (
            "auth/gcp",
            "auth/x//y",
            "invalid destination mount: path 'auth/x//y/' does not match cleaned path 'auth/x/y/'",
        ),
        (
            "auth/gcp",
            "auth/../x",
            "invalid destination mount: path 'auth/../x/' does not match cleaned path 'x/'",
        ),
        (
            "auth/gcp",
            "auth/a b",
            "a mount path has 1 to 12 segments of printable ASCII without blanks, at most 256 bytes",
        ),
        (
            "auth/gcp",
            "",
            "both 'from' and 'to' path must be specified as a string",
        ),
        (
            "",
            "auth/x",
            "both 'from' and 'to' path must be specified as a string",
        ),
    ] {
        let body = json!({ "from": from, "to": to }).to_string();
        server.post("sys/remount", &body).refused(400, text);
    }
    server.post("sys/remount", "{}").refused(
        400,
        "both 'from' and 'to' path must be specified as a string",
    );
    assert_eq!(server.commits(), before);
}

#[test]
fn what_is_not_there_below_remount() {
    let server = Server::with_method();
    server.get("sys/remount/status/xyz").silently_refused(404);
    let path = listed("unsupported path");
    server.get("sys/remount/status").refused(404, &path);
    server.get("sys/remount/x").refused(404, &path);
    let operation = listed("unsupported operation");
    server.get("sys/remount").refused(405, &operation);
    server
        .post("sys/remount/status/x", "{}")
        .refused(405, &operation);
}

#[test]
fn contract_5_6_a_move_needs_sudo() {
    let server = Server::with_method();
    let token = server.token_with(r#"path "sys/remount" { capabilities = ["update"] }"#);
    let body = r#"{"from":"auth/gcp","to":"auth/x"}"#;
    server
        .send(Method::Post, "sys/remount", Some(&token), body)
        .refused(403, &listed("permission denied"));
    server.get("sys/auth/gcp").expect(200);
}
