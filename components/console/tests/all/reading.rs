//! Pages for visitors who use a screen reader or no mouse: titles, headings, names of parts, and the initial focus.

use serde_json::json;

use crate::browser::{Browser, Shown, person};
use crate::lists::{PAGES, hostile};

/// The texts between `begin` and `end`, in their order.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Vec<&'t str> {
    let found = text.split(begin).skip(1);
    found.filter_map(|rest| rest.split(end).next()).collect()
}

fn assert_different(page: &str, mut texts: Vec<&str>) {
    let all = texts.len();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), all, "{page}: {texts:?}");
}

/// The number of places on a page that take the initial focus.
fn beginnings(shown: &Shown) -> usize {
    shown.text.matches(" autofocus").count()
}

#[test]
fn every_page_has_one_heading_which_its_title_repeats() {
    let mut browser = Browser::signed_in();
    hostile(&browser.api);
    for page in PAGES {
        let shown = browser.get(page);
        let headings = between(&shown.text, "<h1>", "</h1>");
        assert_eq!(headings.len(), 1, "{page}: {headings:?}");
        let mark = match shown.status {
            200 => "",
            _ => "Error: ",
        };
        let title = format!("{mark}{} · Gatehouse", headings[0]);
        assert_eq!(
            between(&shown.text, "<title>", "</title>"),
            [title],
            "{page}"
        );
        assert!(!shown.text.contains("<h3"), "{page} skips no heading");
    }
}

#[test]
fn parts_and_buttons_of_a_page_are_told_apart_by_their_names() {
    let mut browser = Browser::signed_in();
    hostile(&browser.api);
    for page in PAGES {
        let text = browser.get(page).text;
        assert_different(page, between(&text, " aria-label=\"", "\""));
        // The API of this test lists one invitation on each of three pages there, so buttons repeat.
        if page.split('?').next() == Some("/ui/organizations") {
            continue;
        }
        let buttons = text.split("<button").skip(1);
        let names = buttons.filter_map(|rest| rest.split_once('>')?.1.split_once("</button>"));
        assert_different(page, names.map(|(name, _)| name).collect());
    }
}

#[test]
fn every_row_of_a_table_begins_with_what_it_is_about() {
    let mut browser = Browser::signed_in();
    hostile(&browser.api);
    let mut rows = 0;
    for page in PAGES {
        let text = browser.get(page).text;
        for body in between(&text, "<tbody>", "</tbody>") {
            for row in between(body, "<tr>", "</tr>") {
                assert!(row.starts_with("<th scope=\"row\">"), "{page}: {row}");
                assert!(!row.starts_with("<th scope=\"row\"></th>"), "{page}: {row}");
                rows += 1;
            }
        }
    }
    assert!(rows > 15, "{rows}");
}

#[test]
fn a_page_begins_with_what_went_wrong_and_only_then() {
    let mut browser = Browser::signed_in();
    assert_eq!(beginnings(&browser.get("/ui/mounts")), 1, "404 of the API");
    let mounts = json!({ "data": {} });
    browser.api.answers("GET", "/v1/sys/auth", 200, mounts);
    assert_eq!(beginnings(&browser.get("/ui/mounts")), 0);
    let error = json!({ "errors": ["path is already in use"] });
    browser.api.answers("POST", "/v1/sys/auth/", 400, error);
    let shown = browser.submit("/ui/mounts", &[("path", "gcp")]);
    assert_eq!(shown.status, 400);
    assert_eq!(beginnings(&shown), 1, "{}", shown.text);
    let begun = "<div class=\"refused\" role=\"alert\" tabindex=\"-1\" autofocus>";
    assert!(shown.text.contains(begun), "{}", shown.text);
}

#[test]
fn a_part_that_may_not_be_seen_does_not_call_for_attention() {
    let mut browser = Browser::signed_in();
    let denied = json!({ "errors": ["permission denied"] });
    browser
        .api
        .answers("LIST", "/v1/auth/token/accessors", 403, denied);
    let shown = browser.get("/ui/tokens");
    assert_eq!(shown.status, 200);
    assert!(shown.text.contains("permission denied"), "{}", shown.text);
    assert_eq!(beginnings(&shown), 0);
    assert!(!shown.text.contains("role=\"alert\""), "{}", shown.text);
}

#[test]
fn the_page_of_an_organization_that_is_shown_is_the_current_one() {
    let mut browser = Browser::signed_in();
    let organization = json!({ "data": { "attributes": { "name": "acme" } } });
    let path = "/api/v2/organizations/acme";
    browser.api.answers("GET", path, 200, organization);
    let teams = json!({ "data": [] });
    browser
        .api
        .answers("GET", &format!("{path}/teams"), 200, teams);
    let shown = browser.get("/ui/organizations/teams?name=acme");
    let current = between(&shown.text, "aria-current=\"page\">", "<");
    assert_eq!(current, ["Teams"], "{}", shown.text);
}

#[test]
fn an_empty_list_says_what_comes_next() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    let of = "/api/v2/organizations/acme";
    let organization =
        json!({ "data": { "attributes": { "name": "acme", "plan-is-enterprise": true } } });
    for (path, answer) in [
        ("/v1/sys/auth", json!({ "data": {} })),
        (
            "/v1/identity/entity/name/ada",
            json!({ "data": { "name": "ada" } }),
        ),
        ("/api/v2/organizations", json!({ "data": [] })),
        (of, organization),
        ("/api/v2/organizations/acme/", json!({ "data": [] })),
        ("/api/v2/account/details", person("user-1")),
        ("/api/v2/users/user-1", person("user-1")),
        ("/api/v2/users/user-1/", json!({ "data": [] })),
        ("/api/v2/admin/organizations", json!({ "data": [] })),
    ] {
        api.answers("GET", path, 200, answer);
    }
    for (page, said) in [
        ("/ui/mounts", "enable one"),
        ("/ui/roles?mount=gcp", "make one"),
        ("/ui/leases", "There are no leases here"),
        ("/ui/tokens", "There are no service tokens."),
        ("/ui/identity", "There are no entities yet: make one"),
        ("/ui/identity", "There are no groups yet: make one"),
        ("/ui/identity/entity?name=ada", "Add one below"),
        ("/ui/organizations", "make one, or ask an owner"),
        ("/ui/organizations?q=nothing", "Nothing matches the search"),
        ("/ui/organizations/teams?name=acme", "make one"),
        ("/ui/organizations/members?name=acme", "invite a person"),
        (
            "/ui/organizations/pools?name=acme",
            "There are no agent pools yet: make one",
        ),
        (
            "/ui/organizations/sharing?name=acme",
            "No organization shares modules",
        ),
        ("/ui/organizations/own-tokens", "There are none yet"),
        ("/ui/site/organizations", "There are no organizations yet"),
        ("/ui/site/user?id=user-1", "There are none yet"),
    ] {
        let shown = browser.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
        assert!(shown.text.contains(said), "{page} {said}: {}", shown.text);
        assert!(!shown.text.contains("<table"), "{page}: {}", shown.text);
    }
}
