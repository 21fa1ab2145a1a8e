//! The maximum lifetimes of tokens (contract 4.8).

use super::*;

const POLICIES: &str = "/api/v2/organizations/acme/token-ttl-policies";

fn hours(policies: &[(&str, i64)]) -> Value {
    let policies: Vec<_> = policies
        .iter()
        .map(|(kind, hours)| json!({"token-type": kind, "max-ttl-ms": hours * 3_600_000}))
        .collect();
    json!({"data": {
        "type": "organization-token-ttl-policies",
        "attributes": {"token-ttl-policies": policies},
    }})
}

/// Kinds and hours as they are listed.
fn listed(response: &Response) -> Vec<(String, i64)> {
    assert_eq!(response.status, 200, "{}", text(response));
    let found = body(response);
    let policies = found["data"].as_array().unwrap().iter();
    policies
        .map(|policy| {
            assert_eq!(policy["type"], "organization-token-ttl-policies");
            let attributes = &policy["attributes"];
            assert_eq!(
                keys(attributes),
                ["created-at", "max-ttl-ms", "token-type", "updated-at"]
            );
            let kind = attributes["token-type"].as_str().unwrap().to_owned();
            (kind, attributes["max-ttl-ms"].as_i64().unwrap() / 3_600_000)
        })
        .collect()
}

fn expected(policies: [(&str, i64); 4]) -> Vec<(String, i64)> {
    policies
        .map(|(kind, hours)| (kind.to_owned(), hours))
        .into()
}

const TWO_YEARS: i64 = 17_531;

#[test]
fn contract_4_8_policies_are_listed_and_set_in_both_forms() {
    let world = self_hosted();
    world.create_named("acme");
    let first = world.get(POLICIES);
    let all = |organization, team, user| {
        expected([
            ("organization", organization),
            ("team", team),
            ("user", user),
            ("audit_trails", TWO_YEARS),
        ])
    };
    assert_eq!(listed(&first), all(TWO_YEARS, TWO_YEARS, TWO_YEARS));
    let ids = |response: &Response| {
        let found = body(response);
        let policies = found["data"].as_array().unwrap().iter();
        policies.map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    let sent = hours(&[("team", 1), ("organization", 2)]);
    let set = world.send(Method::Patch, POLICIES, Some(&sent));
    assert_eq!(listed(&set), all(2, 1, TWO_YEARS));
    assert_eq!(ids(&set), ids(&first));
    let one = |kind: &str, hours: i64| {
        json!({"type": "organization-token-ttl-policies", "attributes": {
            "token_type": kind, "max_ttl_ms": hours * 3_600_000,
        }})
    };
    let sent = json!({"data": [one("team", 3), one("user", 4)]});
    let set = world.send(Method::Patch, POLICIES, Some(&sent));
    assert_eq!(listed(&set), all(2, 3, 4));
    let sent = json!({"data": one("team", 5)});
    let set = world.send(Method::Patch, POLICIES, Some(&sent));
    assert_eq!(listed(&set), all(2, 5, 4));
    assert_eq!(body(&world.get(POLICIES)), body(&set));
    let set = world.send(Method::Patch, POLICIES, Some(&hours(&[("metrics", 1)])));
    assert_eq!(listed(&set).len(), 5);
}

#[test]
fn contract_4_8_what_is_no_policy_is_told_and_changes_nothing() {
    let world = self_hosted();
    world.create_named("acme");
    let before = body(&world.get(POLICIES));
    let attributes = |attributes: Value| json!({"data": {"type": "x", "attributes": attributes}});
    for (sent, name, detail) in [
        (
            hours(&[("robot", 1)]),
            "token-type",
            "Token type is not included in the list",
        ),
        (
            hours(&[("team", 0)]),
            "max-ttl-ms",
            "Max ttl ms must be greater than 0",
        ),
        (
            hours(&[]),
            "token-ttl-policies",
            "Token ttl policies can't be blank",
        ),
        (
            attributes(json!({})),
            "token-ttl-policies",
            "Token ttl policies can't be blank",
        ),
        (
            attributes(json!({"token-ttl-policies": "team"})),
            "token-ttl-policies",
            "Token ttl policies must be a list of objects",
        ),
        (
            json!({"data": []}),
            "token-ttl-policies",
            "Token ttl policies can't be blank",
        ),
    ] {
        let refused = world.send(Method::Patch, POLICIES, Some(&sent));
        let fault = (format!("/data/attributes/{name}"), detail.to_owned());
        assert_eq!(faults(&refused), [fault], "{sent}");
    }
    assert_eq!(body(&world.get(POLICIES)), before);
}

#[test]
fn contract_4_8_a_policy_binds_while_the_organization_wants_it() {
    let world = self_hosted();
    world.create_named("acme");
    world.send(
        Method::Patch,
        POLICIES,
        Some(&hours(&[("organization", 1)])),
    );
    let far = json!({"expired-at": "2100-01-01T00:00:00Z"});
    world.issue(ACME_TOKEN, &far);
    world.update("acme", &json!({"max-ttl-enabled": true}));
    let refused = world.send(Method::Post, ACME_TOKEN, Some(&token_document(&far)));
    assert_eq!(
        faults(&refused),
        [(
            "/data/attributes/expired-at".to_owned(),
            "Expired at exceeds the maximum allowed lifetime".to_owned()
        )]
    );
    let usual = world.issue(ACME_TOKEN, &json!({}));
    let time = |name: &str| -> Timestamp {
        let text = usual["data"]["attributes"][name].as_str().unwrap();
        text.parse().unwrap()
    };
    assert_eq!(time("expired-at"), time("created-at") + 1.hours());
}

#[test]
fn contract_4_8_owners_set_policies_others_are_told_no_and_strangers_nothing() {
    let world = self_hosted();
    world.create_named("acme");
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    let sent = hours(&[("team", 1)]);
    for (method, sent) in [(Method::Get, None), (Method::Patch, Some(&sent))] {
        let refused = world.send_as(&own, method, POLICIES, sent);
        assert_eq!(refused.status, 403);
        assert_eq!(body(&refused)["errors"][0]["title"], "forbidden");
        let eve = world.token("nothing", &[]);
        assert_not_found(&world.send_as(&eve, method, POLICIES, sent));
        let none = POLICIES.replace("acme", "none");
        assert_not_found(&world.send(method, &none, sent));
    }
}
