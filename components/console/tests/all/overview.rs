//! The overview: what there is, as far as the visitor may see it, by a bounded number of calls.

use serde_json::{Value, json};

use crate::browser::Browser;

/// The start of the tests' clock.
const NOW: u64 = 1_800_000_000;
const DAY: u64 = 24 * 60 * 60;

fn metrics(gauges: &[(&str, u64)]) -> Value {
    let gauges: Vec<Value> = gauges
        .iter()
        .map(|(name, value)| json!({ "Name": name, "Value": *value as f64, "Labels": {} }))
        .collect();
    json!({ "Gauges": gauges, "Counters": [] })
}

fn mounts(number: usize) -> Value {
    let mounts = (0..number).map(|number| (format!("gcp-{number:02}/"), json!({ "type": "gcp" })));
    let token = ("token/".to_owned(), json!({ "type": "token" }));
    json!({ "data": mounts.chain([token]).collect::<serde_json::Map<_, _>>() })
}

fn roles(number: usize) -> Value {
    let names: Vec<String> = (0..number).map(|number| format!("role-{number}")).collect();
    json!({ "data": { "keys": names } })
}

/// The text of a fact, without marks.
fn fact(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("<dt>{name}</dt><dd>"))?;
    rest.split_once("</dd>").map(|(value, _)| value.to_owned())
}

#[test]
fn the_overview_counts_what_there_is() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("GET", "/v1/sys/auth", 200, mounts(2));
    api.answers("LIST", "/v1/auth/gcp-00/role", 200, roles(3));
    api.answers("LIST", "/v1/auth/gcp-01/role", 200, roles(2));
    let organizations = json!({ "data": [], "meta": { "pagination": { "total-count": 1234 } } });
    api.answers("GET", "/api/v2/organizations", 200, organizations);
    let gauges = [("gatehouse_nodes_live", 1), ("gatehouse_tokens_live", 56)];
    api.answers("GET", "/v1/sys/metrics", 200, metrics(&gauges));
    let shown = browser.get("/ui/").text;
    for (name, number) in [
        ("Auth mounts", "2"),
        ("Roles", "5"),
        ("Organizations", "1234"),
        ("Service tokens, as last counted", "56"),
    ] {
        assert_eq!(fact(&shown, name).as_deref(), Some(number), "{shown}");
    }
}

#[test]
fn what_the_visitor_may_not_see_is_not_counted() {
    let mut browser = Browser::signed_in();
    let refusal = json!({ "errors": ["permission denied"] });
    for (method, path) in [
        ("GET", "/v1/sys/auth"),
        ("GET", "/v1/sys/metrics"),
        ("GET", "/api/v2/"),
    ] {
        browser.api.answers(method, path, 403, refusal.clone());
    }
    let shown = browser.get("/ui/");
    assert_eq!(shown.status, 200);
    assert!(!shown.text.contains("What there is"), "{}", shown.text);
    // Mounts whose roles are hidden leave the number of roles unknown.
    browser.api.answers("GET", "/v1/sys/auth", 200, mounts(2));
    browser
        .api
        .answers("LIST", "/v1/auth/gcp-00/role", 200, roles(1));
    browser
        .api
        .answers("LIST", "/v1/auth/gcp-01/role", 403, refusal);
    let shown = browser.get("/ui/").text;
    assert_eq!(fact(&shown, "Auth mounts").as_deref(), Some("2"));
    assert_eq!(fact(&shown, "Roles"), None);
}

#[test]
fn a_gauge_of_zero_is_unknown_and_not_shown() {
    let mut browser = Browser::signed_in();
    let gauges = [
        ("gatehouse_tokens_live", 0),
        ("gatehouse_certificate_ends_timestamp_seconds", 0),
    ];
    browser
        .api
        .answers("GET", "/v1/sys/metrics", 200, metrics(&gauges));
    let shown = browser.get("/ui/").text;
    assert!(
        !shown.contains("Service tokens") && !shown.contains("certificate"),
        "{shown}"
    );
}

#[test]
fn what_ends_soon_needs_attention_and_what_ends_later_does_not() {
    let mut browser = Browser::signed_in();
    for (seconds, said) in [
        (NOW - DAY, Some("ends within a day, or has ended")),
        (NOW + DAY, Some("ends in 1 day")),
        (NOW + 30 * DAY - 1, Some("ends in 29 days")),
        (NOW + 30 * DAY, None),
    ] {
        let gauges = [
            ("gatehouse_certificate_ends_timestamp_seconds", seconds),
            ("gatehouse_plan_ends_timestamp_seconds", seconds),
        ];
        browser
            .api
            .answers("GET", "/v1/sys/metrics", 200, metrics(&gauges));
        let shown = browser.get("/ui/").text;
        for what in [
            "The certificate of the server",
            "The plan of an organization",
        ] {
            match said {
                Some(said) => assert!(shown.contains(&format!("{what} {said}")), "{said}: {shown}"),
                None => assert!(!shown.contains(what), "{shown}"),
            }
        }
    }
}

#[test]
fn a_large_server_is_looked_into_by_a_bounded_number_of_calls() {
    let mut browser = Browser::signed_in();
    browser.api.answers("GET", "/v1/sys/auth", 200, mounts(50));
    browser.api.answers("LIST", "/v1/auth/", 200, roles(21));
    let shown = browser.get("/ui/").text;
    assert_eq!(
        fact(&shown, "Roles").as_deref(),
        Some("more than 400"),
        "{shown}"
    );
    // 20 mounts with a configuration, a list and 20 roles each, and five calls about the server.
    assert_eq!(browser.api.sent().len(), 20 * 22 + 5);
}
