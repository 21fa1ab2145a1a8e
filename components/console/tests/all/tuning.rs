//! The form that tunes an auth mount: only the fields that were changed are sent.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::changes::{changes, replaced, sent_one};

const PLACE: &str = "/ui/mounts/tune?mount=team%2Fgcp";
const PATH: &str = "/v1/sys/mounts/auth/team/gcp/tune";
/// The form as shown for [`stored`].
const SHOWN: &[(&str, &str)] = &[
    ("description", "Ours"),
    ("default_lease_ttl", "2764800"),
    ("max_lease_ttl", "2764800"),
    ("token_type", "default-service"),
    ("listing_visibility", ""),
    ("audit_non_hmac_request_keys", "role\r\nmount"),
    ("audit_non_hmac_response_keys", ""),
    ("passthrough_request_headers", ""),
    ("allowed_response_headers", ""),
    ("identity_token_key", ""),
];

/// The stored tuning. The API leaves out fields that are not set.
fn stored() -> Value {
    json!({ "data": { "description": "Ours", "default_lease_ttl": 2_764_800, "max_lease_ttl": 2_764_800, "force_no_cache": false,
        "token_type": "default-service", "audit_non_hmac_request_keys": ["role", "mount"] } })
}

fn visitor() -> Browser {
    let browser = Browser::signed_in();
    browser.api.answers("GET", PATH, 200, stored());
    browser.api.answers("POST", PATH, 204, json!(null));
    browser
}

/// Sends the form with the values in `fields`.
fn with(browser: &mut Browser, fields: &[(&str, &str)]) -> (Shown, Value) {
    let (shown, (method, path, body)) = sent_one(browser, PLACE, &replaced(SHOWN, fields));
    assert_eq!((method.as_str(), path.as_str()), ("POST", PATH));
    (shown, body)
}

#[test]
fn the_tuning_is_shown_field_by_field_with_those_that_are_not_set() {
    let shown = visitor().get(PLACE);
    assert_eq!(shown.status, 200, "{}", shown.text);
    for said in [
        "<h1>Tuning of team/gcp</h1>",
        "name=\"description\" type=\"text\" value=\"Ours\"",
        "name=\"max_lease_ttl\" type=\"text\" value=\"2764800\"",
        "value=\"default-service\" selected",
        "value=\"\" selected>(no choice)",
        "role\nmount</textarea>",
        "name=\"allowed_response_headers\"",
        "name=\"trim_request_trailing_slashes\" value=\"yes\"",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn a_tuning_that_was_left_as_it_was_changes_nothing() {
    let mut browser = visitor();
    let (shown, body) = with(&mut browser, &[]);
    assert_eq!(body, json!({}));
    let place = format!("{PLACE}&done=saved");
    assert_eq!(shown.header("location"), Some(place.as_str()));
    assert!(browser.get(&place).text.contains("The tuning is saved"));
}

#[test]
fn a_description_of_several_lines_stays_as_it_is_although_the_field_has_one() {
    let mut browser = visitor();
    let mut lines = stored();
    lines["data"]["description"] = json!("Team A\nask ops");
    browser.api.answers("GET", PATH, 200, lines);
    let (_, body) = with(&mut browser, &[("description", "Team Aask ops")]);
    assert_eq!(body, json!({}));
}

#[test]
fn what_was_tuned_is_sent_in_the_form_that_the_api_takes() {
    let (_, body) = with(
        &mut visitor(),
        &[
            ("description", ""),
            ("default_lease_ttl", "3600"),
            ("max_lease_ttl", "2h"),
            ("token_type", "batch"),
            ("listing_visibility", "unauth"),
            ("audit_non_hmac_request_keys", ""),
            ("audit_non_hmac_response_keys", "a\r\nb"),
            ("identity_token_key", "default"),
            ("trim_request_trailing_slashes", "yes"),
        ],
    );
    assert_eq!(
        body,
        json!({ "description": "", "default_lease_ttl": 3600, "max_lease_ttl": "2h", "token_type": "batch",
            "listing_visibility": "unauth", "audit_non_hmac_request_keys": [], "audit_non_hmac_response_keys": ["a", "b"],
            "identity_token_key": "default", "trim_request_trailing_slashes": true })
    );
}

#[test]
fn an_emptied_lifetime_goes_back_to_that_of_the_server() {
    let (_, body) = with(&mut visitor(), &[("default_lease_ttl", "")]);
    assert_eq!(body, json!({ "default_lease_ttl": 0 }));
}

#[test]
fn a_saved_tuning_leaves_what_others_changed_meanwhile() {
    let mut browser = visitor();
    let page = browser.get(PLACE).text;
    let (_, rest) = page.split_once("name=\"shown\" value=\"").unwrap();
    let carried = rest.split('"').next().unwrap().replace("&quot;", "\"");
    let mut meanwhile = stored();
    meanwhile["data"]["token_type"] = json!("batch");
    browser.api.answers("GET", PATH, 200, meanwhile);
    let mut form = SHOWN.to_vec();
    form.retain(|(name, _)| *name != "description");
    form.extend([("description", "Theirs"), ("shown", &carried)]);
    browser.submit(PLACE, &form);
    let body = changes(&browser).remove(0).2;
    assert_eq!(body, json!({ "description": "Theirs" }));
}

#[test]
fn a_refused_tuning_keeps_what_was_filled_in() {
    let mut browser = visitor();
    let refusal = json!({ "errors": ["backend max lease TTL of 60 would be <less>"] });
    browser.api.answers("POST", PATH, 400, refusal);
    let (shown, _) = with(
        &mut browser,
        &[("max_lease_ttl", "60"), ("listing_visibility", "unauth")],
    );
    assert_eq!(shown.status, 400);
    for said in [
        "would be &lt;less&gt;",
        "name=\"max_lease_ttl\" type=\"text\" value=\"60\"",
        "value=\"unauth\" selected",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn the_type_of_tokens_is_not_asked_for_where_the_api_takes_none() {
    let mut browser = Browser::signed_in();
    let path = "/v1/sys/mounts/auth/token/tune";
    browser.api.answers("GET", path, 200, stored());
    browser.api.answers("POST", path, 204, json!(null));
    let place = "/ui/mounts/tune?mount=token";
    let shown = browser.get(place).text;
    assert!(
        shown.contains("name=\"max_lease_ttl\"") && !shown.contains("name=\"token_type\""),
        "{shown}"
    );
    let form = [("max_lease_ttl", "3600"), ("token_type", "batch")];
    browser.submit(place, &[&form[..], &SHOWN[..2]].concat());
    let body = &changes(&browser)[0].2;
    assert_eq!(body["max_lease_ttl"], json!(3600));
    assert_eq!(body.get("token_type"), None);
}

#[test]
fn every_mount_in_the_list_leads_to_its_tuning() {
    let mut browser = Browser::signed_in();
    let mounts =
        json!({ "data": { "team/gcp/": { "type": "gcp" }, "token/": { "type": "token" } } });
    browser.api.answers("GET", "/v1/sys/auth", 200, mounts);
    let shown = browser.get("/ui/mounts").text;
    for place in [PLACE, "/ui/mounts/tune?mount=token"] {
        assert!(shown.contains(&format!("href=\"{place}\"")), "{shown}");
    }
}
