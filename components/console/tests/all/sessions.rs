//! Sessions: how they begin and end.

use std::time::Duration;

use gatehouse_console::Settings;
use serde_json::json;

use crate::browser::{Browser, PEER, REQUEST_ID, TOKEN, settings};

/// Every page, and one that does not exist.
fn pages() -> impl Iterator<Item = &'static str> {
    gatehouse_console::addresses().chain(["/ui/nothing"])
}

#[test]
fn h17_a_token_signs_in_and_is_in_no_page_and_in_no_address() {
    let mut browser = Browser::signed_in();
    for page in pages() {
        let shown = browser.get(page);
        assert!(!shown.text.contains(TOKEN), "{page}");
        let elsewhere = shown.headers.iter();
        assert!(!elsewhere.clone().any(|(_, value)| value.contains(TOKEN)));
    }
    for request in browser.api.sent() {
        assert!(!request.target.contains(TOKEN));
        let token = request
            .headers
            .iter()
            .find(|(name, _)| matches!(name.as_str(), "x-vault-token" | "authorization"));
        assert!(String::from_utf8_lossy(&token.unwrap().1).ends_with(TOKEN));
        assert_eq!(request.peer, Some(PEER));
        assert_eq!(request.id.as_deref(), Some(REQUEST_ID));
    }
}

#[test]
fn h15_every_page_forbids_scripts_frames_and_keeping() {
    let mut browser = Browser::signed_in();
    for page in pages() {
        let shown = browser.get(page);
        let policy = shown.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{page}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe") && !policy.contains("script"));
        assert_eq!(shown.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(shown.header("cache-control"), Some("no-store"), "{page}");
        assert!(shown.header("referrer-policy").is_some());
        for inline in ["<script", "<style", " style=", " onclick=", "javascript:"] {
            assert!(!shown.text.contains(inline), "{page}: {inline}");
        }
        assert!(shown.text.contains("<h1>") && shown.text.contains("lang=\"en\""));
    }
    let sheet = browser.get("/ui/style.css");
    assert_eq!(
        sheet.header("content-type"),
        Some("text/css; charset=utf-8")
    );
}

#[test]
fn h17_the_cookie_is_for_this_host_and_over_tls_for_tls_alone() {
    let mut browser = Browser::at_server(1);
    let plain = browser.get("/ui/");
    let plain = plain.header("set-cookie").unwrap().to_owned();
    assert!(
        plain.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{plain}"
    );
    browser.is_https = true;
    let shown = browser.get("/ui/");
    let secure = shown.header("set-cookie").unwrap();
    assert!(secure.starts_with("__Host-"), "{secure}");
    assert!(secure.ends_with("; SameSite=Strict; Secure"), "{secure}");
    assert!(!secure.contains("Max-Age") && !secure.contains("Expires"));
    let mut behind_a_proxy = Browser::with(Settings {
        is_behind_tls: true,
        ..settings(1)
    });
    let shown = behind_a_proxy.get("/ui/");
    let secure = shown.header("set-cookie").unwrap();
    assert!(secure.starts_with("__Host-"), "{secure}");
    assert!(secure.ends_with("; SameSite=Strict; Secure"), "{secure}");
}

#[test]
fn h17_a_cookie_of_another_server_is_refused_by_a_page_that_says_so() {
    let theirs = Browser::signed_in().cookie;
    let mut browser = Browser::at_server(2);
    browser.cookie = theirs.clone();
    let shown = browser.get("/ui/mounts");
    assert_eq!(shown.status, 401);
    assert!(
        shown.text.contains("by a server of another installation"),
        "{}",
        shown.text
    );
    assert!(browser.api.sent().is_empty());
    assert_ne!(browser.cookie, theirs);
}

#[test]
fn h17_a_session_that_rests_too_long_is_over() {
    let mut browser = Browser::signed_in();
    browser.clock.advance(Duration::from_secs(899));
    assert_eq!(browser.get("/ui/").status, 200);
    browser.clock.advance(Duration::from_secs(899));
    assert_eq!(browser.get("/ui/").status, 200, "each request counts");
    browser.clock.advance(Duration::from_secs(901));
    browser.api.sent();
    let shown = browser.get("/ui/mounts");
    assert_eq!(shown.status, 401);
    assert!(shown.text.contains("Your session has ended"));
    assert!(browser.api.sent().is_empty());
}

#[test]
fn h17_a_session_is_over_after_twelve_hours_of_use() {
    let mut browser = Browser::signed_in();
    for _ in 0..48 {
        browser.clock.advance(Duration::from_secs(900));
        assert_eq!(browser.get("/ui/").status, 200);
    }
    browser.clock.advance(Duration::from_secs(1));
    browser.api.sent();
    let shown = browser.get("/ui/mounts");
    assert_eq!(shown.status, 401);
    assert!(shown.text.contains("cannot be prolonged"), "{}", shown.text);
    assert!(browser.api.sent().is_empty());
}

#[test]
fn after_signing_out_a_page_asks_to_sign_in_and_nothing_is_asked_of_the_api() {
    let mut browser = Browser::signed_in();
    let shown = browser.submit("/ui/sign-out", &[]);
    assert!(shown.text.contains("You are signed out"));
    assert_eq!(browser.cookie, None);
    assert!(
        browser.api.sent().is_empty(),
        "the token was not to be revoked"
    );
    let shown = browser.get("/ui/policies");
    assert!(shown.text.contains("<h1>Sign in</h1>"));
    assert!(browser.api.sent().is_empty());
}

#[test]
fn signing_out_ends_the_token_where_the_visitor_wants_it() {
    let mut browser = Browser::signed_in();
    browser
        .api
        .answers("POST", "/v1/auth/token/revoke-self", 204, json!(null));
    browser.submit("/ui/sign-out", &[("revoke", "yes")]);
    let sent = browser.api.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].target, "/v1/auth/token/revoke-self");
}

#[test]
fn a_jwt_signs_in_by_a_login_under_a_role() {
    let mut browser = Browser::at_server(1);
    browser.api.answers(
        "POST",
        "/v1/auth/gcp/login",
        200,
        json!({ "auth": { "client_token": "hvs.of-the-login" } }),
    );
    let form = [
        ("by", "jwt"),
        ("mount", "gcp"),
        ("role", "web"),
        ("jwt", "a.b.c"),
    ];
    assert_eq!(browser.submit("/ui/sign-in", &form).status, 303);
    browser.api.sent();
    browser.get("/ui/policies");
    let sent = browser.api.sent();
    let token = sent[0]
        .headers
        .iter()
        .find(|(name, _)| name == "x-vault-token");
    assert_eq!(token.unwrap().1, b"hvs.of-the-login");
}

#[test]
fn a_token_for_organizations_is_not_sent_to_the_other_api() {
    let mut browser = Browser::at_server(1);
    browser
        .api
        .answers("GET", "/api/v2/organizations", 200, json!({ "data": [] }));
    let form = [("by", "organizations"), ("api_token", "abc.atlasv1.def")];
    assert_eq!(browser.submit("/ui/sign-in", &form).status, 303);
    browser.api.sent();
    let shown = browser.get("/ui/policies");
    assert_eq!(shown.status, 403);
    assert!(shown.text.contains("access only organizations"));
    assert!(browser.api.sent().is_empty());
    assert_eq!(browser.get("/ui/organizations").status, 200);
}

#[test]
fn a_token_that_is_refused_too_long_or_none_starts_no_session() {
    let mut browser = Browser::at_server(1);
    let error = json!({ "errors": ["permission denied"] });
    browser
        .api
        .answers("GET", "/v1/auth/token/lookup-self", 403, error);
    let long = "x".repeat(2_001);
    for (token, status) in [
        ("wrong", 403),
        (long.as_str(), 400),
        ("", 400),
        ("a\r\nb", 400),
    ] {
        let shown = browser.submit("/ui/sign-in", &[("by", "token"), ("token", token)]);
        assert_eq!(shown.status, status);
        assert!(token.len() < 5 || !shown.text.contains(token));
        assert!(browser.get("/ui/").text.contains("<h1>Sign in</h1>"));
    }
}

#[test]
fn a_browser_at_the_root_is_led_to_the_console() {
    let shown = Browser::at_server(1).get("/");
    assert_eq!(shown.status, 303);
    assert_eq!(shown.header("location"), Some("/ui/"));
}

#[test]
fn a_form_to_sign_in_does_not_end_while_its_page_is_open() {
    let mut browser = Browser::at_server(1);
    let key = browser.get("/ui/sign-in").form_key();
    browser.clock.advance(Duration::from_secs(100_000));
    let form = [
        ("form_key", key.as_str()),
        ("by", "token"),
        ("token", TOKEN),
    ];
    assert_eq!(browser.post("/ui/sign-in", &form).status, 303);
    // A server with another key does not call it the end of a session either.
    let mut other = Browser::at_server(2);
    other.cookie = Browser::signed_in().cookie;
    let shown = other.post("/ui/sign-in", &form).text;
    assert!(shown.contains("This page was open too long"), "{shown}");
    assert!(!shown.contains("Your session"), "{shown}");
}

#[test]
fn h16_what_was_typed_into_a_long_form_outlives_its_session_as_text_alone() {
    let policy = [("policy", "path \"a\" {\r\n</textarea><script>\r\n}")];
    let role = [
        ("name", "web"),
        ("bound_projects", "</textarea><script>"),
        ("live_checks", "yes"),
    ];
    for (place, form) in [
        ("/ui/policies/edit?name=ops", &policy[..]),
        ("/ui/roles/edit?mount=gcp", &role[..]),
    ] {
        let mut browser = Browser::signed_in();
        browser.clock.advance(Duration::from_secs(901));
        browser.api.sent();
        let kept = browser.cookie.clone();
        let shown = browser.post(place, form);
        assert_eq!(shown.status, 401);
        assert!(shown.text.contains("readonly"), "{}", shown.text);
        assert!(
            shown.text.contains("&lt;/textarea&gt;&lt;script&gt;"),
            "{}",
            shown.text
        );
        assert!(!shown.text.contains("<script"));
        browser.cookie = kept;
        let foreign = b"https://evil.example".to_vec();
        browser.headers = vec![("origin".to_owned(), foreign)];
        let shown = browser.post(place, form);
        assert!(
            !shown.text.contains("script"),
            "of another origin: {}",
            shown.text
        );
        assert!(browser.api.sent().is_empty());
    }
}

#[test]
fn a_refused_sign_in_gets_advice_for_someone_without_a_session() {
    let mut browser = Browser::at_server(1);
    let refusal = json!({ "errors": ["permission denied"] });
    let login = "/v1/auth/m3/login";
    browser.api.answers("POST", login, 403, refusal.clone());
    for (path, status) in [
        ("/v1/auth/token/lookup-self", 403),
        ("/api/v2/organizations", 401),
    ] {
        browser.api.answers("GET", path, status, refusal.clone());
    }
    for (form, status, said) in [
        (
            &[("by", "jwt"), ("mount", "auth/m3"), ("jwt", "a.b.c")][..],
            403,
            "no auth mount at that path",
        ),
        (
            &[("by", "token"), ("token", "hvs.gone")][..],
            403,
            "does not accept this token",
        ),
        (
            &[("by", "organizations"), ("api_token", "a.b")][..],
            401,
            "does not accept this token",
        ),
        (
            &[("by", "jwt"), ("mount", "/"), ("jwt", "a.b.c")][..],
            400,
            "The mount is missing",
        ),
    ] {
        let shown = browser.submit("/ui/sign-in", form);
        assert_eq!(shown.status, status, "{}", shown.text);
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
        for other in ["sign out and in again", "Your token"] {
            assert!(!shown.text.contains(other), "{other}: {}", shown.text);
        }
    }
    assert!(browser.api.sent().iter().any(|it| it.target == login));
    browser.api.answers("POST", login, 307, json!(null));
    let form = [
        ("by", "jwt"),
        ("mount", "m3"),
        ("role", "web"),
        ("jwt", "a.b.c"),
    ];
    let shown = browser.submit("/ui/sign-in", &form);
    assert_eq!(shown.status, 502, "no status that leads elsewhere");
    assert!(shown.text.contains("value=\"m3\"") && shown.text.contains("value=\"web\""));
}

#[test]
fn without_a_key_for_sessions_every_page_says_what_to_do_and_asks_the_api_nothing() {
    let mut browser = Browser::with(Settings {
        key: Err("Start it again with a <key>.".to_owned()),
        ..Settings::default()
    });
    for page in ["/", "/ui/", "/ui/sign-in", "/ui/nothing"] {
        let shown = browser.get(page);
        assert_eq!(shown.status, 503, "{page}");
        assert!(
            shown.text.contains("Start it again with a &lt;key&gt;."),
            "{}",
            shown.text
        );
        assert_eq!(shown.header("set-cookie"), None, "{page}");
    }
    assert_eq!(browser.get("/ui/style.css").status, 200);
    assert!(browser.api.sent().is_empty());
    assert!(
        Settings::default()
            .key
            .is_err_and(|to_do| to_do.contains("GATEHOUSE_CONSOLE_KEY"))
    );
}
