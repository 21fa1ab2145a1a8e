//! The API tokens of the user that the visitor is.

use serde_json::{Value, json};

use crate::browser::{Browser, person};
use crate::changes::changes;

const PLACE: &str = "/ui/organizations/own-tokens";
const SECTION: &str = "<a href=\"/ui/organizations/own-tokens\"";

/// A visitor with an API token, behind which is this account.
fn visitor(account: Value) -> Browser {
    let mut browser = Browser::at_server(1);
    let api = &browser.api;
    api.answers("GET", "/api/v2/organizations", 200, json!({ "data": [] }));
    api.answers("GET", "/api/v2/account/details", 200, account);
    let form = [
        ("by", "organizations"),
        ("api_token", "abc.atlasv1.of-a-person"),
    ];
    assert_eq!(browser.submit("/ui/sign-in", &form).status, 303);
    browser.api.sent();
    browser
}

/// The account that stands for a team.
fn team() -> Value {
    json!({ "data": { "id": "user-9", "attributes": { "username": "api-team_1", "permissions": { "can-manage-user-tokens": false } } } })
}

#[test]
fn a_user_sees_the_tokens_of_their_own_each_with_a_button_that_revokes_it() {
    let mut browser = visitor(person("user-1"));
    let tokens = json!({ "data": [
        { "id": "at-1", "attributes": { "description": "<b>laptop", "created-at": "2026-01-01T00:00:00Z",
            "last-used-at": "2026-02-01T00:00:00Z", "expired-at": "2028-01-01T00:00:00Z" } },
        { "id": "at-2", "attributes": { "description": null, "expired-at": null } },
    ] });
    let path = "/api/v2/users/user-1/authentication-tokens?";
    browser.api.answers("GET", path, 200, tokens);
    let shown = browser.get(PLACE);
    assert_eq!(shown.status, 200);
    for said in [
        "<dd>ada</dd>",
        "&lt;b&gt;laptop",
        "2026-01-01T00:00:00Z",
        "2026-02-01T00:00:00Z",
        "2028-01-01T00:00:00Z",
        "Revoke &lt;b&gt;laptop",
        "Revoke at-2",
        "name=\"id\" value=\"at-1\"",
        SECTION,
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn who_is_no_user_is_told_so_and_makes_no_token() {
    let mut browser = visitor(team());
    let shown = browser.get(PLACE);
    assert_eq!(shown.status, 200);
    for said in ["belongs to no user", "Sign in with an API token of a user"] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert!(!shown.text.contains("Make a token"), "{}", shown.text);
    let shown = browser.submit(PLACE, &[("description", "ci")]);
    assert_eq!(shown.status, 403);
    assert!(shown.text.contains("no token was made"), "{}", shown.text);
    assert!(changes(&browser).is_empty());
}

#[test]
fn the_section_is_offered_to_those_who_signed_in_with_an_api_token() {
    let mut browser = visitor(person("user-1"));
    assert!(browser.get("/ui/organizations").text.contains(SECTION));
    let shown = Browser::signed_in().get("/ui/mounts");
    assert!(!shown.text.contains(SECTION), "{}", shown.text);
}

#[test]
fn after_revoking_the_token_of_the_session_the_page_says_to_sign_in_again() {
    let mut browser = visitor(person("user-1"));
    let path = "/api/v2/authentication-tokens/at-1";
    browser.api.answers("DELETE", path, 204, Value::Null);
    let shown = browser.submit(&format!("{PLACE}/revoke"), &[("id", "at-1")]);
    assert_eq!(shown.header("location"), Some(PLACE));
    let ended = json!({ "errors": [{ "title": "unauthorized" }] });
    browser
        .api
        .answers("GET", "/api/v2/account/details", 401, ended);
    let shown = browser.get(PLACE);
    assert_eq!(shown.status, 401);
    assert!(
        shown.text.contains("sign out and in again"),
        "{}",
        shown.text
    );
}
