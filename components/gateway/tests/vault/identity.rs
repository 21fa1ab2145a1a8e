//! `identity/...` (contract 7.2), in the requests of the Python library.

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{ROOT, Server, identity, listed};

const THEN: &str = "2026-11-21T10:00:00Z";

/// The `auth` block of a login at `gcp/`.
fn log_in(server: &Server) -> Value {
    server.script.login.is(Ok(identity()));
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let login = server.send(Method::Put, "auth/gcp/login", None, body);
    login.expect(200).json()["auth"].clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn accessor(server: &Server, mount: &str) -> String {
    text(&server.get(&format!("sys/auth/{mount}")).data()["accessor"])
}

/// The identifier of what a write made.
fn made(server: &Server, path: &str, body: &Value) -> String {
    let answer = server.post(path, &body.to_string()).expect(200);
    text(&answer.data()["id"])
}

#[test]
fn contract_7_2_the_entity_of_a_login_has_all_its_members() {
    let server = Server::with_role();
    let auth = log_in(&server);
    let id = text(&auth["entity_id"]);
    let answer = server
        .get(&format!("identity/entity/id/{id}"))
        .expect(200)
        .json();
    assert_eq!(answer["mount_type"], "identity");
    let entity = &answer["data"];
    let name = text(&entity["name"]);
    assert!(name.starts_with("entity_") && name.len() == 15, "{name}");
    let alias = &entity["aliases"][0];
    let alias_id = text(&alias["id"]);
    let accessor = accessor(&server, "gcp");
    let expected_alias = json!({"canonical_id": id, "creation_time": THEN, "custom_metadata": null, "id": alias_id,
        "last_update_time": THEN, "local": false, "merged_from_canonical_ids": null,
        "metadata": {"project_id": "p1", "role": "dev"}, "mount_accessor": accessor, "mount_path": "auth/gcp/",
        "mount_type": "gcp", "name": identity().alias_name});
    assert_eq!(
        *entity,
        json!({"aliases": [expected_alias], "creation_time": THEN, "direct_group_ids": [], "disabled": false,
            "group_ids": [], "id": id, "inherited_group_ids": [], "last_update_time": THEN, "merged_entity_ids": null,
            "metadata": null, "name": name, "namespace_id": "root", "policies": []})
    );
    assert_eq!(
        server
            .get(&format!("identity/entity/name/{name}"))
            .expect(200)
            .data(),
        *entity
    );
    let mut alone = expected_alias;
    alone["namespace_id"] = json!("root");
    assert_eq!(
        server
            .get(&format!("identity/entity-alias/id/{alias_id}"))
            .data(),
        alone
    );

    let place = json!({"id": alias_id, "mount_accessor": accessor, "mount_path": "auth/gcp/", "mount_type": "gcp",
        "name": identity().alias_name});
    let expected = json!({"keys": [id], "key_info": {&id: {"name": name, "aliases": [place]}}});
    assert_eq!(server.list("identity/entity/id").data(), expected);
    assert_eq!(server.get("identity/entity/id?list=true").data(), expected);
    assert_eq!(
        server.list("identity/entity/name").data(),
        json!({"keys": [name]})
    );
    let aliases = server.list("identity/entity-alias/id").data();
    assert_eq!(aliases["keys"], json!([alias_id]));
    assert_eq!(aliases["key_info"][&alias_id]["canonical_id"], id.as_str());
    // Strict clients need it.
    assert_eq!(aliases["key_info"][&alias_id]["local"], false);
}

#[test]
fn entities_are_made_changed_renamed_and_deleted() {
    let server = Server::initialized();
    server.list("identity/entity/id").silently_refused(404);
    let body = json!({"name": "ann", "metadata": {"a": "b"}, "policies": ["P1", "p2"]});
    let created = server
        .post("identity/entity", &body.to_string())
        .expect(200)
        .data();
    let id = text(&created["id"]);
    assert_eq!(created, json!({"id": id, "name": "ann", "aliases": null}));
    // Who names it again changes it, by whichever path.
    server
        .post("identity/entity", r#"{"name":"ann","disabled":true}"#)
        .expect(204);
    server
        .post("identity/entity/name/ann", r#"{"metadata":"c=d"}"#)
        .expect(204);
    server.pass(60);
    let path = format!("identity/entity/id/{id}");
    server
        .post(&path, r#"{"name":"bob","policies":"p3,p2"}"#)
        .expect(204);
    let entity = server.get(&path).data();
    assert_eq!(entity["name"], "bob");
    assert_eq!(entity["disabled"], true);
    assert_eq!(entity["metadata"], json!({"c": "d"}));
    assert_eq!(entity["policies"], json!(["p2", "p3"]));
    assert_eq!(
        (&entity["creation_time"], &entity["last_update_time"]),
        (&json!(THEN), &json!("2026-11-21T10:01:00Z"))
    );
    server.get("identity/entity/name/ann").silently_refused(404);
    let before = server.commits();
    server.post(&path, r#"{"name":"bob"}"#).expect(204);
    assert_eq!(
        server.commits(),
        before,
        "what changes nothing writes nothing"
    );

    let other = made(&server, "identity/entity/name/ann", &json!({}));
    let before = server.commits();
    for (path, body, error) in [
        (
            "identity/entity/id/none",
            "{}",
            "entity not found from id".to_owned(),
        ),
        (
            &path,
            r#"{"name":"ann"}"#,
            "entity name is already in use".to_owned(),
        ),
        (
            &path,
            r#"{"policies":["a"," Root"]}"#,
            "policies cannot contain root".to_owned(),
        ),
        (
            "identity/entity",
            r#"{"name":"a/b"}"#,
            "a name has 1 to 512 bytes without control characters and slashes".to_owned(),
        ),
    ] {
        server.post(path, body).refused(400, &error);
    }
    assert_eq!(server.commits(), before);

    for path in [path.as_str(), "identity/entity/name/ann"] {
        server.delete(path).expect(204);
        server.get(path).silently_refused(404);
        server.delete(path).expect(204);
    }
    let keys = server.access_store.keys();
    assert!(!keys.iter().any(|key| key.starts_with("entity")), "{other}");
}

#[test]
fn several_entities_are_deleted_at_once() {
    let server = Server::initialized();
    let ids: Vec<String> = (0..3)
        .map(|_| made(&server, "identity/entity", &json!({})))
        .collect();
    let batch = |body: Value| server.post("identity/entity/batch-delete", &body.to_string());
    batch(json!({})).refused(400, "missing entity ids to delete");
    batch(json!({"entity_ids": [ids[0], ids[1], "none"]})).expect(204);
    assert_eq!(
        server.list("identity/entity/id").data()["keys"],
        json!([ids[2]])
    );
}

#[test]
fn aliases_lead_to_one_entity_and_can_be_moved() {
    let server = Server::with_method();
    let accessor = accessor(&server, "gcp");
    let ann = made(&server, "identity/entity", &json!({"name": "ann"}));
    let bob = made(&server, "identity/entity", &json!({"name": "bob"}));
    let body = json!({"name": "sa-1", "canonical_id": ann, "mount_accessor": accessor});
    let created = server
        .post("identity/entity-alias", &body.to_string())
        .expect(200);
    let id = text(&created.data()["id"]);
    assert_eq!(created.data(), json!({"id": id, "canonical_id": ann}));

    // The login of that name finds the entity.
    server
        .post(
            "auth/gcp/role/dev",
            r#"{"type":"iam","bound_service_accounts":"*","bound_projects":"p1"}"#,
        )
        .expect(200);
    let mut caller = identity();
    caller.alias_name = "sa-1".to_owned();
    server.script.login.is(Ok(caller));
    let login = server.send(
        Method::Put,
        "auth/gcp/login",
        None,
        r#"{"role":"dev","jwt":"a.b.c"}"#,
    );
    assert_eq!(login.expect(200).json()["auth"]["entity_id"], ann.as_str());

    let before = server.commits();
    let second = json!({"name": "sa-2", "canonical_id": ann, "mount_accessor": accessor});
    for (body, error) in [
        (
            second,
            "Alias already exists for requested entity and mount accessor",
        ),
        (
            json!({"mount_accessor": accessor}),
            "'id' or 'mount_accessor' and 'name' must be provided",
        ),
        (
            json!({"name": "x"}),
            "'id' or 'mount_accessor' and 'name' must be provided",
        ),
        (
            json!({"name": "x", "mount_accessor": "auth_gcp_0"}),
            "invalid mount accessor \"auth_gcp_0\"",
        ),
        (
            json!({"name": "x", "mount_accessor": accessor, "canonical_id": "none"}),
            "invalid canonical ID",
        ),
        (
            json!({"id": "none", "name": "x"}),
            "invalid alias ID provided",
        ),
    ] {
        server
            .post("identity/entity-alias", &body.to_string())
            .refused(400, error);
    }
    assert_eq!(server.commits(), before);

    let path = format!("identity/entity-alias/id/{id}");
    let moved = json!({"canonical_id": bob, "name": "sa-9", "custom_metadata": {"k": "v"}});
    server.post(&path, &moved.to_string()).expect(200);
    let alias = server.get(&path).data();
    assert_eq!(alias["canonical_id"], bob.as_str());
    assert_eq!(
        (&alias["name"], &alias["custom_metadata"]),
        (&json!("sa-9"), &json!({"k": "v"}))
    );
    let aliases_of = |id: &str| {
        let data = server.get(&format!("identity/entity/id/{id}")).data();
        data["aliases"].as_array().unwrap().len()
    };
    assert_eq!((aliases_of(&ann), aliases_of(&bob)), (0, 1));
    server.delete(&path).expect(204);
    server.get(&path).silently_refused(404);
    assert_eq!(aliases_of(&bob), 0);
    let keys = server.access_store.keys();
    assert!(!keys.iter().any(|key| key.starts_with("alias")));
}

#[test]
fn contract_7_2_groups_have_all_their_members_and_policies_reach_their_tokens() {
    let server = Server::with_role();
    let auth = log_in(&server);
    let (entity, token) = (text(&auth["entity_id"]), text(&auth["client_token"]));
    let body = json!({"name": "team", "policies": "of-team", "metadata": {"a": "b"}, "member_entity_ids": [entity]});
    let created = server
        .post("identity/group", &body.to_string())
        .expect(200)
        .data();
    let team = text(&created["id"]);
    assert_eq!(created, json!({"id": team, "name": "team"}));
    let all = made(
        &server,
        "identity/group/name/all",
        &json!({"type": "internal", "policies": ["of-all"], "member_group_ids": [team]}),
    );
    let path = format!("identity/group/id/{team}");
    assert_eq!(
        server.get(&path).expect(200).data(),
        json!({"alias": {}, "creation_time": THEN, "id": team, "last_update_time": THEN, "member_entity_ids": [entity],
            "member_group_ids": [], "metadata": {"a": "b"}, "modify_index": 2, "name": "team", "namespace_id": "root",
            "parent_group_ids": [all], "policies": ["of-team"], "type": "internal"})
    );
    let of_entity = server.get(&format!("identity/entity/id/{entity}")).data();
    assert_eq!(of_entity["direct_group_ids"], json!([team]));
    assert_eq!(of_entity["inherited_group_ids"], json!([all]));
    assert_eq!(of_entity["group_ids"].as_array().unwrap().len(), 2);
    let own = || {
        server
            .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
            .data()
    };
    assert_eq!(own()["identity_policies"], json!(["of-all", "of-team"]));
    let again = log_in(&server);
    assert_eq!(again["identity_policies"], json!(["of-all", "of-team"]));
    assert_eq!(
        again["policies"],
        json!(["default", "of-all", "of-team", "prod"])
    );
    assert_eq!(again["token_policies"], json!(["default", "prod"]));

    let list = server.list("identity/group/id").data();
    assert_eq!(
        list["key_info"][&team],
        json!({"name": "team", "num_parent_groups": 1})
    );
    let names = server.list("identity/group/name").data();
    let mut names: Vec<String> = serde_json::from_value(names["keys"].clone()).unwrap();
    names.sort_unstable();
    assert_eq!(names, ["all", "team"]);
    server
        .post(&path, &json!({"member_entity_ids": []}).to_string())
        .expect(204);
    assert_eq!(own().get("identity_policies"), None);
    server.delete(&path).expect(204);
    server.get(&path).silently_refused(404);
    let parent = server.get(&format!("identity/group/id/{all}")).data();
    assert_eq!(parent["member_group_ids"], json!([]));
}

#[test]
fn refusals_of_groups_have_their_texts_and_store_nothing() {
    let server = Server::with_method();
    let accessor = accessor(&server, "gcp");
    let low = made(&server, "identity/group", &json!({"name": "low"}));
    let high = made(
        &server,
        "identity/group",
        &json!({"name": "high", "member_group_ids": [low]}),
    );
    let external = made(
        &server,
        "identity/group",
        &json!({"name": "ext", "type": "external"}),
    );
    let entity = made(&server, "identity/entity", &json!({}));
    let before = server.commits();
    let low_path = format!("identity/group/id/{low}");
    let external_path = format!("identity/group/id/{external}");
    let cyclic = "cyclic relationship detected for member group ID";
    let members = "member entities can't be set manually for external groups";
    for (path, body, error) in [
        (
            low_path.as_str(),
            json!({"member_group_ids": [high]}),
            cyclic,
        ),
        (&low_path, json!({"member_group_ids": [low]}), cyclic),
        (
            &low_path,
            json!({"name": "high"}),
            "group name is already in use",
        ),
        (
            &low_path,
            json!({"type": "external"}),
            "group type cannot be changed",
        ),
        (&low_path, json!({"type": "x"}), "invalid group type \"x\""),
        (
            &low_path,
            json!({"policies": ["root"]}),
            "policies cannot contain root",
        ),
        (
            &low_path,
            json!({"member_entity_ids": ["x"]}),
            "invalid entity ID \"x\"",
        ),
        (
            &low_path,
            json!({"member_group_ids": [entity]}),
            &format!("invalid member group ID \"{entity}\""),
        ),
        (
            &external_path,
            json!({"member_entity_ids": [entity]}),
            members,
        ),
        (&external_path, json!({"member_group_ids": [low]}), members),
        ("identity/group/id/none", json!({}), "invalid group id"),
        (
            "identity/group-alias",
            json!({"name": "g", "mount_accessor": accessor, "canonical_id": low}),
            "alias can't be set on an internal group",
        ),
        (
            "identity/group-alias",
            json!({"name": "g", "mount_accessor": accessor, "canonical_id": entity}),
            "invalid group ID given in 'canonical_id'",
        ),
    ] {
        server.post(path, &body.to_string()).refused(400, error);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn group_aliases_are_made_shown_changed_and_deleted() {
    let server = Server::with_method();
    let accessor = accessor(&server, "gcp");
    let group = made(
        &server,
        "identity/group",
        &json!({"name": "ext", "type": "external"}),
    );
    let body = json!({"name": "folder-1", "mount_accessor": accessor, "canonical_id": group});
    let created = server
        .post("identity/group-alias", &body.to_string())
        .expect(200);
    let id = text(&created.data()["id"]);
    assert_eq!(created.data(), json!({"id": id, "canonical_id": group}));
    let path = format!("identity/group-alias/id/{id}");
    let mut alias = server.get(&path).expect(200).data();
    assert_eq!(
        alias,
        json!({"canonical_id": group, "creation_time": THEN, "custom_metadata": null, "id": id, "last_update_time": THEN,
            "local": false, "merged_from_canonical_ids": null, "metadata": null, "mount_accessor": accessor,
            "mount_path": "auth/gcp/", "mount_type": "gcp", "name": "folder-1", "namespace_id": "root"})
    );
    alias.as_object_mut().unwrap().remove("namespace_id");
    let shown = server.get(&format!("identity/group/id/{group}")).data();
    assert_eq!(shown["alias"], alias);
    assert_eq!(shown["type"], "external");
    assert_eq!(
        server.list("identity/group-alias/id").data()["keys"],
        json!([id])
    );
    // The same once more is the same.
    let again = server.post("identity/group-alias", &body.to_string());
    assert_eq!(again.expect(200).data(), created.data());
    let second = json!({"name": "folder-2", "mount_accessor": accessor, "canonical_id": group});
    server
        .post("identity/group-alias", &second.to_string())
        .refused(400, "the group has another alias: delete that first");
    server.post(&path, r#"{"name":"folder-2"}"#).expect(200);
    assert_eq!(server.get(&path).data()["name"], "folder-2");
    let lookup = json!({"alias_name": "folder-2", "alias_mount_accessor": accessor}).to_string();
    let found = server.post("identity/lookup/group", &lookup).expect(200);
    assert_eq!(found.data()["id"], group.as_str());
    server.delete(&path).expect(204);
    server.delete(&path).expect(204);
    server.list("identity/group-alias/id").silently_refused(404);
    let shown = server.get(&format!("identity/group/id/{group}")).data();
    assert_eq!(shown["alias"], json!({}));
    server.post("identity/lookup/group", &lookup).expect(204);
}

#[test]
fn lookups_find_by_one_thing_and_answer_nothing_without_words() {
    let server = Server::with_role();
    let auth = log_in(&server);
    let entity = server
        .get(&format!("identity/entity/id/{}", text(&auth["entity_id"])))
        .data();
    let alias = &entity["aliases"][0];
    for body in [
        json!({"id": entity["id"]}),
        json!({"name": entity["name"]}),
        json!({"alias_id": alias["id"]}),
        json!({"alias_name": alias["name"], "alias_mount_accessor": alias["mount_accessor"]}),
    ] {
        let found = server.post("identity/lookup/entity", &body.to_string());
        assert_eq!(found.expect(200).data(), entity, "{body}");
    }
    for body in [
        json!({"id": "none"}),
        json!({"name": "none"}),
        json!({"alias_id": "none"}),
        json!({"alias_name": "none", "alias_mount_accessor": alias["mount_accessor"]}),
        json!({"alias_name": "none", "alias_mount_accessor": "none"}),
    ] {
        let found = server.post("identity/lookup/entity", &body.to_string());
        assert_eq!(found.expect(204).text(), "", "{body}");
    }
    let lookup = |body: &str| server.post("identity/lookup/entity", body);
    lookup("{}").refused(400, "query parameter not supplied");
    lookup(r#"{"alias_name":"a"}"#).refused(
        400,
        "both 'alias_name' and 'alias_mount_accessor' needs to be set",
    );
    lookup(r#"{"id":"a","name":"b"}"#).refused(
        400,
        "query parameter conflict; please supply distinct set of query parameters",
    );
}

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
    // The next login is somebody new.
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

#[test]
fn s14_lists_are_read_page_by_page() {
    let server = Server::with_method();
    let ours = accessor(&server, "gcp/");
    for at in 0..5 {
        let entity = made(
            &server,
            "identity/entity",
            &json!({ "name": format!("e{at}") }),
        );
        made(
            &server,
            "identity/entity-alias",
            &json!({ "name": format!("a{at}"), "mount_accessor": ours, "canonical_id": entity }),
        );
        let body = json!({ "name": format!("g{at}"), "type": "external" });
        let group = made(&server, "identity/group", &body);
        made(
            &server,
            "identity/group-alias",
            &json!({ "name": format!("b{at}"), "mount_accessor": ours, "canonical_id": group }),
        );
    }
    let page = |path: &str, query: &str| {
        let answer = server.list(&format!("identity/{path}{query}"));
        let data = answer.expect(200).data();
        let keys: Vec<String> = serde_json::from_value(data["keys"].clone()).unwrap();
        if let Some(facts) = data["key_info"].as_object() {
            assert!(facts.keys().eq(&keys), "{path}{query}");
        }
        keys
    };
    for (path, missing) in [
        ("entity/id", "00000000-0000-0000-0000-000000000000"),
        ("entity-alias/id", "0"),
        ("group/id", "0"),
        ("group-alias/id", ""),
    ] {
        let whole = page(path, "");
        assert!(whole.is_sorted(), "{path}");
        assert_eq!(page(path, &format!("?after={missing}")), whole, "{path}");
    }
    for path in [
        "entity/id",
        "entity/name",
        "entity-alias/id",
        "group/id",
        "group/name",
        "group-alias/id",
    ] {
        let whole = page(path, "");
        assert_eq!(whole.len(), 5, "{path}");
        assert_eq!(page(path, "?limit=2"), whole[..2], "{path}");
        let after = |at: usize, rest: &str| format!("?after={}{rest}", whole[at]);
        assert_eq!(page(path, &after(1, "&limit=2")), whole[2..4], "{path}");
        assert_eq!(page(path, &after(1, "")), whole[2..], "{path}");
        server
            .list(&format!("identity/{path}{}", after(4, "")))
            .silently_refused(404);
        server
            .list(&format!("identity/{path}?limit=many"))
            .expect(400);
    }
    let listed = server.list("identity/entity/id?limit=1").expect(200);
    let (id, facts) = listed.data()["key_info"]
        .as_object()
        .unwrap()
        .clone()
        .into_iter()
        .next()
        .unwrap();
    let read = server.get(&format!("identity/entity/id/{id}")).expect(200);
    assert_eq!(facts["name"], read.data()["name"]);
    assert_eq!(facts["aliases"][0]["id"], read.data()["aliases"][0]["id"]);
}

#[test]
fn contract_7_2_entities_are_merged_and_say_so() {
    let server = Server::with_method();
    let ours = accessor(&server, "gcp/");
    let entity = |name: &str| {
        let id = made(&server, "identity/entity", &json!({ "name": name }));
        let alias = json!({ "name": name, "mount_accessor": ours, "canonical_id": id });
        let alias = made(&server, "identity/entity-alias", &alias);
        (id, alias)
    };
    let ((to, old), (from, new)) = (entity("stays"), entity("goes"));
    let merge = |body: Value| server.post("identity/entity/merge", &body.to_string());
    let refused = |body: Value, text: &str| {
        let answer = merge(body).expect(400).json();
        assert_eq!(answer["errors"], json!([text]));
    };
    refused(json!({}), "missing entity id to merge to");
    refused(
        json!({"to_entity_id": to}),
        "missing entity ids to merge from",
    );
    refused(
        json!({"from_entity_ids": [to], "to_entity_id": to}),
        "to_entity_id should not be present in from_entity_ids",
    );
    refused(
        json!({"from_entity_ids": ["nobody"], "to_entity_id": to}),
        "entity id to merge from is invalid",
    );
    refused(
        json!({"from_entity_ids": [from], "to_entity_id": "nobody"}),
        "entity id to merge to is invalid",
    );
    let clash = merge(json!({"from_entity_ids": from, "to_entity_id": to, "force": true}));
    let clash = text(&clash.expect(400).json()["errors"][0]);
    assert!(clash.contains("conflicting_alias_ids_to_keep") && clash.contains(&ours));
    server.get("identity/entity/merge").expect(405);

    let shown = server.get(&format!("identity/entity/id/{to}")).data();
    assert_eq!(shown["merged_entity_ids"], json!(null));
    let body = json!({
        "from_entity_ids": [from],
        "to_entity_id": to,
        "conflicting_alias_ids_to_keep": [new],
    });
    merge(body).expect(204);
    let shown = server.get(&format!("identity/entity/id/{to}")).data();
    assert_eq!(shown["merged_entity_ids"], json!([from]));
    assert_eq!(shown["aliases"][0]["id"], json!(new));
    let alias = server
        .get(&format!("identity/entity-alias/id/{new}"))
        .data();
    assert_eq!(alias["merged_from_canonical_ids"], json!([from]));
    assert_eq!(alias["canonical_id"], json!(to));
    for gone in [
        format!("identity/entity/id/{from}"),
        "identity/entity/name/goes".to_owned(),
        format!("identity/entity-alias/id/{old}"),
    ] {
        server.get(&gone).silently_refused(404);
    }
}
