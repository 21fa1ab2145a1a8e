//! `organization_token_ttl_policy_integration_test.go` (contract 6.5, 4.8).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::documents::resource;
use crate::fixtures::Organization;
use crate::session::{Reply, Session};

scenarios! {
    both:
        test_organization_token_ttl_policies_list_with_valid_organization,
        test_organization_token_ttl_policies_update_single_policy,
        test_organization_token_ttl_policies_update_multiple_policies,
        test_organization_token_ttl_policies_update_all_token_types,
        test_organization_token_ttl_policies_update_with_various_ttl_values_in_milliseconds,
        test_organization_token_ttl_policies_update_round_trip;
}

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const THIRTY_DAYS: u64 = 30 * DAY;
const SIX_MONTHS: u64 = 15_768_000_000;
const YEAR: u64 = 365 * DAY;
const TWO_YEARS: u64 = 2 * YEAR;
/// What applies unless somebody said otherwise: two years of 365.24 days.
const DEFAULT: u64 = 63_113_904_000;
const TYPES: [&str; 4] = ["audit_trails", "organization", "team", "user"];

/// The longest lifetimes by type of token, in milliseconds. There are always four, each with an id.
#[track_caller]
fn lifetimes(reply: &Reply) -> BTreeMap<String, u64> {
    let items = reply.items();
    assert_eq!(items.len(), 4, "{}", reply.body);
    let lifetime = |item: &Value| {
        assert_eq!(item["type"], "organization-token-ttl-policies");
        assert!(
            item["id"].as_str().is_some_and(|id| !id.is_empty()),
            "{item}"
        );
        let attributes = &item["attributes"];
        let kind = attributes["token-type"].as_str().unwrap().to_owned();
        (kind, attributes["max-ttl-ms"].as_u64().unwrap())
    };
    let lifetimes: BTreeMap<_, _> = items.iter().map(lifetime).collect();
    assert!(lifetimes.keys().eq(TYPES.iter()), "{lifetimes:?}");
    lifetimes
}

fn list(organization: &Organization<'_>) -> BTreeMap<String, u64> {
    let path = organization.path("token-ttl-policies");
    lifetimes(&organization.session().get(&path).expect(200))
}

/// Changes some of the policies; all of them as they are then.
fn update(organization: &Organization<'_>, changes: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let policies: Vec<Value> = changes
        .iter()
        .map(|(kind, lifetime)| json!({"token-type": kind, "max-ttl-ms": lifetime}))
        .collect();
    let attributes = json!({"token-ttl-policies": policies});
    let body = resource("organization-token-ttl-policies", attributes);
    let path = organization.path("token-ttl-policies");
    let updated = lifetimes(&organization.session().patch(&path, &body).expect(200));
    for (kind, lifetime) in changes {
        assert_eq!(updated[*kind], *lifetime, "{kind}");
    }
    updated
}

/// An organization whose policies were set to their defaults.
fn prepared<'a>(session: &Session<'a>) -> Organization<'a> {
    let organization = Organization::new(session);
    update(&organization, &TYPES.map(|kind| (kind, DEFAULT)));
    organization
}

fn test_organization_token_ttl_policies_list_with_valid_organization(session: &Session<'_>) {
    let organization = Organization::new(session);
    assert!(
        list(&organization)
            .values()
            .all(|lifetime| *lifetime == DEFAULT)
    );
}

fn test_organization_token_ttl_policies_update_single_policy(session: &Session<'_>) {
    let organization = prepared(session);
    let updated = update(&organization, &[("organization", DAY)]);
    assert_eq!(updated["team"], DEFAULT);
}

fn test_organization_token_ttl_policies_update_multiple_policies(session: &Session<'_>) {
    let organization = prepared(session);
    let changes = [
        ("organization", YEAR),
        ("team", SIX_MONTHS),
        ("user", THIRTY_DAYS),
    ];
    let updated = update(&organization, &changes);
    assert_eq!(updated["audit_trails"], DEFAULT);
}

const ALL: [(&str, u64); 4] = [
    ("organization", YEAR),
    ("team", SIX_MONTHS),
    ("user", THIRTY_DAYS),
    ("audit_trails", SIX_MONTHS),
];

fn test_organization_token_ttl_policies_update_all_token_types(session: &Session<'_>) {
    update(&prepared(session), &ALL);
}

fn test_organization_token_ttl_policies_update_with_various_ttl_values_in_milliseconds(
    session: &Session<'_>,
) {
    let organization = prepared(session);
    for lifetime in [
        HOUR,
        12 * HOUR,
        DAY,
        7 * DAY,
        THIRTY_DAYS,
        SIX_MONTHS,
        YEAR,
        TWO_YEARS,
    ] {
        update(&organization, &[("organization", lifetime)]);
    }
}

fn test_organization_token_ttl_policies_update_round_trip(session: &Session<'_>) {
    let organization = Organization::new(session);
    let updated = update(&organization, &ALL);
    assert_eq!(list(&organization), updated);
    let updated = update(&organization, &[("organization", TWO_YEARS)]);
    assert_eq!(list(&organization), updated);
}
