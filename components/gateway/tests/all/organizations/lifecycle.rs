//! Create, show, update, delete, and the entitlement set.

use super::*;

#[test]
fn contract_2_10_a_new_hosted_organization_in_full() {
    let world = hosted();
    let created = world.create_named("acme");
    let data = &created["data"];
    let attributes = &data["attributes"];
    assert_eq!(
        (&data["id"], &data["type"]),
        (&json!("acme"), &json!("organizations"))
    );
    assert_eq!(data["links"]["self"], "/api/v2/organizations/acme");
    for (name, value) in [
        ("name", json!("acme")),
        ("email", json!("ops@example.com")),
        ("session-timeout", json!(null)),
        ("session-remember", json!(null)),
        ("effective-session-timeout", json!(20160)),
        ("effective-session-remember", json!(20160)),
        ("collaborator-auth-policy", json!("password")),
        ("plan-expired", json!(false)),
        ("plan-expires-at", json!(null)),
        ("plan-is-trial", json!(false)),
        ("plan-is-enterprise", json!(false)),
        ("plan-identifier", json!("free")),
        ("trial-expires-at", json!(null)),
        ("cost-estimation-enabled", json!(false)),
        (
            "send-passing-statuses-for-untriggered-speculative-plans",
            json!(false),
        ),
        ("aggregated-commit-status-enabled", json!(true)),
        ("speculative-plan-management-enabled", json!(true)),
        ("allow-force-delete-workspaces", json!(false)),
        ("fair-run-queuing-enabled", json!(true)),
        ("saml-enabled", json!(false)),
        ("owners-team-saml-role-id", json!(null)),
        ("two-factor-conformant", json!(false)),
        ("assessments-enforced", json!(false)),
        ("user-tokens-enabled", json!(true)),
        ("max-ttl-enabled", json!(false)),
        ("enforce-hyok", json!(false)),
        ("stacks-enabled", json!(false)),
        ("default-execution-mode", json!("remote")),
        ("stacks-default-execution-mode", json!("remote")),
        ("remaining-testable-count", json!(5)),
        ("is-unified", json!(false)),
        ("is-in-degraded-mode", json!(false)),
        ("hcp-id", json!(null)),
    ] {
        assert_eq!(attributes.get(name), Some(&value), "{name}");
    }
    for absent in [
        "default-agent-pool-id",
        "registry-monorepo-support-enabled",
        "global-module-sharing",
    ] {
        assert_eq!(attributes.get(absent), None, "{absent}");
    }
    let external_id = attributes["external-id"].as_str().unwrap();
    assert!(external_id.starts_with("org-") && external_id.len() == 20);
    let created_at = attributes["created-at"].as_str().unwrap();
    assert!(
        created_at.len() == 24 && created_at.ends_with('Z'),
        "{created_at}"
    );
    assert_eq!(attributes["permissions"]["can-destroy"], true);
    assert_eq!(attributes["permissions"]["can-read-policies"], Value::Null);

    let relationships = &data["relationships"];
    assert_eq!(relationships["default-agent-pool"], json!({"data": null}));
    let project = &relationships["default-project"];
    let project_id = project["data"]["id"].as_str().unwrap();
    assert!(project_id.starts_with("prj-"));
    assert_eq!(
        project["links"]["related"],
        format!("/api/v2/projects/{project_id}")
    );
    assert_eq!(relationships["entitlement-set"]["data"]["id"], external_id);
    assert_eq!(
        relationships["subscription"]["links"]["related"],
        "/api/v2/organizations/acme/subscription"
    );
    assert_eq!(relationships.get("module-producers"), None);

    let included = created["included"].as_array().unwrap();
    assert_eq!(included.len(), 1);
    assert_eq!(included[0]["type"], "entitlement-sets");
    assert_eq!(included[0]["id"], external_id);
    assert_eq!(included[0]["attributes"]["state-storage"], true);
}

#[test]
fn contract_2_3_a_self_hosted_organization_differs_where_the_contract_says() {
    let world = self_hosted();
    let created = world.create_named("acme");
    let attributes = &created["data"]["attributes"];
    for absent in [
        "two-factor-conformant",
        "assessments-enforced",
        "is-unified",
        "hcp-id",
    ] {
        assert_eq!(attributes.get(absent), None, "{absent}");
    }
    assert_eq!(attributes["plan-identifier"], "enterprise");
    assert_eq!(attributes["plan-is-enterprise"], true);
    assert_eq!(attributes["global-module-sharing"], false);
    assert_eq!(attributes["module-consuming-organizations-count"], 0);
    assert_eq!(
        attributes["parent-data-retention-policy-info"],
        "Do not auto-delete"
    );
    assert_eq!(attributes["permissions"]["can-read-policies"], true);
    let relationships = &created["data"]["relationships"];
    assert_eq!(
        relationships["data-retention-policy"],
        json!({"data": null})
    );
    assert_eq!(
        relationships["module-producers"]["links"]["related"],
        "/api/v2/organizations/acme/relationships/module-producers"
    );
    // The link is alone, since there is no subscription.
    assert_eq!(
        relationships["subscription"],
        json!({"links": {"related": "/api/v2/organizations/acme/subscription"}})
    );
}

#[test]
fn contract_2_3_create_show_update_and_list_answer_the_same_organization() {
    for world in [hosted(), self_hosted()] {
        let created = world.create_named("Acme")["data"].clone();
        assert_eq!(
            body(&world.get("/api/v2/organizations/acme"))["data"],
            created
        );
        assert_eq!(
            body(&world.get("/api/v2/organizations"))["data"][0],
            created
        );
        let patched = world.send(
            Method::Patch,
            "/api/v2/organizations/ACME",
            Some(&json!({"data": {"type": "organizations"}})),
        );
        assert_eq!(patched.status, 200);
        assert_eq!(body(&patched), json!({"data": created}));
    }
}

#[test]
fn contract_2_2_what_clients_send_at_creation_is_echoed() {
    let world = hosted();
    let wanted = json!({
        "name": "acme", "email": "x@tfe.local", "cost-estimation-enabled": true,
        "stacks-enabled": true, "session_timeout": 20160, "sessionRemember": 3600,
        "owners_team_saml_role_id": "owners", "assessments_enforced": true,
        "collaborator_auth_policy": "two_factor_mandatory", "default-execution-mode": "local",
        "enforce-hyok": false, "user-tokens-enabled": false, "max-ttl-enabled": true,
        "recoverable-items-enabled": true, "permissions": {"can-destroy": false},
    });
    let created = world.create(&wanted);
    assert_eq!(created.status, 201);
    let attributes = &body(&created)["data"]["attributes"];
    for (name, value) in [
        ("cost-estimation-enabled", json!(true)),
        ("stacks-enabled", json!(true)),
        ("session-timeout", json!(20160)),
        ("session-remember", json!(3600)),
        ("effective-session-remember", json!(3600)),
        ("owners-team-saml-role-id", json!("owners")),
        ("assessments-enforced", json!(true)),
        ("collaborator-auth-policy", json!("two_factor_mandatory")),
        ("default-execution-mode", json!("local")),
        ("user-tokens-enabled", json!(false)),
        ("max-ttl-enabled", json!(true)),
        ("recoverable-items-enabled", json!(true)),
    ] {
        assert_eq!(attributes[name], value, "{name}");
    }
    assert_eq!(attributes["permissions"]["can-destroy"], true);
}

#[test]
fn contract_2_7_every_fault_is_one_error_object_and_nothing_is_stored() {
    let world = hosted();
    let response = world.create(&json!({
        "name": "no good", "email": 7, "session_timeout": "x", "session-remember": 0,
        "collaborator-auth-policy": "none", "stacks-enabled": "yes", "default-execution-mode": "agent",
    }));
    let expected = [
        (
            "/data/attributes/name",
            "Name can only include letters, numbers, -, and _.",
        ),
        ("/data/attributes/email", "Email must be a string"),
        (
            "/data/attributes/session-timeout",
            "Session timeout is not a number",
        ),
        (
            "/data/attributes/session-remember",
            "Session remember must be greater than 0",
        ),
        (
            "/data/attributes/collaborator-auth-policy",
            "Collaborator auth policy is not included in the list",
        ),
        (
            "/data/attributes/default-agent-pool-id",
            "Default agent pool must be specified when using 'agent' execution mode",
        ),
        (
            "/data/attributes/stacks-enabled",
            "Stacks enabled must be true or false",
        ),
    ];
    let expected = expected.map(|(pointer, detail)| (pointer.to_owned(), detail.to_owned()));
    assert_eq!(faults(&response), expected);
    assert_eq!(body(&response)["errors"][0]["title"], "invalid attribute");
    assert_eq!(world.store.commits(), 0);
}

#[test]
fn contract_2_7_name_and_email_must_be_there() {
    let world = hosted();
    let blank = [
        ("/data/attributes/name", "Name can't be blank"),
        ("/data/attributes/email", "Email can't be blank"),
    ];
    let blank = blank.map(|(pointer, detail)| (pointer.to_owned(), detail.to_owned()));
    for attributes in [
        json!({}),
        json!(null),
        json!({"name": "", "email": ""}),
        json!({"name": null, "email": null}),
    ] {
        assert_eq!(faults(&world.create(&attributes)), blank);
    }
    let spoiled = world.create(&json!({"name": "a".repeat(91), "email": "nobody"}));
    let details: Vec<_> = faults(&spoiled)
        .into_iter()
        .map(|(_, detail)| detail)
        .collect();
    assert_eq!(
        details,
        [
            "Name is too long (maximum is 90 characters)",
            "Email is invalid"
        ]
    );
}

#[test]
fn contract_2_7_a_taken_name_is_told_word_for_word() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let response = world.create(&json!({"name": "ACME", "email": "a@b"}));
    assert_eq!(
        text(&response),
        r#"{"errors":[{"status":"422","title":"invalid attribute","detail":"Name has already been taken","source":{"pointer":"/data/attributes/name"}}]}"#
    );
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_2_8_pools_by_attribute_and_by_relationship() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let text = "Default agent pool must not be specified unless using 'agent' execution mode";
    let by_attribute = world.update("acme", &json!({"default-agent-pool-id": "apool-1"}));
    let pointer = "/data/attributes/default-agent-pool-id";
    assert_eq!(
        faults(&by_attribute),
        [(pointer.to_owned(), text.to_owned())]
    );

    let relationship = json!({"data": {
        "type": "organizations",
        "relationships": {"default-agent-pool": {"data": {"id": "apool-1", "type": "agent-pools"}}},
    }});
    let target = "/api/v2/organizations/acme";
    let by_relationship = world.send(Method::Patch, target, Some(&relationship));
    let pointer = "/data/relationships/default-agent-pool";
    assert_eq!(
        faults(&by_relationship),
        [(pointer.to_owned(), text.to_owned())]
    );
    assert_eq!(world.store.values(), before);

    // A client sends this to reset its settings.
    let reset = json!({"default-execution-mode": "remote", "default-agent-pool-id": null});
    assert_eq!(world.update("acme", &reset).status, 200);
}

#[test]
fn contract_2_9_flags_on_the_wire() {
    let world = hosted();
    world.create_named("acme");
    let passing = "send-passing-statuses-for-untriggered-speculative-plans";
    let aggregated = "aggregated-commit-status-enabled";
    let switched = body(&world.update("acme", &json!({passing: true})));
    assert_eq!(switched["data"]["attributes"][passing], true);
    assert_eq!(switched["data"]["attributes"][aggregated], false);
    let refused = faults(&world.update("acme", &json!({aggregated: true})));
    assert_eq!(
        refused[0].0,
        "/data/attributes/aggregated-commit-status-enabled"
    );
    assert_eq!(
        refused[0].1,
        "Aggregated commit status enabled can't be used when send passing statuses for untriggered speculative plans is enabled"
    );
    let world = self_hosted();
    world.create_named("acme");
    let ignored = body(&world.update("acme", &json!({passing: true, aggregated: true})));
    assert_eq!(ignored["data"]["attributes"][passing], false);
    assert_eq!(ignored["data"]["attributes"][aggregated], true);
}

#[test]
fn contract_2_12_patch_and_put_change_only_what_they_mention() {
    let world = hosted();
    world.create(&json!({"name": "acme", "email": "a@b", "session-timeout": 60, "default-execution-mode": "local"}));
    for (method, email) in [(Method::Patch, "c@d"), (Method::Put, "e@f")] {
        let document = document(&json!({"email": email}));
        let response = world.send(method, "/api/v2/organizations/acme", Some(&document));
        assert_eq!(response.status, 200);
        let answer = body(&response);
        let attributes = &answer["data"]["attributes"];
        assert_eq!(attributes["email"], email);
        assert_eq!(attributes["session-timeout"], 60);
        assert_eq!(attributes["default-execution-mode"], "local");
        assert_eq!(answer.get("included"), None);
    }
}

#[test]
fn contract_2_12_a_rename_moves_every_link_and_frees_the_old_name() {
    let world = hosted();
    let created = world.create_named("acme");
    let response = world.update("acme", &json!({"name": "Globex"}));
    assert_eq!(response.status, 200);
    let renamed = body(&response);
    assert_eq!(renamed["data"]["id"], "Globex");
    assert_eq!(
        renamed["data"]["links"]["self"],
        "/api/v2/organizations/Globex"
    );
    assert!(!text(&response).contains("acme"));
    let of = |document: &Value, name: &str| document["data"]["attributes"][name].clone();
    for kept in ["external-id", "created-at"] {
        assert_eq!(of(&renamed, kept), of(&created, kept));
    }
    assert_not_found(&world.get("/api/v2/organizations/acme"));
    assert_eq!(world.get("/api/v2/organizations/globex").status, 200);
    world.create_named("acme");
}

#[test]
fn contract_2_13_delete_answers_nothing_and_then_not_found() {
    let world = hosted();
    let created = world.create_named("acme");
    let id = created["data"]["attributes"]["external-id"]
        .as_str()
        .unwrap();
    // One client sends the four characters of null as a body.
    let target = "/api/v2/organizations/Acme";
    let sent = with_body(
        request(Method::Delete, target, Some(ROOT)),
        Some(JSON_API),
        "null",
    );
    let response = world.handle(&sent);
    assert_eq!((response.status, response.body.len()), (204, 0));
    assert_eq!(response.header("content-type"), None);
    for target in [
        "/api/v2/organizations/acme".to_owned(),
        "/api/v2/organizations/acme/entitlement-set".to_owned(),
        format!("/api/v2/entitlement-sets/{id}"),
    ] {
        assert_not_found(&world.get(&target));
    }
    assert_not_found(&world.send(Method::Delete, target, None));
    world.create_named("ACME");
    assert_eq!(world.send(Method::Delete, target, None).status, 204);
}

#[test]
fn contract_4_1_the_entitlement_set_by_name_and_by_id() {
    let world = self_hosted();
    let created = world.create_named("acme");
    let id = created["data"]["attributes"]["external-id"]
        .as_str()
        .unwrap();
    let response = world.get("/api/v2/organizations/ACME/entitlement-set");
    assert_eq!(response.status, 200);
    let set = body(&response);
    assert_eq!(set["data"]["type"], "entitlement-sets");
    assert_eq!(set["data"]["id"], id);
    assert_eq!(
        set["data"]["links"]["self"],
        format!("/api/v2/entitlement-sets/{id}")
    );
    assert_eq!(set["data"]["attributes"]["operations"], true);
    assert_eq!(set["data"]["attributes"]["policy-limit"], Value::Null);
    assert_eq!(
        body(&world.get(&format!("/api/v2/entitlement-sets/{id}"))),
        set
    );
    assert_not_found(&world.get("/api/v2/entitlement-sets/org-0123456789abcdef"));
}

#[test]
fn contract_2_6_show_includes_what_is_asked_for() {
    let world = hosted();
    let created = world.create_named("acme");
    let acme = "/api/v2/organizations/acme";
    assert_eq!(body(&world.get(acme)).get("included"), None);
    let both = body(&world.get(&format!("{acme}?include=default-project,entitlement_set")));
    let included = both["included"].as_array().unwrap();
    assert_eq!(included.len(), 2);
    assert_eq!(included[0]["type"], "entitlement-sets");
    assert_eq!(included[1]["attributes"]["name"], "Default Project");
    let project = &created["data"]["relationships"]["default-project"]["data"];
    assert_eq!(&included[1]["id"], &project["id"]);
    let subscription = body(&world.get(&format!("{acme}?include=subscription")));
    assert_eq!(subscription["included"][0]["type"], "subscriptions");
    let refused = world.get(&format!("{acme}?include=teams"));
    assert_eq!(refused.status, 400);
    let detail = body(&refused)["errors"][0]["detail"].clone();
    assert!(
        detail
            .as_str()
            .unwrap()
            .ends_with("Invalid include parameter")
    );
}

#[test]
fn contract_2_7_a_new_name_follows_the_rules_of_names() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    for (name, detail) in [
        (json!(""), "Name can't be blank"),
        (json!(null), "Name can't be blank"),
        (json!(7), "Name must be a string"),
        (
            json!(" b"),
            "Name can only include letters, numbers, -, and _.",
        ),
        (
            json!("a".repeat(91)),
            "Name is too long (maximum is 90 characters)",
        ),
    ] {
        let refused = faults(&world.update("acme", &json!({"name": name})));
        let expected = ("/data/attributes/name".to_owned(), detail.to_owned());
        assert_eq!(refused, [expected]);
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_2_9_flags_of_a_new_organization() {
    let passing = "send-passing-statuses-for-untriggered-speculative-plans";
    let aggregated = "aggregated-commit-status-enabled";
    for (world, expected) in [(hosted(), [true, false]), (self_hosted(), [false, true])] {
        let made = world.create(&json!({"name": "new", "email": "a@b.example", passing: true}));
        let flags = &body(&made)["data"]["attributes"];
        assert_eq!([&flags[passing], &flags[aggregated]], expected);
    }
}
