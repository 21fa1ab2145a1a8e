//! The visitor's own API tokens, where the visitor is a user.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown, person};
use crate::changes::changes;

const PLACE: &str = "/ui/organizations/own-tokens";
const SECTION: &str = "<a href=\"/ui/organizations/own-tokens\"";

/// A visitor with an API token of this account.
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

/// Half a minute before the time of the browser, 2027-01-15T08:00:00Z.
const JUST: &str = "2027-01-15T07:59:30.000Z";
const BEFORE: &str = "2027-01-15T07:50:00.000Z";

/// A token with this description, time of last use and end.
fn token(description: &str, last_used: Option<&str>, end: Option<&str>) -> Value {
    json!({ "id": format!("at-{description}"), "attributes": {
        "description": description, "created-at": "2026-01-01T00:00:00.000Z", "last-used-at": last_used, "expired-at": end,
    } })
}

/// A visitor who has these tokens, which the API lets them revoke.
fn owner_of(tokens: &[Value]) -> Browser {
    let browser = visitor(person("user-1"));
    let api = &browser.api;
    let path = "/api/v2/users/user-1/authentication-tokens";
    api.answers("GET", path, 200, json!({ "data": tokens }));
    let path = "/api/v2/authentication-tokens/";
    api.answers("DELETE", path, 204, Value::Null);
    browser
}

/// Sends the form that revokes the token with this description.
fn revoke(browser: &mut Browser, description: &str, further: &[(&str, &str)]) -> Shown {
    let id = format!("at-{description}");
    let fields = [&[("id", id.as_str())], further].concat();
    browser.submit(&format!("{PLACE}/revoke"), &fields)
}

#[test]
fn before_a_token_is_revoked_a_page_names_the_consequence() {
    let over = token("old", None, Some("2026-06-01T00:00:00.000Z"));
    let laptop = |used| token("laptop", used, None);
    for (tokens, said) in [
        (vec![laptop(Some(JUST))], "This is your only API token"),
        (
            vec![laptop(Some(JUST)), over],
            "This is your only API token",
        ),
        (
            vec![laptop(Some(JUST)), token("ci", Some(BEFORE), None)],
            "You signed in with this token.",
        ),
        (
            vec![laptop(Some(JUST)), token("ci", Some(JUST), None)],
            "You may have signed in with this token",
        ),
        (
            vec![laptop(Some(BEFORE)), token("ci", Some(JUST), None)],
            "You did not sign in with this one",
        ),
        (
            vec![laptop(None), token("ci", Some(JUST), None)],
            "You did not sign in with this one",
        ),
    ] {
        let mut browser = owner_of(&tokens);
        let shown = revoke(&mut browser, "laptop", &[]);
        assert_eq!(shown.status, 200);
        for said in [said, "<h1>Revoke laptop</h1>", "Leave it as it is"] {
            assert!(shown.text.contains(said), "{said}: {}", shown.text);
        }
        assert_eq!(
            shown.text.contains("name=\"last\""),
            said.contains("only API token")
        );
        assert!(changes(&browser).is_empty(), "nothing is revoked yet");
        let shown = revoke(
            &mut browser,
            "laptop",
            &[("confirmed", "yes"), ("last", "yes")],
        );
        assert_eq!(shown.header("location"), Some(PLACE), "{}", shown.text);
        assert_eq!(changes(&browser).len(), 1);
    }
}

#[test]
fn the_only_token_is_not_revoked_unless_the_box_is_ticked() {
    let mut browser = owner_of(&[token("laptop", Some(JUST), None)]);
    // The page may have asked while another token existed.
    let shown = revoke(&mut browser, "laptop", &[("confirmed", "yes")]);
    assert_eq!(shown.status, 400);
    for said in ["nothing was revoked", "Revoke my only API token"] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert!(changes(&browser).is_empty());
}

#[test]
fn a_token_that_is_not_in_the_list_is_revoked_as_the_api_decides() {
    let mut browser = owner_of(&[token("laptop", Some(JUST), None)]);
    let path = "/api/v2/authentication-tokens/at-gone";
    let gone = json!({ "errors": [{ "status": "404", "title": "not found" }] });
    browser.api.answers("DELETE", path, 404, gone);
    let shown = revoke(&mut browser, "gone", &[]);
    assert_eq!(shown.status, 200);
    let shown = revoke(&mut browser, "gone", &[("confirmed", "yes")]);
    assert_eq!(shown.status, 404);
    assert!(shown.text.contains("not found"), "{}", shown.text);
}

#[test]
fn who_is_no_user_revokes_nothing_here() {
    let mut browser = visitor(team());
    let shown = revoke(&mut browser, "laptop", &[("confirmed", "yes")]);
    assert_eq!(shown.status, 403);
    assert!(shown.text.contains("nothing was revoked"), "{}", shown.text);
    assert!(changes(&browser).is_empty());
}

#[test]
fn revoking_the_token_of_the_session_ends_the_session() {
    for (tokens, said) in [
        (
            vec![token("laptop", Some(JUST), None)],
            "A site administrator can make another one for you",
        ),
        (
            vec![
                token("laptop", Some(JUST), None),
                token("ci", Some(BEFORE), None),
            ],
            "Sign in with another one",
        ),
    ] {
        let mut browser = owner_of(&tokens);
        let confirmed = [("confirmed", "yes"), ("last", "yes")];
        let key = browser.get(PLACE).form_key();
        // The API no longer knows the token once it is revoked.
        let path = "/api/v2/authentication-tokens/";
        let ended = json!({ "errors": [{ "title": "unauthorized" }] });
        browser.api.answers_after(
            "DELETE",
            path,
            ("GET", "/api/v2/account/details", 401, ended),
        );
        let form = [
            &[("form_key", key.as_str()), ("id", "at-laptop")],
            &confirmed[..],
        ]
        .concat();
        let shown = browser.post(&format!("{PLACE}/revoke"), &form);
        for said in ["You are signed out", said] {
            assert!(shown.text.contains(said), "{said}: {}", shown.text);
        }
        assert_eq!(changes(&browser).len(), 1);
        assert_eq!(browser.cookie, None);
    }
}
