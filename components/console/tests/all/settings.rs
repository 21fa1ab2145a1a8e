//! The settings of an organization: its default agent pools, which the API takes as relationships.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::changes::{changes, replaced, sent_one};

const PLACE: &str = "/ui/organizations/show?name=acme";
const PATH: &str = "/api/v2/organizations/acme";
/// The form as shown for [`acme`].
const FORM: &[(&str, &str)] = &[
    ("name", "acme"),
    ("owners-team-saml-role-id", ""),
    ("default-execution-mode", "agent"),
    ("default-agent-pool", "workers"),
    ("stacks-default-execution-mode", "remote"),
    ("stacks-default-agent-pool", ""),
];

fn acme() -> Value {
    json!({ "data": {
        "attributes": { "name": "acme", "owners-team-saml-role-id": null, "stacks-enabled": false, "recoverable-items-enabled": false,
            "default-execution-mode": "agent", "stacks-default-execution-mode": "remote", "enforce-hyok": false },
        "relationships": { "default-agent-pool": { "data": { "id": "apool-1", "type": "agent-pools" } },
            "stacks-default-agent-pool": { "data": null } },
    } })
}

fn visitor() -> Browser {
    let browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("GET", PATH, 200, acme());
    let pool = |id: &str, name: &str| json!({ "id": id, "attributes": { "name": name } });
    let one = json!({ "data": pool("apool-1", "workers") });
    api.answers("GET", "/api/v2/agent-pools/apool-1", 200, one);
    // A search also finds names that only contain the text.
    let found = json!({ "data": [pool("apool-3", "more-spare"), pool("apool-2", "spare")] });
    let search = format!("{PATH}/agent-pools?q=spare&");
    api.answers("GET", &search, 200, found);
    let none = json!({ "data": [] });
    api.answers("GET", &format!("{PATH}/agent-pools?q=apool-9&"), 200, none);
    api.answers("PATCH", PATH, 200, json!({}));
    browser
}

/// Sends the form with the values in `fields`.
fn with(browser: &mut Browser, fields: &[(&str, &str)]) -> (Shown, Value) {
    let (shown, (_, _, body)) = sent_one(browser, PLACE, &replaced(FORM, fields));
    (shown, body)
}

#[test]
fn a_default_pool_is_shown_by_its_name_and_by_its_identifier_where_it_cannot_be_read() {
    let mut browser = visitor();
    let field =
        |value: &str| format!("name=\"default-agent-pool\" type=\"text\" value=\"{value}\"");
    let shown = browser.get(PLACE).text;
    for said in [
        field("workers").as_str(),
        "name=\"stacks-default-agent-pool\" type=\"text\" value=\"\"",
        "name=\"owners-team-saml-role-id\" type=\"text\" value=\"\"",
        "name=\"stacks-enabled\"",
        "name=\"recoverable-items-enabled\"",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let hidden = json!({ "errors": [] });
    let path = "/api/v2/agent-pools/apool-1";
    browser.api.answers("GET", path, 404, hidden);
    let shown = browser.get(PLACE).text;
    assert!(shown.contains(&field("apool-1")), "{shown}");
}

#[test]
fn pools_that_are_left_as_they_are_are_not_sent() {
    let (_, body) = with(&mut visitor(), &[]);
    assert_eq!(
        body,
        json!({ "data": { "type": "organizations", "attributes": {} } })
    );
    // The API removes the pool together with the mode that needs it.
    let (_, body) = with(&mut visitor(), &[("default-execution-mode", "local")]);
    let data = &body["data"];
    assert_eq!(
        data["attributes"],
        json!({ "default-execution-mode": "local" })
    );
    assert_eq!(data.get("relationships"), None);
}

#[test]
fn a_default_pool_is_chosen_by_its_name_or_its_identifier() {
    for (typed, id) in [("spare", "apool-2"), ("apool-9", "apool-9")] {
        for name in ["default-agent-pool", "stacks-default-agent-pool"] {
            let (shown, body) = with(&mut visitor(), &[(name, typed)]);
            assert_eq!(shown.status, 303, "{}", shown.text);
            let data = &body["data"];
            assert_eq!(data["attributes"], json!({}));
            let pool = json!({ "data": { "type": "agent-pools", "id": id } });
            assert_eq!(data["relationships"], json!({ name: pool }));
        }
    }
}

#[test]
fn the_name_of_a_default_pool_may_be_typed_in_any_case() {
    let mut browser = visitor();
    let found = json!({ "data": [{ "id": "apool-2", "attributes": { "name": "spare" } }] });
    let search = format!("{PATH}/agent-pools?q=SPARE&");
    browser.api.answers("GET", &search, 200, found);
    let (_, body) = with(&mut browser, &[("default-agent-pool", "SPARE")]);
    let pool = &body["data"]["relationships"]["default-agent-pool"];
    assert_eq!(pool["data"]["id"], "apool-2");
}

#[test]
fn a_pool_that_could_not_be_looked_up_changes_nothing_and_the_reason_is_told() {
    let many = json!({ "data": [{ "id": "apool-3", "attributes": { "name": "more-spare" } }],
        "meta": { "pagination": { "next-page": 2 } } });
    let busy = json!({ "errors": [{ "title": "too many requests" }] });
    for (status, answer, said) in [
        (429, busy, "Too many requests"),
        (200, many, "type the identifier of the pool"),
    ] {
        let mut browser = visitor();
        let search = format!("{PATH}/agent-pools?q=spare&");
        browser.api.answers("GET", &search, status, answer);
        let fields = replaced(FORM, &[("stacks-default-agent-pool", "spare")]);
        let shown = browser.submit(PLACE, &fields);
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
        assert!(changes(&browser).is_empty());
    }
}

#[test]
fn an_emptied_default_pool_is_taken_away() {
    let (_, body) = with(&mut visitor(), &[("default-agent-pool", "")]);
    assert_eq!(
        body["data"]["relationships"],
        json!({ "default-agent-pool": { "data": null } })
    );
}

#[test]
fn a_refused_pool_stays_as_it_was_typed() {
    let mut browser = visitor();
    let refusal = json!({ "errors": [{ "title": "invalid attribute", "detail": "Default agent pool is invalid" }] });
    browser.api.answers("PATCH", PATH, 422, refusal);
    let (shown, _) = with(&mut browser, &[("default-agent-pool", "apool-9")]);
    assert_eq!(shown.status, 422);
    for said in [
        "Default agent pool is invalid",
        "name=\"default-agent-pool\" type=\"text\" value=\"apool-9\"",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn every_setting_is_explained_and_none_is_offered_that_the_api_refuses() {
    let mut browser = visitor();
    let names = [
        "email",
        "session-timeout",
        "session-remember",
        "collaborator-auth-policy",
        "cost-estimation-enabled",
        "send-passing-statuses-for-untriggered-speculative-plans",
        "aggregated-commit-status-enabled",
        "speculative-plan-management-enabled",
        "assessments-enforced",
        "allow-force-delete-workspaces",
        "stacks-enabled",
        "user-tokens-enabled",
        "max-ttl-enabled",
        "recoverable-items-enabled",
    ];
    let mut organization = acme();
    for name in names {
        organization["data"]["attributes"][name] = json!(null);
    }
    browser.api.answers("GET", PATH, 200, organization);
    let shown = browser.get(PLACE).text;
    for name in names.iter().chain(FORM.iter().map(|(name, _)| name)) {
        for part in [format!(" name=\"{name}\""), format!(" id=\"{name}-help\"")] {
            assert!(shown.contains(&part), "{part}: {shown}");
        }
    }
    assert!(!shown.contains("name=\"enforce-hyok\""), "{shown}");
}
