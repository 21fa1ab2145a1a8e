//! Plans, subscriptions and feature sets (contract 2.4, 4.1, 4.2).

use super::*;

const ACME: &str = "/api/v2/organizations/acme";
const SUBSCRIPTION: &str = "/api/v2/organizations/acme/subscription";
const SET_TERMS: &str = "/api/v2/admin/organizations/acme/subscription";
const SEARCH: &str = "/api/v2/admin/feature-sets";

impl World {
    /// The id of the first feature set that a client finds.
    fn feature_set(&self, name: &str) -> String {
        let query: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let found = body(&self.get(&format!("{SEARCH}?q={query}")));
        found["data"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Gives an organization a plan in the way of a client's tests.
    fn set_terms(&self, name: &str, attributes: &Value) -> Response {
        let feature_set = json!({"data": {"id": self.feature_set(name), "type": "feature-sets"}});
        let sent = json!({"data": {
            "type": "subscription",
            "attributes": attributes,
            "relationships": {"feature-set": feature_set},
        }});
        self.send(Method::Post, SET_TERMS, Some(&sent))
    }
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["data"].as_array().unwrap().iter();
    items
        .map(|item| item["attributes"]["name"].as_str().unwrap())
        .collect()
}

#[test]
fn contract_4_2_the_subscription_of_a_new_organization_in_full() {
    let world = hosted();
    let created = world.create_named("acme");
    let response = world.get(SUBSCRIPTION);
    assert_eq!(response.status, 200);
    let shown = body(&response);
    let id = shown["data"]["id"].as_str().unwrap();
    assert!(id.starts_with("sub-") && id.len() == 20, "{id}");
    let feature_set = world.feature_set("Free");
    assert_eq!(
        shown,
        json!({
            "data": {
                "id": id,
                "type": "subscriptions",
                "attributes": {
                    "start-at": created["data"]["attributes"]["created-at"],
                    "end-at": null,
                    "is-active": true,
                    "runs-ceiling": null,
                    "agents-ceiling": null,
                    "contract-start-at": null,
                    "contract-user-limit": null,
                    "contract-apply-limit": null,
                    "contract-managed-resources-limit": null,
                    "hcp-organization-id": null,
                    "hcp-project-id": null,
                    "run-task-limit": 1,
                    "run-task-workspace-limit": 10,
                    "run-task-mandatory-enforcement-limit": 1,
                    "versioned-policy-set-limit": null,
                    "policy-set-limit": 1,
                    "policy-limit": 5,
                    "policy-mandatory-enforcement-limit": null,
                    "is-public-free-tier": true,
                    "is-self-serve-trial": false,
                    "is-change-approved": true,
                    "rum-alert-threshold": null,
                },
                "relationships": {
                    "organization": {"data": {"id": "acme", "type": "organizations"}},
                    "billing-account": {"data": null},
                    "feature-set": {"data": {"id": feature_set, "type": "feature-sets"}},
                },
                "links": {"self": format!("/api/v2/subscriptions/{id}")},
            },
            "included": [{
                "id": feature_set,
                "type": "feature-sets",
                "attributes": {
                    "identifier": "free",
                    "name": "Free",
                    "description": "Remote state, runs and a private registry",
                    "comparison-description": "For individuals and small teams",
                    "cost": 0,
                    "plan": null,
                    "is-current": true,
                    "is-free-tier": true,
                    "policy-limit": 5,
                    "policy-mandatory-enforcement-limit": null,
                    "policy-set-limit": 1,
                    "run-task-limit": 1,
                    "run-task-mandatory-enforcement-limit": 1,
                    "run-task-workspace-limit": 10,
                    "user-limit": 5,
                    "versioned-policy-set-limit": null,
                },
            }],
        })
    );
    let by_id = world.get(&format!("/api/v2/subscriptions/{id}"));
    assert_eq!(body(&by_id), shown);
    assert_eq!(
        created["data"]["relationships"]["subscription"]["data"],
        json!({"id": id, "type": "subscriptions"})
    );
}

#[test]
fn contract_4_2_an_administrator_brings_an_organization_onto_a_plan_at_once() {
    let world = hosted();
    world.create_named("acme");
    let owner = world.token(
        "owner",
        &[("organizations/acme", &["read", "update", "delete"])],
    );
    let seen = || {
        let shown = body(&world.send_as(&owner, Method::Get, ACME, None));
        let set = body(&world.get(&format!("{ACME}/entitlement-set")));
        let attributes = &shown["data"]["attributes"];
        (
            attributes["plan-identifier"].clone(),
            attributes["permissions"]["can-deploy-no-code-modules"].clone(),
            set["data"]["attributes"]["audit-logging"].clone(),
        )
    };
    assert_eq!(seen(), (json!("free"), json!(false), json!(false)));
    for (name, identifier) in [
        ("Standard (entitlement)", "standard"),
        ("Plus", "plus"),
        ("Business", "business"),
        ("Premium", "premium"),
    ] {
        let set = world.set_terms(
            name,
            &json!({
                "runs-ceiling": 10,
                "contract-start-at": "2026-01-31T12:34:56Z",
                "contract-user-limit": 1000,
                "contract_apply_limit": 5000,
            }),
        );
        assert_eq!(set.status, 200, "{}", text(&set));
        let set = body(&set);
        assert_eq!(set["included"][0]["attributes"]["name"], name);
        let attributes = &set["data"]["attributes"];
        assert_eq!(attributes["runs-ceiling"], 10);
        assert_eq!(attributes["contract-apply-limit"], 5000);
        assert_eq!(attributes["contract-start-at"], "2026-01-31T12:34:56.000Z");
        assert_eq!(attributes["is-public-free-tier"], false);
        assert_eq!(attributes["policy-limit"], Value::Null);
        assert_eq!(seen(), (json!(identifier), json!(true), json!(true)));
        assert_eq!(body(&world.get(SUBSCRIPTION)), set);
    }
    assert_eq!(world.set_terms("Free", &json!({})).status, 200);
    assert_eq!(seen(), (json!("free"), json!(false), json!(false)));
}

#[test]
fn contract_2_3_a_plan_that_has_ended_is_told_as_expired_and_is_not_in_force() {
    let world = hosted();
    world.create_named("acme");
    let told = |end_at: &str| {
        let set = world.set_terms("Premium", &json!({"end-at": end_at}));
        assert_eq!(set.status, 200, "{}", text(&set));
        let attributes = body(&world.get(ACME))["data"]["attributes"].clone();
        assert_eq!(attributes["plan-is-trial"], false);
        assert_eq!(attributes["trial-expires-at"], Value::Null);
        let subscription = body(&set)["data"]["attributes"].clone();
        assert_eq!(subscription["end-at"], attributes["plan-expires-at"]);
        (
            attributes["plan-expired"].clone(),
            attributes["plan-expires-at"].clone(),
            attributes["plan-identifier"].clone(),
            subscription["is-active"].clone(),
        )
    };
    assert_eq!(
        told("2020-01-01T00:00:00Z"),
        (
            json!(true),
            json!("2020-01-01T00:00:00.000Z"),
            json!("free"),
            json!(false)
        )
    );
    assert_eq!(
        told("2222-01-01T01:00:00+01:00"),
        (
            json!(false),
            json!("2222-01-01T00:00:00.000Z"),
            json!("premium"),
            json!(true)
        )
    );
}

#[test]
fn contract_4_2_what_is_wrong_with_the_terms_is_told_at_once() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let sent = json!({"data": {
        "attributes": {
            "runs-ceiling": -1, "agents-ceiling": "1", "end-at": "tomorrow", "contract-start-at": 5,
        },
        "relationships": {"feature-set": {"data": {"id": "fs-0", "type": "feature-sets"}}},
    }});
    let fault = |pointer: &str, detail: &str| (format!("/data/{pointer}"), detail.to_owned());
    assert_eq!(
        faults(&world.send(Method::Post, SET_TERMS, Some(&sent))),
        [
            fault(
                "attributes/runs-ceiling",
                "Runs ceiling must be greater than or equal to 0"
            ),
            fault(
                "attributes/agents-ceiling",
                "Agents ceiling is not a number"
            ),
            fault(
                "attributes/contract-start-at",
                "Contract start at is not a valid timestamp"
            ),
            fault("attributes/end-at", "End at is not a valid timestamp"),
            fault(
                "relationships/feature-set",
                "Feature set is not included in the list"
            ),
        ]
    );
    let none = world.send(Method::Post, SET_TERMS, Some(&json!({"data": {}})));
    assert_eq!(
        faults(&none),
        [fault(
            "relationships/feature-set",
            "Feature set can't be blank"
        )]
    );
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_2_owners_change_the_threshold_and_nothing_else() {
    let world = hosted();
    world.create_named("acme");
    let owner = world.token("owner", &[("organizations/acme", &["update"])]);
    let reader = world.token("reader", &[("organizations/acme", &["read"])]);
    let change = json!({"data": {"type": "subscriptions", "attributes": {
        "rum-alert-threshold": 80, "runs-ceiling": 99, "is-active": false,
    }}});
    let changed = world.send_as(&owner, Method::Patch, SUBSCRIPTION, Some(&change));
    assert_eq!(changed.status, 200, "{}", text(&changed));
    let changed = body(&changed);
    assert_eq!(changed["data"]["attributes"]["rum-alert-threshold"], 80);
    assert_eq!(changed["data"]["attributes"]["runs-ceiling"], Value::Null);
    assert_eq!(changed["data"]["attributes"]["is-active"], true);
    assert_eq!(changed["included"][0]["attributes"]["name"], "Free");
    let before = world.store.values();
    assert_not_found(&world.send_as(&reader, Method::Patch, SUBSCRIPTION, Some(&change)));
    let wrong = json!({"data": {"attributes": {"rum_alert_threshold": "80"}}});
    let refused = world.send_as(&owner, Method::Patch, SUBSCRIPTION, Some(&wrong));
    assert_eq!(
        faults(&refused),
        [(
            "/data/attributes/rum-alert-threshold".to_owned(),
            "Rum alert threshold is not a number".to_owned()
        )]
    );
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_2_feature_sets_are_listed_in_whole_unless_pages_are_asked_for() {
    let world = hosted();
    world.create_named("acme");
    let stranger = world.token("nothing", &[("secret/x", &["read"])]);
    for (list, token) in [
        ("/api/v2/feature-sets", stranger.as_str()),
        ("/api/v2/organizations/acme/feature-sets", ROOT),
    ] {
        let whole = body(&world.send_as(token, Method::Get, list, None));
        assert_eq!(
            names(&whole),
            [
                "Free",
                "Standard (entitlement)",
                "Plus",
                "Business",
                "Premium"
            ]
        );
        assert_eq!((whole.get("links"), whole.get("meta")), (None, None));
        let page = format!("{list}?page[number]=2&page[size]=2");
        let page = body(&world.send_as(token, Method::Get, &page, None));
        assert_eq!(names(&page), ["Plus", "Business"]);
        assert_eq!(page["meta"]["pagination"]["total-pages"], 3);
    }
    assert_not_found(&world.send_as(
        &stranger,
        Method::Get,
        "/api/v2/organizations/acme/feature-sets",
        None,
    ));
}

#[test]
fn contract_4_2_administrators_search_feature_sets_by_name_in_both_editions() {
    for world in [hosted(), self_hosted()] {
        let found = |query: &str| body(&world.get(&format!("{SEARCH}{query}")));
        for name in ["Business", "Free", "Premium", "Plus"] {
            assert_eq!(names(&found(&format!("?q={name}"))), [name]);
        }
        let standard = found("?q=standard+%28entitlement%29");
        assert_eq!(names(&standard), ["Standard (entitlement)"]);
        assert_eq!(standard["meta"]["pagination"]["total-count"], 1);
        assert_eq!(names(&found("")).len(), 5);
        assert_eq!(found("")["meta"]["pagination"]["total-pages"], 1);
        assert_eq!(found("?q=enterprise")["data"], json!([]));
        let everything = world.token("all", &[("*", &["create", "read", "update", "delete"])]);
        let user = world.user("ada", false);
        for token in [&everything, &user] {
            assert_not_found(&world.send_as(token, Method::Get, SEARCH, None));
        }
    }
}

#[test]
fn contract_4_2_the_self_hosted_edition_keeps_its_plan_and_shows_no_subscription() {
    let world = self_hosted();
    world.create_named("acme");
    let before = body(&world.get(ACME));
    let set = world.set_terms("Business", &json!({"end-at": "2020-01-01T00:00:00Z"}));
    assert_eq!(set.status, 200, "{}", text(&set));
    let id = body(&set)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(body(&world.get(ACME)), before);
    assert_eq!(
        before["data"]["attributes"]["plan-identifier"],
        "enterprise"
    );
    assert_eq!(before["data"]["attributes"]["plan-expired"], false);
    let included = body(&world.get(&format!("{ACME}?include=subscription")));
    assert_eq!(included["included"], json!([]));
    for absent in [
        SUBSCRIPTION.to_owned(),
        format!("/api/v2/subscriptions/{id}"),
        "/api/v2/feature-sets".to_owned(),
        format!("{ACME}/feature-sets"),
    ] {
        assert_not_found(&world.get(&absent));
        let nobody = request(Method::Get, &absent, None);
        assert_eq!(world.handle(&nobody).status, 401, "{absent}");
    }
    let change = json!({"data": {"attributes": {"rum-alert-threshold": 80}}});
    assert_not_found(&world.send(Method::Patch, SUBSCRIPTION, Some(&change)));
    // The body is not read for a path that does not exist.
    let unknown_type = request(Method::Patch, SUBSCRIPTION, Some(ROOT));
    let unknown_type = with_body(unknown_type, Some("text/plain"), change.to_string());
    assert_not_found(&world.handle(&unknown_type));
}

#[test]
fn contract_2_6_a_subscription_is_included_with_its_feature_set_once() {
    let world = hosted();
    for name in ["acme", "globex", "initech"] {
        world.create_named(name);
    }
    assert_eq!(world.set_terms("Premium", &json!({})).status, 200);
    let kinds = |document: &Value| -> Vec<String> {
        let included = document["included"].as_array().unwrap().iter();
        included
            .map(|resource| {
                let of = &resource["relationships"]["organization"]["data"]["id"];
                let name = of.as_str().or(resource["attributes"]["name"].as_str());
                format!(
                    "{} {}",
                    resource["type"].as_str().unwrap(),
                    name.unwrap_or_default()
                )
            })
            .collect()
    };
    let shown = body(&world.get(&format!("{ACME}?include=subscription")));
    assert_eq!(
        kinds(&shown),
        ["subscriptions acme", "feature-sets Premium"]
    );
    let separately = body(&world.get(SUBSCRIPTION));
    assert_eq!(shown["included"][0], separately["data"]);
    assert_eq!(shown["included"][1], separately["included"][0]);
    let listed = body(&world.get("/api/v2/organizations?include=entitlement_set,subscription"));
    assert_eq!(
        kinds(&listed),
        [
            "entitlement-sets ",
            "subscriptions acme",
            "entitlement-sets ",
            "subscriptions globex",
            "entitlement-sets ",
            "subscriptions initech",
            "feature-sets Premium",
            "feature-sets Free",
        ]
    );
    assert_eq!(
        listed["data"][0],
        body(&world.get(ACME))["data"],
        "what is included changes nothing"
    );
}

#[test]
fn a6_subscriptions_of_others_are_as_those_that_are_not_there() {
    let world = hosted();
    world.create_named("acme");
    let shown = body(&world.get(SUBSCRIPTION));
    let id = shown["data"]["id"].as_str().unwrap();
    let outsider = world.user("ada", false);
    let terms = json!({"data": {}});
    for (method, target, sent) in [
        (Method::Get, SUBSCRIPTION.to_owned(), None),
        (Method::Patch, SUBSCRIPTION.to_owned(), Some(&terms)),
        (Method::Get, format!("/api/v2/subscriptions/{id}"), None),
        (Method::Post, SET_TERMS.to_owned(), Some(&terms)),
        (Method::Get, format!("{ACME}/feature-sets"), None),
    ] {
        assert_not_found(&world.send_as(&outsider, method, &target, sent));
        let absent = target.replace("acme", "none");
        let absent = absent.replace(id, "sub-0123456789abcdef");
        assert_not_found(&world.send_as(&outsider, method, &absent, sent));
        assert_not_found(&world.send(method, &absent, sent));
    }
}

#[test]
fn an_identifier_of_something_else_is_no_subscription() {
    let world = hosted();
    let created = world.create_named("acme");
    let external_id = created["data"]["attributes"]["external-id"].as_str();
    let project = created["data"]["relationships"]["default-project"]["data"]["id"].as_str();
    for id in [external_id.unwrap(), project.unwrap()] {
        assert_not_found(&world.get(&format!("/api/v2/subscriptions/{id}")));
    }
    assert_not_found(&world.get(&format!("/api/v2/entitlement-sets/{}", project.unwrap())));
}
