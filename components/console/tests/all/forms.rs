//! Forms: a form that no page of the session made is refused, and so is one beyond the limit.

use serde_json::json;

use crate::browser::Browser;
use crate::changes::changes;

const ENABLE: [(&str, &str); 2] = [("path", "gcp"), ("description", "")];

fn refused(browser: &mut Browser, fields: &[(&str, &str)]) {
    browser.api.sent();
    let shown = browser.post("/ui/mounts", fields);
    assert_eq!(shown.status, 403);
    assert!(shown.text.contains("not made in your session"));
    assert!(browser.api.sent().is_empty(), "nothing is carried out");
}

#[test]
fn h16_a_form_without_the_key_of_the_session_is_refused() {
    let mut browser = Browser::signed_in();
    refused(&mut browser, &ENABLE);
    refused(
        &mut browser,
        &[&[("form_key", "AAAA")], &ENABLE[..]].concat(),
    );
}

#[test]
fn h16_a_form_of_an_earlier_session_is_refused() {
    let mut browser = Browser::signed_in();
    let key = browser.get("/ui/mounts").form_key();
    browser.submit("/ui/sign-out", &[]);
    browser.submit("/ui/sign-in", &[("by", "token"), ("token", "hvs.another")]);
    refused(
        &mut browser,
        &[&[("form_key", key.as_str())], &ENABLE[..]].concat(),
    );
}

#[test]
fn h16_a_form_that_was_carried_out_is_not_carried_out_again() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("POST", "/v1/sys/auth/", 204, json!(null));
    let token = json!({ "data": { "attributes": { "token": "abc.atlasv1.made" } } });
    api.answers("POST", "/api/v2/organizations/acme/", 201, token);
    let organization = json!({ "data": { "attributes": { "name": "acme" } } });
    api.answers("GET", "/api/v2/organizations/acme", 200, organization);
    for (place, fields, status) in [
        ("/ui/mounts", &ENABLE[..], 303),
        (
            "/ui/organizations/token?name=acme",
            &[("kind", "organization")][..],
            200,
        ),
    ] {
        let key = browser.get("/ui/mounts").form_key();
        let form = [&[("form_key", key.as_str())], fields].concat();
        assert_eq!(browser.post(place, &form).status, status, "{place}");
        assert_eq!(changes(&browser).len(), 1, "{place}");
        let shown = browser.post(place, &form);
        assert_eq!(shown.status, 409, "{place}");
        assert!(shown.text.contains("not again now"), "{}", shown.text);
        assert!(!shown.text.contains("abc.atlasv1.made"));
        assert!(changes(&browser).is_empty(), "{place}");
        // The same content in a freshly loaded form counts as another form.
        assert_eq!(browser.submit(place, fields).status, status, "{place}");
        assert_eq!(changes(&browser).len(), 1, "{place}");
    }
}

#[test]
fn a_form_that_was_refused_or_asks_only_may_be_sent_again() {
    let mut browser = Browser::signed_in();
    let error = json!({ "errors": ["path is already in use"] });
    browser.api.answers("POST", "/v1/sys/auth/", 400, error);
    let explained = json!({ "data": { "allowed": true, "checks": [] } });
    let place = "/v1/auth/gcp/login/explain";
    browser.api.answers("POST", place, 200, explained);
    let explain = [("mount", "gcp"), ("role", "web"), ("jwt", "a.b.c")];
    for (place, fields, status) in [
        ("/ui/mounts", &ENABLE[..], 400),
        ("/ui/explain", &explain[..], 200),
    ] {
        let key = browser.get("/ui/mounts").form_key();
        let form = [&[("form_key", key.as_str())], fields].concat();
        for _ in 0..2 {
            assert_eq!(browser.post(place, &form).status, status, "{place}");
            assert_eq!(changes(&browser).len(), 1, "{place}");
        }
    }
}

#[test]
fn a_short_form_that_is_refused_keeps_what_was_typed() {
    let mut browser = Browser::signed_in();
    let denied = json!({ "errors": ["permission denied"] });
    browser.api.answers("POST", "/v1/", 403, denied);
    let mounts = json!({ "data": {} });
    browser.api.answers("GET", "/v1/sys/auth", 200, mounts);
    for (place, fields, kept) in [
        (
            "/ui/mounts",
            &[("path", "typed-1"), ("description", "typed-2")][..],
            &["value=\"typed-1\"", "value=\"typed-2\""][..],
        ),
        (
            "/ui/tokens",
            &[("accessor", "typed-1")],
            &["value=\"typed-1\""],
        ),
        (
            "/ui/capabilities",
            &[("accessor", "typed-1"), ("paths", "typed-2\r\ntyped-3")],
            &["value=\"typed-1\"", "typed-2\r\ntyped-3"],
        ),
        (
            "/ui/explain",
            &[("mount", "typed-1"), ("role", "typed-2"), ("jwt", "a.b.c")],
            &["value=\"typed-1\"", "value=\"typed-2\""],
        ),
    ] {
        let shown = browser.submit(place, fields);
        assert_eq!(shown.status, 403, "{place}");
        assert!(shown.text.contains("permission denied"), "{}", shown.text);
        for kept in kept {
            assert!(shown.text.contains(kept), "{kept}: {}", shown.text);
        }
        assert!(!shown.text.contains("a.b.c"), "a JWT is not kept");
    }
}

#[test]
fn the_capabilities_are_those_of_the_token_that_the_accessor_names() {
    let mut browser = Browser::signed_in();
    for (accessor, path) in [
        ("", "/v1/sys/capabilities-self"),
        ("a-1", "/v1/sys/capabilities-accessor"),
    ] {
        let answer =
            json!({ "data": { "auth/gcp/role/web": ["read", "list"], "sys/auth": ["deny"] } });
        browser.api.answers("POST", path, 200, answer);
        let form = [
            ("accessor", accessor),
            ("paths", "auth/gcp/role/web\r\nsys/auth"),
        ];
        let shown = browser.submit("/ui/capabilities", &form);
        assert!(shown.text.contains("<td>read, list</td>"), "{}", shown.text);
        let denied = "<code>sys/auth</code></th><td><span class=\"failed\">nothing</span>";
        assert!(shown.text.contains(denied), "{}", shown.text);
        let asked = changes(&browser).remove(0);
        assert_eq!(asked.1, path);
        assert_eq!(asked.2["paths"], json!(["auth/gcp/role/web", "sys/auth"]));
        assert_eq!(asked.2.get("accessor").is_some(), !accessor.is_empty());
    }
}

#[test]
fn a_check_names_each_permission_and_whether_google_grants_it() {
    let mut browser = Browser::signed_in();
    let answer = json!({ "data": { "permissions": [
        { "permission": "iam.serviceAccounts.get", "granted": true },
        { "permission": "compute.instances.get", "granted": false, "advice": "grant roles/compute.viewer" },
    ] } });
    browser
        .api
        .answers("GET", "/v1/auth/gcp/config/check", 200, answer);
    let shown = browser.get("/ui/mounts/check?mount=gcp").text;
    for said in [
        "<dd>iam.serviceAccounts.get</dd>",
        "<dt>granted</dt><dd>true</dd>",
        "<dt>granted</dt><dd>false</dd>",
        "grant roles/compute.viewer",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

#[test]
fn h16_a_form_of_another_origin_is_refused_even_with_the_key() {
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let mut browser = Browser::signed_in();
        let key = browser.get("/ui/mounts").form_key();
        browser.headers = vec![(name.to_owned(), value.as_bytes().to_vec())];
        refused(
            &mut browser,
            &[&[("form_key", key.as_str())], &ENABLE[..]].concat(),
        );
    }
}

#[test]
fn h16_a_form_beyond_the_bound_is_not_read() {
    let mut browser = Browser::signed_in();
    browser.api.sent();
    let shown = browser.send("POST", "/ui/explain", vec![b'a'; 512 * 1024 + 1]);
    assert_eq!(shown.status, 413);
    assert!(browser.api.sent().is_empty());
}

#[test]
fn a_huge_paste_in_place_of_a_jwt_is_not_sent_on() {
    let mut browser = Browser::signed_in();
    let huge = "a".repeat(64 * 1024 + 1);
    let shown = browser.submit("/ui/explain", &[("mount", "gcp"), ("jwt", &huge)]);
    assert_eq!(shown.status, 413);
    assert!(shown.text.contains("longer than any JWT"));
    assert!(!shown.text.contains("aaaaaaaa"));
    let sent = browser.api.sent();
    assert!(
        !sent
            .iter()
            .any(|request| request.target.contains("explain"))
    );
}

#[test]
fn a_huge_paste_does_not_sign_in_and_is_not_sent_on() {
    let mut browser = Browser::at_server(1);
    for (length, is_sent) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
        let pasted = "a".repeat(length);
        let form = [
            ("by", "jwt"),
            ("mount", "gcp"),
            ("role", "web"),
            ("jwt", &pasted),
        ];
        let shown = browser.submit("/ui/sign-in", &form);
        let mut sent = browser.api.sent().into_iter();
        assert_eq!(sent.any(|it| it.target.contains("login")), is_sent);
        assert!(!shown.text.contains("aaaaaaaa"));
        if !is_sent {
            assert_eq!(shown.status, 413);
            assert!(shown.text.contains("longer than any JWT"));
            assert!(shown.text.contains("<h1>Sign in</h1>"));
        }
    }
}

#[test]
fn a_login_is_explained_check_by_check() {
    let mut browser = Browser::signed_in();
    browser.api.answers(
        "POST",
        "/v1/auth/gcp/login/explain",
        200,
        json!({ "data": { "allowed": false, "checks": [
            { "check": "role", "inputs": { "role": "web" }, "verdict": "passed" },
            { "check": "bound_account", "inputs": { "account": "<b>x</b>" }, "verdict": "failed", "reason": "not bound" },
            { "check": "replay", "inputs": {}, "verdict": "not_run" },
        ] } }),
    );
    let form = [("mount", "gcp"), ("role", "web"), ("jwt", "a.b.c")];
    let shown = browser.submit("/ui/explain", &form);
    assert_eq!(shown.status, 200);
    for said in [
        "This login is refused",
        "bound account",
        "not bound",
        "&lt;b&gt;x",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert!(!shown.text.contains("a.b.c"));
}

#[test]
fn a_method_is_enabled_and_its_credentials_are_never_shown_again() {
    let mut browser = Browser::signed_in();
    browser
        .api
        .answers("POST", "/v1/sys/auth/gcp", 204, json!(null));
    let shown = browser.submit("/ui/mounts", &ENABLE);
    assert_eq!(
        shown.header("location"),
        Some("/ui/mounts/config?mount=gcp")
    );
    browser
        .api
        .answers("POST", "/v1/auth/gcp/config", 204, json!(null));
    let key = "{\"private_key\":\"very secret\"}";
    let shown = browser.submit("/ui/mounts/config?mount=gcp", &[("credentials", key)]);
    let place = "/ui/mounts/config?mount=gcp&done=saved";
    assert_eq!(shown.header("location"), Some(place));
    let shown = browser.get(place);
    assert!(shown.text.contains("The configuration is saved"));
    assert!(shown.text.contains("href=\"/ui/roles?mount=gcp\""));
    assert!(!shown.text.contains("very secret"));
    let sent = browser.api.sent();
    let write = sent
        .iter()
        .find(|request| request.method == "POST" && request.target == "/v1/auth/gcp/config");
    let body: serde_json::Value = serde_json::from_slice(&write.unwrap().body).unwrap();
    assert_eq!(body, json!({ "credentials": key }));
}

#[test]
fn a_role_is_made_of_what_was_filled_in() {
    let mut browser = Browser::signed_in();
    browser
        .api
        .answers("POST", "/v1/auth/gcp/role/web", 204, json!(null));
    let form = [
        ("name", "web"),
        ("type", "iam"),
        (
            "bound_service_accounts",
            "a@x.example\r\nb@x.example \r\n\r\nc@x.example",
        ),
        ("bound_zones", "left-over"),
        ("token_ttl", "3600"),
        ("live_checks", "yes"),
        ("refuse_replay", "yes"),
        ("token_type", "default"),
    ];
    let shown = browser.submit("/ui/roles/edit?mount=gcp&role=", &form);
    assert_eq!(
        shown.header("location"),
        Some("/ui/roles/edit?mount=gcp&role=web&done=saved")
    );
    let body = changes(&browser).remove(0).2;
    assert_eq!(
        body,
        json!({
            "type": "iam", "live_checks": true,
            "bound_service_accounts": ["a@x.example", "b@x.example", "c@x.example"],
            "token_ttl": "3600", "refuse_replay": true, "token_type": "default",
            "allow_gce_inference": false, "add_group_aliases": false, "token_no_default_policy": false,
        })
    );
}

#[test]
fn a_mistake_in_a_policy_is_shown_with_its_line() {
    let mut browser = Browser::signed_in();
    browser.api.answers(
        "POST",
        "/v1/sys/policies/acl/ops",
        400,
        json!({ "errors": ["failed to parse policy: At 2:3: unexpected token"] }),
    );
    let text = "path \"a\" {\r\n  <oops>\r\n}";
    let shown = browser.submit("/ui/policies/edit", &[("name", "ops"), ("policy", text)]);
    assert_eq!(shown.status, 400);
    assert!(shown.text.contains("Line 2:"), "{}", shown.text);
    assert!(shown.text.contains("&lt;oops&gt;") && !shown.text.contains("<oops>"));
}

#[test]
fn nothing_is_disabled_or_deleted_before_its_name_was_typed() {
    let mut browser = Browser::signed_in();
    let shown = browser.submit("/ui/mounts/disable", &[("path", "gcp")]);
    assert!(shown.text.contains("cannot be undone"));
    browser.submit(
        "/ui/leases/revoke",
        &[("prefix", "auth/gcp"), ("typed", "auth")],
    );
    browser.submit(
        "/ui/organizations/delete?name=acme",
        &[("deleted", "acme"), ("typed", "acm")],
    );
    let sent = browser.api.sent();
    assert!(
        sent.iter().all(|request| request.method == "GET"),
        "{sent:?}"
    );
}

#[test]
fn a_box_that_is_on_by_default_is_ticked_on_a_new_role() {
    let mut browser = Browser::signed_in();
    let ticked = "name=\"allow_gce_inference\" value=\"yes\" checked";
    let shown = browser.get("/ui/roles/edit?mount=gcp");
    assert!(shown.text.contains(ticked), "{}", shown.text);
    let role = json!({ "data": { "type": "iam", "allow_gce_inference": false } });
    browser
        .api
        .answers("GET", "/v1/auth/gcp/role/web", 200, role);
    let shown = browser.get("/ui/roles/edit?mount=gcp&role=web");
    assert!(!shown.text.contains(ticked), "{}", shown.text);
}

#[test]
fn making_takes_no_name_that_is_in_use_or_may_be() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("POST", "/v1/", 204, json!(null));
    api.answers(
        "GET",
        "/v1/sys/policies/acl/ops",
        200,
        json!({ "data": { "policy": "" } }),
    );
    api.answers(
        "GET",
        "/v1/auth/gcp/role/web",
        200,
        json!({ "data": { "type": "iam" } }),
    );
    let role = [
        ("name", "web"),
        ("type", "iam"),
        ("bound_projects", "typed"),
    ];
    let forms: [(&str, &[(&str, &str)]); 2] = [
        (
            "/ui/policies/edit",
            &[("name", "Ops"), ("policy", "# typed")],
        ),
        ("/ui/roles/edit?mount=gcp", &role),
    ];
    for (place, form) in forms {
        let shown = browser.submit(place, form);
        assert_eq!(shown.status, 409, "{place}");
        for said in ["the name is in use", "typed"] {
            assert!(shown.text.contains(said), "{said}: {}", shown.text);
        }
    }
    let denied = json!({ "errors": ["permission denied"] });
    browser
        .api
        .answers("GET", "/v1/auth/gcp/role/web", 403, denied);
    let shown = browser.submit("/ui/roles/edit?mount=gcp", &role);
    assert_eq!(shown.status, 403);
    assert!(shown.text.contains("nothing was written"), "{}", shown.text);
    assert!(changes(&browser).is_empty());
}

#[test]
fn what_names_no_mount_or_organization_is_answered_by_what_is_missing() {
    let mut browser = Browser::signed_in();
    browser.api.sent();
    for (page, missing) in [
        ("/ui/roles", "mount"),
        ("/ui/roles/edit", "mount"),
        ("/ui/mounts/config", "mount"),
        ("/ui/mounts/check", "mount"),
        ("/ui/mounts/tune", "mount"),
        ("/ui/organizations/show", "name"),
        ("/ui/identity/entity", "name"),
    ] {
        let shown = browser.get(page);
        assert_eq!(shown.status, 400, "{page}");
        let said = format!("The {missing} is missing");
        assert!(shown.text.contains(&said), "{page}: {}", shown.text);
    }
    assert!(browser.api.sent().is_empty());
    let forms = [
        "/ui/mounts",
        "/ui/explain",
        "/ui/leases/revoke",
        "/ui/tokens",
    ];
    for form in forms {
        assert_eq!(browser.submit(form, &[]).status, 400, "{form}");
    }
    assert!(changes(&browser).is_empty());
}

#[test]
fn what_was_typed_otherwise_is_told_to_have_done_nothing() {
    let mut browser = Browser::signed_in();
    let fields = [("prefix", "auth/gcp"), ("typed", "auth/gc")];
    let shown = browser.submit("/ui/leases/revoke", &fields);
    assert_eq!(shown.status, 400);
    assert!(shown.text.contains("nothing was revoked"), "{}", shown.text);
    let fields = [("path", "gcp"), ("typed", "gc")];
    let shown = browser.submit("/ui/mounts/disable", &fields);
    assert_eq!(shown.status, 400);
    assert!(
        shown.text.contains("nothing was disabled"),
        "{}",
        shown.text
    );
    assert!(changes(&browser).is_empty());
}

#[test]
fn a_mount_is_enabled_at_its_path_with_or_without_the_word_auth_before_it() {
    let mut browser = Browser::signed_in();
    browser
        .api
        .answers("POST", "/v1/sys/auth/", 204, json!(null));
    browser.submit("/ui/mounts", &[("path", "auth/m3/")]);
    assert_eq!(changes(&browser)[0].1, "/v1/sys/auth/m3");
}
