//! The paths of site administrators (contract 4.14).

use super::*;

const ADMIN: &str = "/api/v2/admin/organizations";
const ACME: &str = "/api/v2/admin/organizations/acme";
const SETTINGS: &str = "/api/v2/admin/general-settings";

fn patch(world: &World, target: &str, attributes: &Value) -> Response {
    let document = json!({"data": {"type": "", "attributes": attributes}});
    world.send(Method::Patch, target, Some(&document))
}

#[test]
fn contract_4_14_an_organization_as_site_administrators_see_it() {
    for world in [hosted(), self_hosted()] {
        let created = world.create_named("Acme");
        let external_id = &created["data"]["attributes"]["external-id"];
        let shown = world.get(ACME);
        assert_eq!(shown.status, 200, "{}", text(&shown));
        let shown = body(&shown);
        let owner = &shown["data"]["relationships"]["owners"]["data"][0]["id"];
        assert!(owner.as_str().unwrap().starts_with("user-"), "{owner}");
        let expected = json!({"data": {
            "id": "Acme",
            "type": "organizations",
            "attributes": {
                "name": "Acme",
                "external-id": external_id,
                "notification-email": "ops@example.com",
                "access-beta-tools": false,
                "is-disabled": false,
                "sso-enabled": false,
                "global-module-sharing": false,
                "global-provider-sharing": false,
                "apply-timeout": null,
                "plan-timeout": null,
                "terraform-build-worker-apply-timeout": null,
                "terraform-build-worker-plan-timeout": null,
                "terraform-worker-sudo-enabled": false,
                "workspace-limit": null,
            },
            "relationships": {
                "owners": {"data": [{"id": owner, "type": "users"}]},
                "subscription": {"data": null},
                "feature-set": {"data": null},
                "module-consumers": {"links": {
                    "related": "/api/v2/admin/organizations/Acme/relationships/module-consumers",
                }},
            },
            "links": {"self": "/api/v2/organizations/Acme"},
        }});
        assert_eq!(shown, expected);
    }
}

#[test]
fn contract_4_14_the_list_is_always_in_pages_and_counts_all() {
    let world = self_hosted();
    for name in ["b-two", "a-one", "c-three"] {
        world.create_named(name);
    }
    assert_eq!(
        patch(
            &world,
            &format!("{ADMIN}/c-three"),
            &json!({"is-disabled": true})
        )
        .status,
        200
    );
    let all = body(&world.get(ADMIN));
    let ids = |list: &Value| -> Vec<String> {
        let data = list["data"].as_array().unwrap().iter();
        data.map(|found| found["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&all), ["a-one", "b-two", "c-three"]);
    assert_eq!(all["meta"]["pagination"]["page-size"], 20);
    let counts = json!({"total": 3, "active": 2, "disabled": 1});
    assert_eq!(all["meta"]["status-counts"], counts);
    assert_eq!(all.get("included"), None);

    let found = body(&world.get(&format!("{ADMIN}?q=TWO&include=owners")));
    assert_eq!(ids(&found), ["b-two"]);
    assert_eq!(found["meta"]["pagination"]["current-page"], 1);
    assert_eq!(found["meta"]["pagination"]["total-count"], 1);
    assert_eq!(found["meta"]["status-counts"], counts);
    let owner = &found["data"][0]["relationships"]["owners"]["data"][0]["id"];
    assert_eq!(found["included"][0]["id"], *owner);
    assert_eq!(found["included"][0]["type"], "users");
    let email = found["included"][0]["attributes"]["email"]
        .as_str()
        .unwrap();
    assert!(!email.is_empty());
    let none = body(&world.get(&format!("{ADMIN}?q=none-such")));
    assert_eq!(none["meta"]["pagination"]["total-count"], 0);
    let odd = world.get(&format!("{ADMIN}?include=teams"));
    assert_eq!(odd.status, 400);

    world.send(Method::Delete, &format!("{ADMIN}/c-three"), None);
    let left = body(&world.get(ADMIN));
    let counts = json!({"total": 2, "active": 2, "disabled": 0});
    assert_eq!(left["meta"]["status-counts"], counts);
}

#[test]
fn contract_4_14_all_that_is_set_is_shown_and_zero_is_not_null() {
    let world = self_hosted();
    world.create_named("acme");
    let set = json!({
        "access-beta-tools": true,
        "is-disabled": true,
        "global-provider-sharing": true,
        "terraform-build-worker-apply-timeout": "24h",
        "plan_timeout": "1h30m",
        "terraform-worker-sudo-enabled": true,
        "workspace-limit": 42,
    });
    let updated = patch(&world, ACME, &set);
    assert_eq!(updated.status, 200, "{}", text(&updated));
    let attributes = &body(&updated)["data"]["attributes"];
    for (name, value) in [
        ("access-beta-tools", json!(true)),
        ("is-disabled", json!(true)),
        ("global-module-sharing", json!(false)),
        ("global-provider-sharing", json!(true)),
        ("apply-timeout", json!("24h")),
        ("terraform-build-worker-apply-timeout", json!("24h")),
        ("plan-timeout", json!("1h30m")),
        ("terraform-build-worker-plan-timeout", json!("1h30m")),
        ("terraform-worker-sudo-enabled", json!(true)),
        ("workspace-limit", json!(42)),
    ] {
        assert_eq!(attributes[name], value, "{name}");
    }
    assert_eq!(body(&world.get(ACME))["data"]["attributes"], *attributes);
    let zero = patch(
        &world,
        ACME,
        &json!({"workspace-limit": 0, "apply-timeout": null}),
    );
    let attributes = &body(&zero)["data"]["attributes"];
    assert_eq!(attributes["workspace-limit"], 0);
    assert_eq!(attributes["apply-timeout"], Value::Null);
    assert_eq!(attributes["plan-timeout"], "1h30m");
    let unset = patch(&world, ACME, &json!({"workspace-limit": null}));
    assert_eq!(
        body(&unset)["data"]["attributes"]["workspace-limit"],
        Value::Null
    );
}

#[test]
fn contract_4_14_every_fault_is_told_at_once_and_nothing_is_stored() {
    let world = self_hosted();
    world.create_named("acme");
    let before = world.store.values();
    let refused = patch(
        &world,
        ACME,
        &json!({
            "is-disabled": "yes", "access-beta-tools": 1, "workspace-limit": -1,
            "apply-timeout": 5, "plan-timeout": "x".repeat(65),
        }),
    );
    let expected = [
        (
            "access-beta-tools",
            "Access beta tools must be true or false",
        ),
        ("is-disabled", "Is disabled must be true or false"),
        ("apply-timeout", "Apply timeout must be a string"),
        (
            "plan-timeout",
            "Plan timeout is too long (maximum is 64 characters)",
        ),
        (
            "workspace-limit",
            "Workspace limit must be greater than or equal to 0",
        ),
    ]
    .map(|(name, text)| (format!("/data/attributes/{name}"), text.to_owned()));
    assert_eq!(faults(&refused), expected);
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_1_7_an_organization_that_is_switched_off_is_not_there_for_others() {
    let world = self_hosted();
    world.create_named("acme");
    let rules: &[(&str, &[&str])] = &[("organizations/*", &["read", "update", "delete"])];
    let token = world.token("reader", rules);
    let target = "/api/v2/organizations/acme";
    patch(&world, ACME, &json!({"is-disabled": true}));
    assert_not_found(&world.send_as(&token, Method::Get, target, None));
    assert_not_found(&world.send_as(&token, Method::Delete, target, None));
    assert_eq!(world.get(target).status, 200);
    patch(&world, ACME, &json!({"is-disabled": false}));
    assert_eq!(world.send_as(&token, Method::Get, target, None).status, 200);
}

#[test]
fn contract_4_14_a_site_administrator_removes_an_organization() {
    let world = self_hosted();
    world.create_named("acme");
    assert_not_found(&world.send(Method::Delete, &format!("{ADMIN}/none"), None));
    assert_eq!(world.send(Method::Delete, ACME, None).status, 204);
    assert_not_found(&world.get(ACME));
    assert_not_found(&world.send(Method::Delete, ACME, None));
    assert_not_found(&patch(&world, ACME, &json!({"is-disabled": true})));
}

#[test]
fn contract_1_7_to_everybody_else_there_is_nothing_to_administer() {
    let world = self_hosted();
    world.create_named("acme");
    let everything: &[&str] = &["create", "read", "update", "delete"];
    let workload = world.token("all", &[("*", everything)]);
    let person = world.user("anna", false);
    // The first use of a token is recorded in the store.
    assert_not_found(&world.send_as(&person, Method::Get, ACME, None));
    let before = world.store.values();
    let document = json!({"data": {"attributes": {"is-disabled": true}}});
    let list = json!({"data": []});
    for token in [workload.as_str(), person.as_str()] {
        for (method, target, document) in [
            (Method::Get, ADMIN, None),
            (Method::Get, ACME, None),
            (Method::Get, "/api/v2/admin/organizations/none", None),
            (Method::Patch, ACME, Some(&document)),
            (Method::Delete, ACME, None),
            (Method::Get, SETTINGS, None),
            (Method::Patch, SETTINGS, Some(&document)),
            (
                Method::Get,
                "/api/v2/admin/data-retention-policy-settings",
                None,
            ),
            (
                Method::Post,
                "/api/v2/admin/data-retention-policy-settings",
                Some(&document),
            ),
            (
                Method::Delete,
                "/api/v2/admin/data-retention-policy-settings",
                None,
            ),
            (
                Method::Get,
                "/api/v2/admin/organizations/acme/relationships/module-consumers",
                None,
            ),
            (
                Method::Patch,
                "/api/v2/admin/organizations/acme/relationships/module-consumers",
                Some(&list),
            ),
            (
                Method::Patch,
                "/api/v2/admin/organizations/acme/module-consumers",
                Some(&document),
            ),
            (
                Method::Put,
                "/api/v2/admin/organizations/acme/registry-partnerships",
                Some(&document),
            ),
        ] {
            assert_not_found(&world.send_as(token, method, target, document));
        }
    }
    assert_eq!(world.store.values(), before);
    let administrator = world.user("root-anna", true);
    assert_eq!(
        world
            .send_as(&administrator, Method::Get, ACME, None)
            .status,
        200
    );
}

#[test]
fn contract_4_14_general_settings_are_kept_and_shown() {
    for world in [hosted(), self_hosted()] {
        let original = json!({"data": {
            "id": "general",
            "type": "general-settings",
            "attributes": {
                "limit-user-organization-creation": false,
                "api-rate-limiting-enabled": true,
                "api-rate-limit": 30,
                "send-passing-statuses-for-untriggered-speculative-plans": false,
                "allow-speculative-plans-on-pull-requests-from-forks": false,
                "require-two-factor-for-admins": false,
                "fair-run-queuing-enabled": true,
                "limit-organizations-per-user": false,
                "default-organizations-per-user-ceiling": null,
                "limit-workspaces-per-organization": false,
                "default-workspaces-per-organization-ceiling": null,
                "apply-timeout": "24h",
                "plan-timeout": "2h",
                "terraform-build-worker-apply-timeout": "24h",
                "terraform-build-worker-plan-timeout": "2h",
                "default-remote-state-access": true,
                "teams-per-organization": 1000,
                "memberships-per-organization": 5000,
                "teams-per-membership": 100,
                "agent-pools-per-organization": 1000,
            },
        }});
        assert_eq!(body(&world.get(SETTINGS)), original);
        assert_eq!(world.store.commits(), 0);
        let set = json!({
            "limit-user-organization-creation": true,
            "api-rate-limiting-enabled": false,
            "api-rate-limit": 50,
            "send-passing-statuses-for-untriggered-speculative-plans": true,
            "allow-speculative-plans-on-pull-requests-from-forks": true,
            "require-two-factor-for-admins": true,
            "fair-run-queuing-enabled": false,
            "limit-organizations-per-user": true,
            "default-organizations-per-user-ceiling": 5,
            "limit-workspaces-per-organization": true,
            "default-workspaces-per-organization-ceiling": 0,
            "apply-timeout": "12h",
            "terraform-build-worker-plan-timeout": "30m",
            "default-remote-state-access": false,
            "teams-per-organization": 10,
            "memberships-per-organization": 20,
            "teams-per-membership": 5,
            "agent-pools-per-organization": 7,
        });
        let changed = patch(&world, SETTINGS, &set);
        assert_eq!(changed.status, 200, "{}", text(&changed));
        let changed = body(&changed);
        for (name, value) in set.as_object().unwrap() {
            assert_eq!(changed["data"]["attributes"][name], *value, "{name}");
        }
        assert_eq!(changed["data"]["attributes"]["plan-timeout"], "30m");
        assert_eq!(body(&world.get(SETTINGS)), changed);
        let names: Vec<_> = set.as_object().unwrap().keys().collect();
        let nothing: serde_json::Map<String, Value> = names
            .into_iter()
            .map(|name| (name.clone(), Value::Null))
            .collect();
        let reset = body(&patch(&world, SETTINGS, &Value::Object(nothing)));
        assert_eq!(reset["data"]["attributes"]["api-rate-limit"], 30);
        assert_eq!(
            reset["data"]["attributes"]["fair-run-queuing-enabled"],
            true
        );
    }
}

#[test]
fn contract_4_14_bad_general_settings_are_refused_together() {
    let world = self_hosted();
    let bad = json!({
        "api-rate-limit": 0, "api-rate-limiting-enabled": "no",
        "default-organizations-per-user-ceiling": 1.5, "apply-timeout": [],
    });
    let refused = patch(&world, SETTINGS, &bad);
    let expected = [
        (
            "api-rate-limiting-enabled",
            "Api rate limiting enabled must be true or false",
        ),
        ("api-rate-limit", "Api rate limit must be greater than 0"),
        (
            "default-organizations-per-user-ceiling",
            "Default organizations per user ceiling is not a number",
        ),
        ("apply-timeout", "Apply timeout must be a string"),
    ]
    .map(|(name, text)| (format!("/data/attributes/{name}"), text.to_owned()));
    assert_eq!(faults(&refused), expected);
    assert_eq!(world.store.commits(), 0);
}

#[test]
fn contract_1_7_creation_can_be_left_to_administrators() {
    let create = |world: &World, token: &str, name: &str| {
        let document = document(&json!({"name": name, "email": "a@b"}));
        world.send_as(
            token,
            Method::Post,
            "/api/v2/organizations",
            Some(&document),
        )
    };
    let restricted = json!({"limit-user-organization-creation": true});
    let world = self_hosted();
    let person = world.user("anna", false);
    let administrator = world.user("root-anna", true);
    assert_eq!(create(&world, &person, "before").status, 201);
    patch(&world, SETTINGS, &restricted);
    let refused = create(&world, &person, "after");
    assert_eq!(refused.status, 403);
    assert_eq!(
        text(&refused),
        r#"{"errors":[{"status":"403","title":"forbidden","detail":"Creation of organizations has been disabled for non-admins."}]}"#
    );
    assert_eq!(create(&world, &administrator, "after").status, 201);
    assert_eq!(create(&world, ROOT, "further").status, 201);
    let world = hosted();
    patch(&world, SETTINGS, &restricted);
    assert_eq!(
        create(&world, &world.user("anna", false), "after").status,
        201
    );
}
