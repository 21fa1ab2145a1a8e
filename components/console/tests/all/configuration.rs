//! The form of a mount's configuration: only the fields that were changed are sent.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::changes::{changes, replaced, sent_one};

const PLACE: &str = "/ui/mounts/config?mount=gcp";
/// The form as shown for [`stored`].
const SHOWN: &[(&str, &str)] = &[
    ("credentials", ""),
    ("identity_token_audience", ""),
    ("service_account_email", ""),
    ("identity_token_ttl", "3600"),
    ("iam_alias", "role_id"),
    ("gce_alias", "instance_id"),
    ("iam_metadata", "project_id\r\nrole"),
    ("gce_metadata", ""),
    ("rotation_period", "0"),
    ("rotation_schedule", "0 3 * * 6"),
    ("rotation_window", "600"),
    ("rotation_policy", ""),
    (
        "custom_endpoint",
        "crm=https://crm.example\r\niam=https://iam.example",
    ),
];

fn stored() -> Value {
    json!({ "data": {
        "client_email": "a@x.example", "credentials_source": "static",
        "custom_endpoint": { "iam": "https://iam.example", "crm": "https://crm.example" },
        "disable_automated_rotation": false, "gce_alias": "instance_id", "gce_metadata": [], "iam_alias": "role_id",
        "iam_metadata": ["project_id", "role"], "identity_token_audience": "", "identity_token_ttl": 3600,
        "rotation_period": 0, "rotation_policy": "", "rotation_schedule": "0 3 * * 6", "rotation_window": 600,
    } })
}

fn visitor() -> Browser {
    let browser = Browser::signed_in();
    browser
        .api
        .answers("GET", "/v1/auth/gcp/config", 200, stored());
    browser
        .api
        .answers("POST", "/v1/auth/gcp/config", 204, json!(null));
    browser
}

/// Sends the form with the values in `fields`.
fn with(browser: &mut Browser, fields: &[(&str, &str)]) -> (Shown, Value) {
    let (shown, (_, _, body)) = sent_one(browser, PLACE, &replaced(SHOWN, fields));
    (shown, body)
}

#[test]
fn the_configuration_is_shown_field_by_field() {
    let shown = visitor().get(PLACE);
    for said in [
        "crm=https://crm.example\niam=https://iam.example</textarea>",
        "project_id\nrole</textarea>",
        "value=\"0 3 * * 6\"",
        "value=\"instance_id\" selected",
        "name=\"disable_automated_rotation\" value=\"yes\"",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn a_form_that_was_left_as_it_was_changes_nothing() {
    let (shown, body) = with(&mut visitor(), &[]);
    assert_eq!(body, json!({}));
    assert_eq!(
        shown.header("location"),
        Some(format!("{PLACE}&done=saved").as_str())
    );
}

#[test]
fn what_was_changed_is_sent_in_the_form_that_the_api_takes() {
    let (_, body) = with(
        &mut visitor(),
        &[
            ("identity_token_ttl", "600"),
            ("iam_alias", "unique_id"),
            ("iam_metadata", "default"),
            ("gce_metadata", "zone\r\ninstance_id"),
            ("rotation_schedule", ""),
            ("rotation_period", "86400"),
            ("rotation_policy", "p"),
            ("disable_automated_rotation", "yes"),
        ],
    );
    assert_eq!(
        body,
        json!({ "identity_token_ttl": 600, "iam_alias": "unique_id", "iam_metadata": ["default"], "gce_metadata": ["zone", "instance_id"],
            "rotation_schedule": "", "rotation_period": 86400, "rotation_policy": "p", "disable_automated_rotation": true })
    );
}

#[test]
fn a_window_goes_with_its_schedule() {
    let (_, body) = with(&mut visitor(), &[("rotation_window", "60")]);
    assert_eq!(
        body,
        json!({ "rotation_window": 60, "rotation_schedule": "0 3 * * 6" })
    );
}

#[test]
fn an_endpoint_that_is_taken_out_is_sent_empty_and_one_that_stays_is_not_sent() {
    let lines =
        "iam=https://iam.example\r\ncrm = https://other.example \r\napi=https://api.example";
    let (_, body) = with(&mut visitor(), &[("custom_endpoint", lines)]);
    let endpoints = json!({ "crm": "https://other.example", "api": "https://api.example" });
    assert_eq!(body, json!({ "custom_endpoint": endpoints }));
    let (_, body) = with(&mut visitor(), &[("custom_endpoint", "")]);
    assert_eq!(body, json!({ "custom_endpoint": { "crm": "", "iam": "" } }));
}

#[test]
fn a_refused_configuration_keeps_what_was_filled_in_but_for_the_credentials() {
    let mut browser = visitor();
    let refusal = json!({ "errors": ["bad <schedule>"] });
    browser
        .api
        .answers("POST", "/v1/auth/gcp/config", 400, refusal);
    let changed = [
        ("rotation_schedule", "never"),
        ("credentials", "{\"private_key\":\"very secret\"}"),
    ];
    let (shown, _) = with(&mut browser, &changed);
    assert_eq!(shown.status, 400);
    for said in ["bad &lt;schedule&gt;", "value=\"never\"", "value=\"600\""] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert!(!shown.text.contains("very secret"));
}

#[test]
fn a_line_of_endpoints_without_an_address_is_named_and_nothing_is_written() {
    let mut browser = visitor();
    let shown = browser.submit(PLACE, &[("custom_endpoint", "https://iam.example")]);
    assert_eq!(shown.status, 400);
    assert!(shown.text.contains("has no = between"), "{}", shown.text);
    assert!(changes(&browser).is_empty());
}

#[test]
fn a_role_is_shown_and_written_with_its_alias_and_with_googles_part_in_a_login() {
    let mut browser = Browser::signed_in();
    let role =
        json!({ "data": { "type": "iam", "alias_source": "unique_id", "live_checks": false } });
    browser
        .api
        .answers("GET", "/v1/auth/gcp/role/web", 200, role);
    browser
        .api
        .answers("POST", "/v1/auth/gcp/role/web", 200, json!(null));
    let place = "/ui/roles/edit?mount=gcp&role=web";
    let ticked = "name=\"live_checks\" value=\"yes\" checked";
    let shown = browser.get(place).text;
    assert!(
        shown.contains("value=\"unique_id\" selected") && !shown.contains(ticked),
        "{shown}"
    );
    let form = [
        ("type", "iam"),
        ("alias_source", ""),
        ("live_checks", "yes"),
    ];
    browser.submit(place, &form);
    let body = changes(&browser).remove(0).2;
    assert_eq!(
        (&body["alias_source"], &body["live_checks"]),
        (&json!(""), &json!(true))
    );
    // The API returns the field only where it is off.
    browser.api.answers(
        "GET",
        "/v1/auth/gcp/role/web",
        200,
        json!({ "data": { "type": "iam" } }),
    );
    assert!(browser.get(place).text.contains(ticked));
    assert!(
        browser
            .get("/ui/roles/edit?mount=gcp")
            .text
            .contains(ticked)
    );
}

/// The value of the hidden field in which the form on `page` carries the values that it showed.
fn carried(page: &Shown) -> String {
    let (_, rest) = page.text.split_once("name=\"shown\" value=\"").unwrap();
    rest.split('"').next().unwrap().replace("&quot;", "\"")
}

#[test]
fn a_saved_configuration_leaves_what_others_changed_meanwhile() {
    let mut browser = visitor();
    let shown = carried(&browser.get(PLACE));
    let mut meanwhile = stored();
    meanwhile["data"]["rotation_policy"] = json!("theirs");
    browser
        .api
        .answers("GET", "/v1/auth/gcp/config", 200, meanwhile);
    let mut form = SHOWN.to_vec();
    form.retain(|(name, _)| *name != "identity_token_ttl");
    form.extend([("identity_token_ttl", "600"), ("shown", &shown)]);
    browser.submit(PLACE, &form);
    assert_eq!(
        changes(&browser).remove(0).2,
        json!({ "identity_token_ttl": 600 })
    );
}

#[test]
fn a_saved_role_is_sent_what_differs_from_what_its_form_showed() {
    let mut browser = Browser::signed_in();
    let place = "/ui/roles/edit?mount=gcp&role=web";
    let role = |policies: Value| {
        json!({ "data": { "type": "iam", "token_policies": policies, "max_jwt_exp": 600, "token_ttl": 60,
            "bound_projects": ["p"], "token_type": "default" } })
    };
    let path = "/v1/auth/gcp/role/web";
    browser.api.answers("GET", path, 200, role(json!(["ops"])));
    browser.api.answers("POST", path, 200, json!(null));
    let shown = carried(&browser.get(place));
    browser
        .api
        .answers("GET", path, 200, role(json!(["of-others"])));
    let form = [
        ("type", "iam"),
        ("token_policies", "ops\r\n"),
        ("max_jwt_exp", ""),
        ("token_ttl", "60"),
        ("bound_projects", ""),
        ("token_type", "default"),
        ("allow_gce_inference", "yes"),
        ("live_checks", "yes"),
        ("shown", &shown),
    ];
    browser.submit(place, &form);
    assert_eq!(
        changes(&browser).remove(0).2,
        json!({ "max_jwt_exp": 0, "bound_projects": [] })
    );
}

#[test]
fn the_word_yes_in_a_field_of_text_stays_after_a_refusal() {
    let refusal = json!({ "errors": ["no"] });
    let mut browser = visitor();
    browser.api.answers("POST", "/v1/auth/gcp/", 400, refusal);
    let (shown, _) = with(&mut browser, &[("rotation_policy", "yes")]);
    assert!(
        shown.text.contains("value=\"yes\" autocomplete"),
        "{}",
        shown.text
    );
    let form = [("name", "yes"), ("type", "iam"), ("live_checks", "yes")];
    let shown = browser.submit("/ui/roles/edit?mount=gcp", &form).text;
    assert!(
        shown.contains("name=\"name\" type=\"text\" value=\"yes\""),
        "{shown}"
    );
    assert!(
        shown.contains("name=\"live_checks\" value=\"yes\" checked"),
        "{shown}"
    );
    assert!(
        !shown.contains("name=\"refuse_replay\" value=\"yes\" checked"),
        "{shown}"
    );
}
