//! The overview: the numbers of objects, as far as the visitor may see them, with a bounded number of calls.

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

/// The text of a fact, without markup.
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
fn a_rotation_that_is_overdue_needs_attention_and_one_that_is_due_does_not() {
    const HOUR: u64 = 60 * 60;
    let mut browser = Browser::signed_in();
    for (due, is_overdue) in [
        (NOW - 4 * HOUR, true),
        (NOW - 2 * HOUR, false),
        (NOW + DAY, false),
        (0, false),
    ] {
        let gauges = [("gatehouse_rotation_due_timestamp_seconds", due)];
        browser
            .api
            .answers("GET", "/v1/sys/metrics", 200, metrics(&gauges));
        let shown = browser.get("/ui/").text;
        let said =
            r#"<a href="/ui/mounts">The stored key of an auth mount should have been replaced"#;
        assert_eq!(shown.contains(said), is_overdue, "{due}: {shown}");
    }
}

#[test]
fn the_next_replacement_of_a_stored_key_is_told_while_it_is_ahead() {
    let mut browser = Browser::signed_in();
    for (due, told) in [
        (NOW, Some("within a day")),
        (NOW + DAY, Some("in 1 day")),
        (NOW + 7 * DAY + 1, Some("in 7 days")),
        (NOW - 1, None),
        (0, None),
    ] {
        let gauges = [("gatehouse_rotation_due_timestamp_seconds", due)];
        browser
            .api
            .answers("GET", "/v1/sys/metrics", 200, metrics(&gauges));
        let shown = browser.get("/ui/").text;
        let found = fact(&shown, "Next replacement of a stored key");
        assert_eq!(found.as_deref(), told, "{due}: {shown}");
    }
}

#[test]
fn the_overview_tells_the_state_and_what_mends_it() {
    let mut browser = Browser::signed_in();
    for (status, is_sealed, said) in [
        (200, false, "ready"),
        (429, false, "standby"),
        (
            501,
            true,
            "not initialized: send PUT /v1/sys/init; where a hash of the first root token is set, with that token",
        ),
        (
            503,
            true,
            "sealed: `bao operator unseal` takes the shares of the root key; with a key file, start the server anew",
        ),
        (
            503,
            false,
            "not ready: its database does not answer; the server's log says why",
        ),
        (472, false, "not known; the server's log says more"),
    ] {
        let health = json!({ "version": "1.21.0", "sealed": is_sealed });
        browser.api.answers("GET", "/v1/sys/health", status, health);
        let shown = browser.get("/ui/").text;
        assert_eq!(fact(&shown, "State").as_deref(), Some(said), "{shown}");
    }
}

#[test]
fn a_server_without_the_method_is_told_to_enable_it() {
    let mut browser = Browser::signed_in();
    let said =
        r#"<a href="/ui/mounts">No workload can log in yet: enable the Google Cloud method</a>"#;
    for number in [0, 1] {
        browser
            .api
            .answers("GET", "/v1/sys/auth", 200, mounts(number));
        let shown = browser.get("/ui/").text;
        assert_eq!(shown.contains(said), number == 0, "{shown}");
    }
}

/// The maximum number of API calls for one request of the overview.
const MOST_CALLS: usize = 60;

#[test]
fn a_large_server_is_looked_into_by_a_bounded_number_of_calls() {
    for (number, of_each, looked_at) in [
        // The largest number of mounts that the page examines, with as many roles as there are calls for.
        (10, 3, 3),
        (10, 4, 3),
        (11, 300, 3),
        (2000, 300, 3),
        (1, 53, 53),
        (1, 54, 53),
        (3, 16, 16),
        (3, 300, 16),
    ] {
        let mut browser = Browser::signed_in();
        let api = &browser.api;
        api.answers("GET", "/v1/sys/auth", 200, mounts(number));
        api.answers("LIST", "/v1/auth/", 200, roles(of_each));
        let organizations =
            json!({ "data": [], "meta": { "pagination": { "total-count": 1_000_000 } } });
        api.answers("GET", "/api/v2/organizations", 200, organizations);
        let shown = browser.get("/ui/").text;
        let calls = browser.api.sent();
        let looked_into = number.min(10);
        assert_eq!(calls.len(), 5 + looked_into * (2 + looked_at), "{number}");
        assert!(calls.len() <= MOST_CALLS, "{number} {of_each}");
        // The page names each part that it left out, with a link to the page that shows it.
        let rest = r#"<a href="/ui/mounts">Auth mounts after gcp-09, and their roles</a>"#;
        assert_eq!(shown.contains(rest), number > 10, "{shown}");
        let rest = format!(
            r#"<a href="/ui/roles?mount=gcp-00">Roles of gcp-00 beyond the first {looked_at}</a>"#
        );
        assert_eq!(shown.contains(&rest), of_each > looked_at, "{shown}");
        let rest = r#"<a href="/ui/organizations">Plans of organizations beyond the first 100</a>"#;
        assert!(shown.contains(rest), "{shown}");
    }
}

#[test]
fn calls_that_a_small_mount_does_not_need_go_to_the_others() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("GET", "/v1/sys/auth", 200, mounts(3));
    api.answers("LIST", "/v1/auth/gcp-00/role", 200, roles(200));
    api.answers("LIST", "/v1/auth/gcp-01/role", 200, roles(1));
    let refusal = json!({ "errors": ["permission denied"] });
    api.answers("LIST", "/v1/auth/gcp-02/role", 403, refusal);
    let shown = browser.get("/ui/").text;
    // The first 48 roles use all calls that are left after five about the server, six about mounts, and one for the single role of gcp-01.
    assert!(
        shown.contains("Roles of gcp-00 beyond the first 48"),
        "{shown}"
    );
    assert_eq!(browser.api.sent().len(), MOST_CALLS);
}

#[test]
fn roles_are_counted_beyond_those_that_are_looked_at() {
    for (number, of_each, told) in [
        (2, 100, "200"),
        (2, 101, "more than 200"),
        (11, 1, "more than 10"),
    ] {
        let mut browser = Browser::signed_in();
        let api = &browser.api;
        api.answers("GET", "/v1/sys/auth", 200, mounts(number));
        api.answers("LIST", "/v1/auth/", 200, roles(of_each));
        let shown = browser.get("/ui/").text;
        assert_eq!(fact(&shown, "Roles").as_deref(), Some(told), "{shown}");
    }
}

#[test]
fn a_small_server_is_looked_into_as_a_whole() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("GET", "/v1/sys/auth", 200, mounts(1));
    api.answers("LIST", "/v1/auth/", 200, roles(1));
    let config = json!({ "data": { "identity_token_audience": "aud" } });
    api.answers("GET", "/v1/auth/gcp-00/config", 200, config);
    let role = json!({ "data": { "bound_projects": ["p"] } });
    api.answers("GET", "/v1/auth/gcp-00/role/role-0", 200, role);
    let shown = browser.get("/ui/").text;
    assert!(
        shown.contains("<p>Nothing that your token can see.</p>")
            && !shown.contains("Not looked at"),
        "{shown}"
    );
}
