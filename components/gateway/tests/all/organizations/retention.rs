//! Data retention policies, row by row (contract 4.5).

use super::*;

const POLICY: &str = "/api/v2/organizations/acme/relationships/data-retention-policy";
const DEFAULT: &str = "/api/v2/admin/data-retention-policy-settings";
const DELETE_OLDERS: &str = "data-retention-policy-delete-olders";
const DONT_DELETES: &str = "data-retention-policy-dont-deletes";
const LEGACY: &str = "data-retention-policies";

fn policy(kind: &str, attributes: &Value) -> Value {
    json!({"data": {"type": kind, "attributes": attributes}})
}

fn set(world: &World, target: &str, method: Method, kind: &str, attributes: &Value) -> Value {
    let response = world.send(method, target, Some(&policy(kind, attributes)));
    assert_eq!(response.status, 200, "{}", text(&response));
    body(&response)["data"].clone()
}

fn acme() -> World {
    let world = self_hosted();
    world.create_named("acme");
    world
}

/// The organization's relationship to its policy.
fn relationship(world: &World) -> Value {
    let shown = body(&world.get("/api/v2/organizations/acme"));
    shown["data"]["relationships"]["data-retention-policy"]["data"].clone()
}

fn parent_info(world: &World) -> Value {
    let shown = body(&world.get("/api/v2/organizations/acme"));
    shown["data"]["attributes"]["parent-data-retention-policy-info"].clone()
}

#[test]
fn contract_4_5_without_a_policy_the_default_is_shown() {
    let world = acme();
    assert_eq!(relationship(&world), Value::Null);
    assert_eq!(parent_info(&world), "Do not auto-delete");
    let expected = json!({"data": {
        "id": "drp-0000000000000000",
        "type": DONT_DELETES,
        "attributes": {},
        "relationships": {"target": {"data": null}},
    }});
    assert_eq!(body(&world.get(POLICY)), expected);
    assert_eq!(body(&world.get(DEFAULT)), expected);
}

#[test]
fn contract_4_5_a_policy_that_deletes_has_its_days_in_both_spellings() {
    for (method, spelling) in [
        (Method::Post, "delete-older-than-n-days"),
        (Method::Patch, "delete_older_than_n_days"),
        (Method::Post, "deleteOlderThanNDays"),
    ] {
        let world = acme();
        let made = set(
            &world,
            POLICY,
            method,
            DELETE_OLDERS,
            &json!({spelling: 30}),
        );
        let id = made["id"].as_str().unwrap();
        assert!(id.starts_with("drp-") && id.len() == 20, "{id}");
        let expected = json!({
            "id": id,
            "type": DELETE_OLDERS,
            "attributes": {"delete-older-than-n-days": 30, "deleteOlderThanNDays": 30},
            "relationships": {"target": {"data": {"id": "acme", "type": "organizations"}}},
        });
        assert_eq!(made, expected);
        assert_eq!(body(&world.get(POLICY))["data"], expected);
        assert_eq!(
            relationship(&world),
            json!({"id": id, "type": DELETE_OLDERS})
        );
    }
}

#[test]
fn contract_4_5_a_policy_that_keeps_needs_no_attributes() {
    for document in [
        json!({"data": {"type": DONT_DELETES}}),
        json!({"data": {"type": DONT_DELETES, "attributes": {}}}),
        json!({"data": {"type": DONT_DELETES, "attributes": {"delete-older-than-n-days": "x"}}}),
    ] {
        let world = acme();
        let made = world.send(Method::Post, POLICY, Some(&document));
        assert_eq!(made.status, 200, "{}", text(&made));
        let made = &body(&made)["data"];
        assert_eq!(made["attributes"], json!({}));
        let expected = json!({"id": made["id"], "type": DONT_DELETES});
        assert_eq!(relationship(&world), expected);
    }
}

#[test]
fn contract_4_5_the_same_type_keeps_its_id_and_another_type_gets_another() {
    let world = acme();
    let days = |days: u32| json!({"delete-older-than-n-days": days, "deleteStateVersions": true});
    let first = set(&world, POLICY, Method::Post, DELETE_OLDERS, &days(30));
    let bare = json!({"delete-older-than-n-days": 60});
    let second = set(&world, POLICY, Method::Patch, DELETE_OLDERS, &bare);
    assert_eq!(first["id"], second["id"]);
    let expected = json!({"delete-older-than-n-days": 60, "deleteOlderThanNDays": 60});
    assert_eq!(second["attributes"], expected);
    let other = set(&world, POLICY, Method::Post, DONT_DELETES, &json!({}));
    assert_ne!(other["id"], first["id"]);
    let again = set(&world, POLICY, Method::Post, DELETE_OLDERS, &days(30));
    assert_ne!(again["id"], first["id"]);
    assert_ne!(again["id"], other["id"]);
}

#[test]
fn contract_4_5_the_legacy_type_is_answered_once_and_stored_as_the_modern_one() {
    let world = acme();
    let legacy = set(
        &world,
        POLICY,
        Method::Post,
        LEGACY,
        &json!({"delete-older-than-n-days": 9}),
    );
    assert_eq!(legacy["type"], LEGACY);
    assert_eq!(legacy["attributes"]["delete-older-than-n-days"], 9);
    let shown = &body(&world.get(POLICY))["data"];
    assert_eq!(shown["type"], DELETE_OLDERS);
    assert_eq!(shown["id"], legacy["id"]);
    let modern = json!({"deleteOlderThanNDays": 10});
    let modern = set(&world, POLICY, Method::Patch, DELETE_OLDERS, &modern);
    assert_eq!(modern["id"], legacy["id"]);
}

#[test]
fn contract_4_5_the_newer_attributes_are_echoed_as_given() {
    let world = acme();
    let newer = json!({
        "deleteStateVersions": true,
        "deleteConfigurationVersions": false,
        "deleteRunDataAndLogs": true,
        "stateVersionsDeleteAfterNDays": 1,
        "configurationVersionsDeleteAfterNDays": 2,
        "runDataAndLogsDeleteAfterNDays": 3,
        "stateVersionsKeepLatestCount": 4,
        "configurationVersionsKeepLatestCount": 5,
        "runDataAndLogsKeepLatestCount": 0,
    });
    let made = set(&world, POLICY, Method::Post, DONT_DELETES, &newer);
    assert_eq!(made["attributes"], newer);
    assert_eq!(body(&world.get(POLICY))["data"], made);
    let refused = policy(
        DONT_DELETES,
        &json!({"deleteStateVersions": 1, "stateVersionsKeepLatestCount": "2"}),
    );
    let refused = world.send(Method::Post, POLICY, Some(&refused));
    let expected = [
        (
            "delete-state-versions",
            "Delete state versions must be true or false",
        ),
        (
            "state-versions-keep-latest-count",
            "State versions keep latest count is not a number",
        ),
    ]
    .map(|(name, text)| (format!("/data/attributes/{name}"), text.to_owned()));
    assert_eq!(faults(&refused), expected);
    assert_eq!(body(&world.get(POLICY))["data"], made);
}

#[test]
fn contract_4_5_unknown_and_missing_types_are_refused() {
    let world = acme();
    let before = world.store.values();
    for target in [POLICY, DEFAULT] {
        for document in [
            json!({"data": {"type": "organizations", "attributes": {"deleteOlderThanNDays": 3}}}),
            json!({"data": {"attributes": {"deleteOlderThanNDays": 3}}}),
            json!({"data": {"type": ""}}),
        ] {
            let refused = world.send(Method::Post, target, Some(&document));
            assert_eq!(faults(&refused)[0].0, "/data/type");
            assert_eq!(body(&refused)["errors"][0]["title"], "unprocessable entity");
        }
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_5_days_below_one_are_refused_however_they_are_wrong() {
    let world = acme();
    let before = world.store.values();
    let text = "Delete older than n days must be greater than 0";
    let expected = [(
        "/data/attributes/delete-older-than-n-days".to_owned(),
        text.to_owned(),
    )];
    for target in [POLICY, DEFAULT] {
        for kind in [DELETE_OLDERS, LEGACY] {
            for odd in [
                json!(0),
                json!(-1),
                json!(1.5),
                json!("30"),
                json!(null),
                json!(true),
            ] {
                let odd = policy(kind, &json!({"delete-older-than-n-days": odd}));
                assert_eq!(
                    faults(&world.send(Method::Post, target, Some(&odd))),
                    expected
                );
            }
            let missing = policy(kind, &json!({}));
            assert_eq!(
                faults(&world.send(Method::Patch, target, Some(&missing))),
                expected
            );
        }
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_5_taking_a_policy_away_is_always_possible() {
    let world = acme();
    assert_eq!(world.send(Method::Delete, POLICY, None).status, 204);
    set(
        &world,
        POLICY,
        Method::Post,
        DELETE_OLDERS,
        &json!({"deleteOlderThanNDays": 5}),
    );
    assert_eq!(world.send(Method::Delete, POLICY, None).status, 204);
    assert_eq!(relationship(&world), Value::Null);
    assert_eq!(body(&world.get(POLICY))["data"]["type"], DONT_DELETES);
    let null = with_body(
        request(Method::Delete, POLICY, Some(ROOT)),
        Some(JSON_API),
        "null",
    );
    assert_eq!(world.handle(&null).status, 204);
}

#[test]
fn contract_4_5_the_installation_has_a_default_that_organizations_inherit() {
    let world = acme();
    let days = |days: u32| json!({"deleteOlderThanNDays": days});
    let made = set(&world, DEFAULT, Method::Post, DELETE_OLDERS, &days(1));
    assert_eq!(made["relationships"]["target"]["data"], Value::Null);
    assert_ne!(made["id"], "drp-0000000000000000");
    assert_eq!(body(&world.get(DEFAULT))["data"], made);
    assert_eq!(body(&world.get(POLICY))["data"], made);
    assert_eq!(relationship(&world), Value::Null);
    assert_eq!(parent_info(&world), "Auto-delete data older than 1 day");
    let changed = set(&world, DEFAULT, Method::Patch, LEGACY, &days(90));
    assert_eq!(changed["id"], made["id"]);
    assert_eq!(changed["type"], LEGACY);
    assert_eq!(parent_info(&world), "Auto-delete data older than 90 days");
    let listed = body(&world.get("/api/v2/organizations"));
    let info = &listed["data"][0]["attributes"]["parent-data-retention-policy-info"];
    assert_eq!(info, "Auto-delete data older than 90 days");
    let own = set(&world, POLICY, Method::Post, DELETE_OLDERS, &days(7));
    assert_eq!(body(&world.get(POLICY))["data"], own);
    assert_eq!(world.send(Method::Delete, DEFAULT, None).status, 204);
    assert_eq!(world.send(Method::Delete, DEFAULT, None).status, 204);
    assert_eq!(parent_info(&world), "Do not auto-delete");
    assert_eq!(body(&world.get(DEFAULT))["data"]["type"], DONT_DELETES);
    assert_eq!(body(&world.get(POLICY))["data"], own);
}

#[test]
fn contract_4_5_a_policy_stays_through_a_rename_and_ends_with_its_organization() {
    let world = acme();
    let made = set(
        &world,
        POLICY,
        Method::Post,
        DELETE_OLDERS,
        &json!({"deleteOlderThanNDays": 7}),
    );
    world.update("acme", &json!({"name": "umbrella"}));
    assert_not_found(&world.get(POLICY));
    let renamed = "/api/v2/organizations/umbrella/relationships/data-retention-policy";
    let shown = body(&world.get(renamed))["data"].clone();
    assert_eq!(shown["id"], made["id"]);
    assert_eq!(shown["relationships"]["target"]["data"]["id"], "umbrella");
    world.send(Method::Delete, "/api/v2/organizations/umbrella", None);
    world.create_named("umbrella");
    assert_eq!(body(&world.get(renamed))["data"]["type"], DONT_DELETES);
}

#[test]
fn contract_1_7_who_may_see_and_who_may_set_a_policy() {
    let world = acme();
    let own: &[&str] = &["create", "read", "update", "delete"];
    let all = "organizations/acme/relationships/data-retention-policy";
    let reader = world.token("reader", &[(all, &["read"])]);
    let writer = world.token("writer", &[(all, own)]);
    let other = world.token("other", &[("organizations/acme", own)]);
    let stranger = world.user("anna", false);
    let days = policy(DELETE_OLDERS, &json!({"deleteOlderThanNDays": 7}));
    assert_eq!(
        world.send_as(&reader, Method::Get, POLICY, None).status,
        200
    );
    // The first use of a token is recorded in the store.
    assert_not_found(&world.send_as(&stranger, Method::Get, POLICY, None));
    let before = world.store.values();
    for token in [&reader, &other, &stranger] {
        assert_not_found(&world.send_as(token, Method::Post, POLICY, Some(&days)));
        assert_not_found(&world.send_as(token, Method::Delete, POLICY, None));
    }
    for token in [&other, &stranger] {
        assert_not_found(&world.send_as(token, Method::Get, POLICY, None));
    }
    assert_eq!(world.store.values(), before);
    assert_eq!(
        world
            .send_as(&writer, Method::Post, POLICY, Some(&days))
            .status,
        200
    );
    assert_eq!(
        world.send_as(&writer, Method::Delete, POLICY, None).status,
        204
    );
    assert_not_found(&world.get("/api/v2/organizations/none/relationships/data-retention-policy"));
}

#[test]
fn contract_4_5_the_hosted_edition_has_no_policies() {
    let world = hosted();
    world.create_named("acme");
    let days = policy(DELETE_OLDERS, &json!({"deleteOlderThanNDays": 7}));
    for target in [POLICY, DEFAULT] {
        assert_not_found(&world.get(target));
        assert_not_found(&world.send(Method::Post, target, Some(&days)));
        assert_not_found(&world.send(Method::Delete, target, None));
        let nobody = world.handle(&request(Method::Get, target, None));
        assert_eq!(nobody.status, 401);
    }
    let shown = body(&world.get("/api/v2/organizations/acme"));
    assert_eq!(
        shown["data"]["relationships"].get("data-retention-policy"),
        None
    );
}
