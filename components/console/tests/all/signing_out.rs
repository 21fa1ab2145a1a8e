//! The revocation of the visitor's token at the end of the session.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::changes::changes;

const TOKEN: &str = "abcdefghijklmn.atlasv1.of-a-person";

/// A visitor with a token of the organizations API, which stands for `owner`.
fn visitor(owner: &Value) -> Browser {
    let mut browser = Browser::at_server(1);
    let api = &browser.api;
    api.answers("GET", "/api/v2/organizations", 200, json!({ "data": [] }));
    let account = json!({ "data": { "id": "user-1", "relationships": { "authenticated-resource": { "data": owner } } } });
    api.answers("GET", "/api/v2/account/details", 200, account);
    api.answers("DELETE", "/api/v2/authentication-tokens/", 204, json!(null));
    let form = [("by", "organizations"), ("api_token", TOKEN)];
    assert_eq!(browser.submit("/ui/sign-in", &form).status, 303);
    browser.api.sent();
    browser
}

fn token(id: &str) -> Value {
    json!({ "id": id, "type": "authentication-tokens", "attributes": { "description": format!("<b>{id}"), "last-used-at": "2026-01-01T00:00:00Z" } })
}

fn revoked(browser: &Browser) -> Vec<String> {
    let paths = changes(browser)
        .into_iter()
        .map(|(method, path, _)| format!("{method} {path}"));
    paths.collect()
}

#[test]
fn the_only_token_of_a_user_is_revoked() {
    let mut browser = visitor(&json!({ "type": "users", "id": "user-1" }));
    let path = "/api/v2/users/user-1/authentication-tokens?page%5Bsize%5D=100";
    browser
        .api
        .answers("GET", path, 200, json!({ "data": [token("at-1")] }));
    let shown = browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    assert!(shown.text.contains("You are signed out"), "{}", shown.text);
    assert_eq!(browser.cookie, None);
    assert_eq!(
        revoked(&browser),
        ["DELETE /api/v2/authentication-tokens/at-1"]
    );
}

#[test]
fn of_several_tokens_the_visitor_says_which_it_is() {
    let mut browser = visitor(&json!({ "type": "users", "id": "user-1" }));
    let tokens = json!({ "data": [token("at-1"), token("at-2")] });
    browser
        .api
        .answers("GET", "/api/v2/users/user-1/", 200, tokens);
    // Neither an empty choice nor the token of another user is accepted.
    for chosen in ["", "at-9"] {
        let shown = browser.submit("/ui/sign-out", &[("revoke", "yes"), ("token_id", chosen)]);
        for said in [
            "Which of the tokens is it?",
            "Revoke &lt;b&gt;at-2 and sign out",
            "revoke none",
        ] {
            assert!(shown.text.contains(said), "{said}: {}", shown.text);
        }
        assert!(browser.cookie.is_some() && revoked(&browser).is_empty());
    }
    let shown = browser.submit("/ui/sign-out", &[("revoke", "yes"), ("token_id", "at-2")]);
    assert!(shown.text.contains("You are signed out"));
    assert_eq!(
        revoked(&browser),
        ["DELETE /api/v2/authentication-tokens/at-2"]
    );
}

#[test]
fn the_token_of_an_organization_is_revoked_by_itself() {
    let mut browser = visitor(&json!({ "type": "organizations", "id": "acme" }));
    let path = "/api/v2/organizations/acme/authentication-token";
    browser
        .api
        .answers("GET", path, 200, json!({ "data": token("at-5") }));
    browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    assert_eq!(
        revoked(&browser),
        ["DELETE /api/v2/authentication-tokens/at-5"]
    );
}

#[test]
fn a_token_that_may_end_none_is_left_and_the_page_says_so() {
    let mut browser = visitor(&json!({ "type": "teams", "id": "team-1" }));
    let shown = browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    for said in [
        "You are signed out",
        "The token was not revoked",
        "An owner of its organization",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert_eq!(browser.cookie, None);
    assert!(revoked(&browser).is_empty());
}

#[test]
fn a_token_that_is_seen_and_may_not_be_ended_is_left_and_the_page_says_so() {
    let mut browser = visitor(&json!({ "type": "teams", "id": "team-1" }));
    let api = &browser.api;
    let tokens = json!({ "data": [token("at-1")] });
    api.answers("GET", "/api/v2/teams/team-1/", 200, tokens);
    let hidden = json!({ "errors": [] });
    api.answers("DELETE", "/api/v2/authentication-tokens/", 404, hidden);
    let shown = browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    assert!(
        shown.text.contains("The token was not revoked"),
        "{}",
        shown.text
    );
    assert_eq!(browser.cookie, None);
}

#[test]
fn a_token_that_has_ended_signs_out_and_a_failure_does_not() {
    let mut browser = visitor(&json!({ "type": "users", "id": "user-1" }));
    let failure = json!({ "errors": [{ "detail": "the store does not answer" }] });
    browser
        .api
        .answers("GET", "/api/v2/account/details", 503, failure);
    let shown = browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    assert_eq!(shown.status, 503);
    assert!(shown.text.contains("the store does not answer") && browser.cookie.is_some());
    browser.api.answers(
        "GET",
        "/api/v2/account/details",
        401,
        json!({ "errors": [] }),
    );
    let shown = browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    assert!(shown.text.contains("You are signed out") && browser.cookie.is_none());
}

#[test]
fn a_token_of_the_server_that_opened_organizations_alone_is_revoked_where_it_belongs() {
    let mut browser = Browser::at_server(1);
    browser
        .api
        .answers("GET", "/api/v2/organizations", 200, json!({ "data": [] }));
    browser
        .api
        .answers("POST", "/v1/auth/token/revoke-self", 204, json!(null));
    let form = [
        ("by", "organizations"),
        ("api_token", "hvs.CAESIOofaworkload"),
    ];
    assert_eq!(browser.submit("/ui/sign-in", &form).status, 303);
    browser.api.sent();
    browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    let sent = browser.api.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].target, "/v1/auth/token/revoke-self");
    let token = (
        "x-vault-token".to_owned(),
        b"hvs.CAESIOofaworkload".to_vec(),
    );
    assert!(sent[0].headers.contains(&token));
}

#[test]
fn a_token_of_the_server_that_may_not_end_itself_is_told_to_stay() {
    let refusal = |text: &str| json!({ "errors": [text] });
    let own = |kind: &str| json!({ "data": { "type": kind } });
    for (status, lookup, said) in [
        (403, (200, own("service")), "do not let it end itself"),
        (
            403,
            (403, refusal("permission denied")),
            "Either it has ended before",
        ),
        (400, (200, own("batch")), "it is a batch token"),
    ] {
        let mut browser = Browser::signed_in();
        let api = &browser.api;
        let path = "/v1/auth/token/revoke-self";
        api.answers("POST", path, status, refusal("no"));
        api.answers("GET", "/v1/auth/token/lookup-self", lookup.0, lookup.1);
        let shown = browser.submit("/ui/sign-out", &[("revoke", "yes")]);
        for said in ["You are signed out", said] {
            assert!(shown.text.contains(said), "{said}: {}", shown.text);
        }
        assert_eq!(browser.cookie, None);
    }
}
