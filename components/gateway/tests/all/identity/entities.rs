//! Entities: created by logins and by requests, changed, merged, deleted.

use super::*;

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
    // Strict clients need the member.
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
    // A write that names the entity again changes it, at either path.
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
            r#"{"name":"a//b"}"#,
            "a name has 1 to 512 bytes without control characters, and no empty, . or .. part"
                .to_owned(),
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
