//! Groups, and the way in which tokens get their policies.

use super::*;

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
fn contract_7_2_names_are_found_in_any_case_of_letters() {
    let server = Server::with_method();
    let id = made(&server, "identity/group", &json!({"name": "Ops"}));
    server
        .post("identity/group", r#"{"name":"oPS","policies":"p"}"#)
        .expect(204);
    server
        .post("identity/group/name/OPS", r#"{"metadata":"a=b"}"#)
        .expect(204);
    for path in ["identity/group/name/ops", "identity/group/name/Ops"] {
        let group = server.get(path).data();
        assert_eq!(group["id"], id);
        assert_eq!(group["name"], "Ops");
        assert_eq!(group["policies"], json!(["p"]));
        assert_eq!(group["metadata"], json!({"a": "b"}));
    }
    let looked_up = server.post("identity/lookup/group", r#"{"name":"OpS"}"#);
    assert_eq!(looked_up.expect(200).data()["id"], id);
    assert_eq!(
        server.list("identity/group/name").data()["keys"],
        json!(["Ops"])
    );
}

#[test]
fn a2_a_denial_of_a_name_holds_for_every_spelling_of_it() {
    let server = Server::with_method();
    made(&server, "identity/group", &json!({"name": "ops"}));
    let rules = r#"path \"identity/group/name/*\" { capabilities = [\"read\"] } path \"identity/group/name/ops\" { capabilities = [\"deny\"] }"#;
    server
        .post("sys/policies/acl/p", &format!("{{\"policy\":\"{rules}\"}}"))
        .expect(204);
    let token = server.post("auth/token/create", r#"{"policies":["p"]}"#);
    let token = text(&token.expect(200).json()["auth"]["client_token"]);
    for name in ["ops", "Ops", "OPS"] {
        let path = format!("identity/group/name/{name}");
        server
            .send(Method::Get, &path, Some(&token), "")
            .expect(403);
    }
    server
        .send(Method::Get, "identity/group/name/other", Some(&token), "")
        .expect(404);
}

#[test]
fn contract_7_2_a_name_may_have_slashes() {
    let server = Server::with_method();
    let id = made(&server, "identity/group/name/team/a", &json!({}));
    let group = server.get("identity/group/name/Team/A").expect(200).data();
    assert_eq!(
        (&group["id"], &group["name"]),
        (&json!(id), &json!("team/a"))
    );
    let same = r#"{"name":"team/A","policies":"p"}"#;
    server.post("identity/group", same).expect(204);
    let entity = made(&server, "identity/entity", &json!({"name": "a/b"}));
    let shown = server.get("identity/entity/name/a/b").expect(200).data();
    assert_eq!(shown["id"], entity);
    server.delete("identity/group/name/team/a").expect(204);
    server
        .get("identity/group/name/team/a")
        .silently_refused(404);
}
