//! Aliases of entities and of groups.

use super::*;

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

    // The login with that name finds the entity.
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
    // The same request again changes nothing.
    let again = server.post("identity/group-alias", &body.to_string());
    again.expect(204);
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
