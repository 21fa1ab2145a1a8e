//! Lists and lookups.

use super::*;

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
