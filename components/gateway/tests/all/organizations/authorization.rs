//! The authorization of callers for organizations. A caller cannot distinguish a forbidden organization from one that does not exist.

use super::*;

const LIST: &str = "/api/v2/organizations";
const ACME: &str = "/api/v2/organizations/acme";

#[test]
fn a6_what_is_not_allowed_answers_the_same_bytes_as_what_is_not_there() {
    let world = hosted();
    let created = world.create_named("acme");
    let id = created["data"]["attributes"]["external-id"]
        .as_str()
        .unwrap();
    let set_by_id = format!("/api/v2/entitlement-sets/{id}");
    let token = world.token(
        "nothing",
        &[("organizations/none", &["read", "update", "delete"])],
    );
    let before = world.store.values();
    let change = document(&json!({"email": "new@example.com"}));
    let set = "/api/v2/organizations/acme/entitlement-set";
    for (method, target, sent) in [
        (Method::Get, ACME, None),
        (Method::Get, set, None),
        (Method::Get, set_by_id.as_str(), None),
        (Method::Patch, ACME, Some(&change)),
        (Method::Put, ACME, Some(&change)),
        (Method::Delete, ACME, None),
    ] {
        let denied = world.send_as(&token, method, target, sent);
        assert_not_found(&denied);
        let absent = target
            .replace("acme", "none")
            .replace(id, "org-0123456789abcdef");
        let absent = world.send_as(&token, method, &absent, sent);
        let but_for_the_id = |response: &Response| {
            let mut headers = response.headers.clone();
            headers.retain(|(name, _)| *name != "x-request-id");
            (response.status, headers, response.body.clone())
        };
        assert_eq!(but_for_the_id(&denied), but_for_the_id(&absent));
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn a6_a_bad_body_for_what_may_not_be_seen_is_not_found_all_the_same() {
    let world = hosted();
    world.create_named("acme");
    let token = world.token("reader", &[("organizations/acme", &["read"])]);
    let sent = with_body(
        request(Method::Patch, ACME, Some(&token)),
        Some(JSON_API),
        "{",
    );
    assert_not_found(&world.handle(&sent));
    assert_eq!(world.send_as(&token, Method::Get, ACME, None).status, 200);
}

#[test]
fn each_capability_opens_its_operation_and_no_other() {
    let change = document(&json!({"session-timeout": 60}));
    for (capability, open) in [
        ("read", [200, 404, 404]),
        ("update", [404, 200, 404]),
        ("delete", [404, 404, 204]),
        ("create", [404, 404, 404]),
        ("list", [404, 404, 404]),
    ] {
        let world = hosted();
        world.create_named("acme");
        let token = world.token("one", &[("organizations/acme", &[capability])]);
        let found = [
            world.send_as(&token, Method::Get, ACME, None).status,
            world
                .send_as(&token, Method::Patch, ACME, Some(&change))
                .status,
            world.send_as(&token, Method::Delete, ACME, None).status,
        ];
        assert_eq!(found, open, "{capability}");
    }
}

#[test]
fn contract_2_4_who_may_change_and_not_remove_is_not_told_to_be_an_owner() {
    let world = hosted();
    world.create_named("acme");
    for (policy, rights, owns) in [
        ("both", &["read", "update", "delete"][..], true),
        ("change", &["read", "update"], false),
        ("remove", &["read", "delete"], false),
    ] {
        let token = world.token(policy, &[("organizations/acme", rights)]);
        let shown = body(&world.send_as(&token, Method::Get, ACME, None));
        let permissions = &shown["data"]["attributes"]["permissions"];
        assert_eq!(permissions["can-destroy"], owns, "{policy}");
        assert_eq!(permissions["can-update"], owns, "{policy}");
    }
}

#[test]
fn a_workload_creates_and_manages_the_organizations_of_its_policy() {
    let world = hosted();
    let all: &[&str] = &["create", "read", "update", "delete"];
    let token = world.token("team", &[("organizations/team-*", all)]);
    let create = |name: &str| {
        let document = document(&json!({"name": name, "email": "a@b"}));
        world.send_as(&token, Method::Post, LIST, Some(&document))
    };
    let created = create("Team-One");
    assert_eq!(created.status, 201);
    let permissions = &body(&created)["data"]["attributes"]["permissions"];
    assert_eq!(permissions["can-update"], true);
    assert_eq!(permissions["can-create-team"], false);
    assert_not_found(&create("other"));
    assert_eq!(faults(&create("no name"))[0].0, "/data/attributes/name");
    let target = "/api/v2/organizations/team-one";
    let shown = body(&world.send_as(&token, Method::Get, target, None));
    assert_eq!(shown["data"], body(&created)["data"]);
    assert_eq!(
        world.send_as(&token, Method::Delete, target, None).status,
        204
    );
}

#[test]
fn update_alone_does_not_create() {
    let world = hosted();
    let token = world.token("updater", &[("organizations/*", &["update", "read"])]);
    let document = document(&json!({"name": "acme", "email": "a@b"}));
    assert_not_found(&world.send_as(&token, Method::Post, LIST, Some(&document)));
    assert_eq!(world.store.commits(), 0);
}

#[test]
fn a2_case_and_encoding_of_a_name_reach_the_same_policy() {
    let world = hosted();
    world.create_named("Acme");
    let token = world.token(
        "all-but-acme",
        &[
            ("organizations/*", &["read", "create", "update", "delete"]),
            ("organizations/acme", &["deny"]),
        ],
    );
    for name in ["acme", "ACME", "aCmE", "%61cme", "%41CME", "acme/"] {
        let target = format!("/api/v2/organizations/{name}");
        assert_not_found(&world.send_as(&token, Method::Get, &target, None));
        assert_not_found(&world.send_as(&token, Method::Delete, &target, None));
    }
    let document = document(&json!({"name": "ACME", "email": "a@b"}));
    assert_not_found(&world.send_as(&token, Method::Post, LIST, Some(&document)));
}

#[test]
fn a_rename_needs_the_right_to_create_under_the_new_name() {
    let world = hosted();
    world.create_named("team-one");
    let all: &[&str] = &["create", "read", "update", "delete"];
    let token = world.token("team", &[("organizations/team-*", all)]);
    let target = "/api/v2/organizations/team-one";
    let rename = |name: &str| {
        let document = document(&json!({"name": name}));
        world.send_as(&token, Method::Patch, target, Some(&document))
    };
    let before = world.store.values();
    assert_not_found(&rename("finance"));
    assert_eq!(world.store.values(), before);
    assert_eq!(rename("TEAM-ONE").status, 200);
    assert_eq!(rename("team-two").status, 200);
    assert_not_found(&world.send_as(&token, Method::Get, target, None));
}

#[test]
fn t4_one_request_takes_one_use_of_a_token() {
    let world = hosted();
    world.create_named("acme");
    let rules: &[(&str, &[&str])] = &[("organizations/acme", &["read", "update"])];
    let token = world.token_with_uses("acme", rules, Some(3));
    let change = document(&json!({"session-timeout": 60}));
    let statuses = [
        world.send_as(&token, Method::Get, ACME, None).status,
        world
            .send_as(&token, Method::Patch, ACME, Some(&change))
            .status,
        world.send_as(&token, Method::Get, LIST, None).status,
        world.send_as(&token, Method::Get, ACME, None).status,
    ];
    assert_eq!(statuses, [200, 200, 200, 401]);
}

#[test]
fn a_revoked_token_opens_nothing() {
    let world = hosted();
    world.create_named("acme");
    let token = world.token("reader", &[("organizations/acme", &["read"])]);
    assert_eq!(world.send_as(&token, Method::Get, ACME, None).status, 200);
    let revoked = json!({"token": token}).to_string();
    world.server.post("auth/token/revoke", &revoked).expect(204);
    assert_eq!(world.send_as(&token, Method::Get, ACME, None).status, 401);
}
