//! The console of a running server, as a browser without scripts uses it.

mod browser;
mod chromium;
mod fields;
mod pages;
mod people;
mod self_hosted;
mod sessions;
mod traces;

use std::sync::LazyLock;

use gatehouse_tests::{DevServer, Google};
use serde_json::{Value, json};

use browser::Browser;

static SERVER: LazyLock<DevServer> = LazyLock::new(|| started(&[]));

/// A server that takes any number of requests: all tests use one token, and each page calls the API several times.
fn started(arguments: &[&str]) -> DevServer {
    let server = DevServer::start(arguments).unwrap();
    let unlimited = json!({ "data": { "type": "general-settings", "attributes": { "api-rate-limiting-enabled": false } } });
    let path = "/api/v2/admin/general-settings";
    let done = server.as_root("PATCH", path, Some(&unlimited));
    assert_eq!(done.status, 200);
    server
}

fn google() -> &'static Google {
    &SERVER.google
}

/// A JWT with a made-up signature.
fn unsigned_jwt() -> String {
    // {"alg":"RS256","kid":"none"} and {"sub":"nobody"}
    "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vbmUifQ.eyJzdWIiOiJub2JvZHkifQ.AAAA".to_owned()
}

fn data(path: &str) -> Value {
    SERVER.as_root("GET", path, None).json()["data"].clone()
}

#[test]
fn a_browser_is_led_to_the_console_and_other_clients_are_not() {
    let mut browser = Browser::at(SERVER.process.address());
    let shown = browser.get("/");
    assert_eq!((shown.status, shown.header("location")), (303, "/ui/"));
    assert_eq!(SERVER.as_root("GET", "/", None).status, 404);
    assert_eq!(browser.get("/ui/").status, 200);
}

#[test]
fn a_visitor_signs_in_enables_the_method_and_makes_a_role() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let overview = browser.get("/ui/");
    assert!(overview.text.contains("ready"), "{}", overview.text);
    assert!(!overview.text.contains("<script"));
    assert!(
        overview
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );

    let shown = browser.submit(
        "/ui/mounts",
        &[("path", "by-console"), ("description", "<b>")],
    );
    assert_eq!(
        shown.header("location"),
        "/ui/mounts/config?mount=by-console",
        "{}",
        shown.text
    );
    assert_eq!(data("/v1/sys/auth")["by-console/"]["type"], "gcp");
    assert!(browser.get("/ui/mounts").text.contains("&lt;b&gt;"));
    assert!(browser.get("/ui/").text.contains("by-console has no role"));

    let account = &google().service_accounts[0];
    let shown = browser.submit(
        "/ui/roles/edit?mount=by-console",
        &[
            ("name", "web"),
            ("type", "iam"),
            ("bound_service_accounts", &account.email),
            ("bound_projects", &account.project_id),
            ("live_checks", "yes"),
            ("token_policies", "default"),
            ("token_ttl", "600"),
            ("token_type", "default"),
        ],
    );
    assert_eq!(shown.status, 303, "{}", shown.text);
    let role = data("/v1/auth/by-console/role/web");
    assert_eq!(role["bound_service_accounts"], json!([account.email]));
    assert_eq!(role["token_ttl"], 600);

    let edited = "/ui/roles/edit?mount=by-console&role=web";
    assert!(browser.get(edited).text.contains(&account.email));
    let shown = browser.submit(
        edited,
        &[
            ("type", "iam"),
            ("bound_service_accounts", &account.email),
            ("token_ttl", "900"),
            ("live_checks", "yes"),
            ("max_jwt_exp", "600"),
            ("token_type", "service"),
        ],
    );
    assert_eq!(shown.status, 303, "{}", shown.text);
    let role = data("/v1/auth/by-console/role/web");
    assert_eq!(
        (role["token_ttl"].clone(), role["bound_projects"].clone()),
        (json!(900), Value::Null)
    );
}

#[test]
fn a_mount_is_tuned_and_goes_back_to_what_the_server_sets() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let enabled = json!({ "type": "gcp" });
    let made = SERVER.as_root("POST", "/v1/sys/auth/tuned", Some(&enabled));
    assert_eq!(made.status, 204);
    let page = "/ui/mounts/tune?mount=tuned";
    let fields = [
        ("description", "Ours"),
        ("default_lease_ttl", "600"),
        ("max_lease_ttl", "1h"),
        ("token_type", "batch"),
        ("listing_visibility", "unauth"),
        ("audit_non_hmac_request_keys", "role"),
    ];
    let shown = browser.submit(page, &fields);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let shown = browser.get(shown.header("location"));
    assert!(shown.text.contains("The tuning is saved"), "{}", shown.text);
    let mount = data("/v1/sys/auth")["tuned/"].clone();
    assert_eq!(mount["description"], "Ours");
    let config = &mount["config"];
    assert_eq!(config["default_lease_ttl"], 600);
    assert_eq!(config["max_lease_ttl"], 3600);
    assert_eq!(config["token_type"], "batch");
    assert_eq!(config["listing_visibility"], "unauth");
    assert_eq!(config["audit_non_hmac_request_keys"], json!(["role"]));

    let emptied = fields.map(|(name, value)| match name {
        "token_type" => (name, value),
        _ => (name, ""),
    });
    let shown = browser.submit(page, &emptied);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let mount = data("/v1/sys/auth")["tuned/"].clone();
    assert_eq!(mount["description"], "");
    let config = &mount["config"];
    assert_eq!(config["default_lease_ttl"], 0);
    assert_eq!(config["max_lease_ttl"], 0);
    assert_eq!(config["listing_visibility"], Value::Null);
    assert_eq!(config["audit_non_hmac_request_keys"], Value::Null);

    let refused = browser.submit(
        page,
        &[("max_lease_ttl", "10"), ("default_lease_ttl", "20")],
    );
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("would be less"), "{}", refused.text);
}

#[test]
fn a_refused_login_is_explained() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let jwt = unsigned_jwt();
    let fields = [("mount", "gcp"), ("role", "dev"), ("jwt", jwt.as_str())];
    let shown = browser.submit("/ui/explain", &fields);
    assert_eq!(shown.status, 200, "{}", shown.text);
    assert!(
        shown.text.contains("This login is refused"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("<span class=\"failed\">failed</span>"));
    assert!(!shown.text.contains(&jwt));
}

#[test]
fn a_policy_is_written_and_a_mistake_is_shown_with_its_line() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let good = "path \"auth/gcp/role/*\" {\n  capabilities = [\"read\"]\n}\n";
    let fields = [("name", "by-console"), ("policy", good)];
    let shown = browser.submit("/ui/policies/edit", &fields);
    assert_eq!(shown.status, 303, "{}", shown.text);
    assert_eq!(data("/v1/sys/policies/acl/by-console")["policy"], good);

    let bad = "path \"a\" {\n  capabilities = oops\n}\n";
    let shown = browser.submit("/ui/policies/edit", &[("name", "bad"), ("policy", bad)]);
    assert_eq!(shown.status, 400);
    assert!(shown.text.contains("Line 2:"), "{}", shown.text);

    let fields = [("paths", "auth/gcp/role/web")];
    let shown = browser.submit("/ui/capabilities", &fields);
    assert!(shown.text.contains("root"), "{}", shown.text);
}

#[test]
fn an_organization_is_made_and_found() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let fields = [("name", "by-console"), ("email", "ops@example.com")];
    let shown = browser.submit("/ui/organizations", &fields);
    assert_eq!(
        shown.header("location"),
        "/ui/organizations/show?name=by-console",
        "{}",
        shown.text
    );
    let listed = browser.get("/ui/organizations?q=by-cons");
    assert!(
        listed.text.contains("show?name=by-console"),
        "{}",
        listed.text
    );
    let one = browser.get("/ui/organizations/show?name=by-console");
    assert!(one.text.contains("ops@example.com"), "{}", one.text);
    let teams = browser.get("/ui/organizations/teams?name=by-console");
    assert!(teams.text.contains("owners"), "{}", teams.text);
    let made = SERVER.as_root("GET", "/api/v2/organizations/by-console", None);
    assert_eq!(made.status, 200);
}

#[test]
fn every_other_page_is_there() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    for page in [
        "/ui/mounts/check?mount=gcp",
        "/ui/mounts/config?mount=gcp",
        "/ui/mounts/tune?mount=gcp",
        "/ui/roles?mount=gcp",
        "/ui/policies",
        "/ui/tokens",
        "/ui/leases",
        "/ui/leases?prefix=auth",
        "/ui/identity",
        "/ui/site",
        "/ui/site/organizations",
        "/ui/openapi.json",
        "/ui/style.css",
    ] {
        let shown = browser.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
    }
}

#[test]
fn h16_a_forged_form_changes_nothing() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let fields = [("form_key", "AAAAAAAAAAAAAAAAAAAAAA"), ("path", "forged")];
    assert_eq!(browser.post("/ui/mounts", &fields).status, 403);
    assert_eq!(data("/v1/sys/auth")["forged/"], Value::Null);
}

#[test]
fn a_body_beyond_what_the_server_reads_is_answered_by_a_page() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let huge = "a".repeat(1 << 20);
    let shown = browser.post("/ui/explain", &[("jwt", &huge)]);
    assert_eq!(shown.status, 413);
    assert!(
        shown
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    for said in [
        "<h1>The server could not answer this</h1>",
        "the request body is too large",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn signing_out_with_revocation_ends_the_token() {
    let made = SERVER.as_root(
        "POST",
        "/v1/auth/token/create",
        Some(&json!({ "policies": ["default"] })),
    );
    let token = made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut browser = Browser::at(SERVER.process.address());
    browser.submit("/ui/sign-in", &[("by", "token"), ("token", &token)]);
    let shown = browser.get("/ui/");
    let key = shown
        .text
        .split_once("name=\"form_key\" value=\"")
        .unwrap()
        .1;
    let key = key.split('"').next().unwrap();
    let shown = browser.post("/ui/sign-out", &[("form_key", key), ("revoke", "yes")]);
    assert!(shown.text.contains("You are signed out"), "{}", shown.text);
    let looked = SERVER
        .process
        .send("GET", "/v1/auth/token/lookup-self", Some(&token), None);
    assert_eq!(looked.status, 403);
    assert!(
        browser
            .get("/ui/policies")
            .text
            .contains("<h1>Sign in</h1>")
    );
}
