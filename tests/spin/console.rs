//! The console under Spin: off unless a variable says otherwise, and the same session in every instance.

use gatehouse_tests::{Host, Installation, Storage, WORKLOAD};
use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::pages::{HOSTED, SELF_HOSTED, pages};

fn installation(host: Host, variables: &[&str], settings: &str) -> Installation {
    let mut program = host.program();
    let given = variables.iter().flat_map(|given| ["--variable", given]);
    program.arguments.splice(1..1, given.map(str::to_owned));
    Installation::start_program(program, Storage::Memory, settings).unwrap()
}

fn assert_a_visitor_signs_in_and_enables_the_method(host: Host) {
    let installation = installation(host, &["console=true"], "");
    let address = format!("http://{}", installation.address());
    let mut browser = Browser::at(&address);
    let shown = browser.get("/");
    assert_eq!((shown.status, shown.header("location")), (303, "/ui/"));
    let mut browser = Browser::signed_in(&address, installation.root_token());
    let overview = browser.get("/ui/");
    assert!(overview.text.contains("ready"), "{}", overview.text);
    assert!(
        overview
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    let fields = [("path", "by-console"), ("description", "<b>")];
    let shown = browser.submit("/ui/mounts", &fields);
    assert_eq!(
        shown.header("location"),
        "/ui/mounts/config?mount=by-console"
    );
    assert!(browser.get("/ui/mounts").text.contains("&lt;b&gt;"));
    let mounts = installation.as_root("GET", "/v1/sys/auth", None).json();
    assert_eq!(mounts["data"]["by-console/"]["type"], "gcp");
    let forged = [("form_key", "AAAAAAAAAAAAAAAAAAAAAA"), ("path", "forged")];
    assert_eq!(browser.post("/ui/mounts", &forged).status, 403);
    // The API beside the console still answers.
    let health = installation.as_root("GET", "/v1/sys/health", None);
    assert_eq!(health.status, 200);
}

#[test]
fn a_visitor_signs_in_and_enables_the_method() {
    assert_a_visitor_signs_in_and_enables_the_method(Host::Spin4);
}

#[test]
fn a_visitor_signs_in_and_enables_the_method_on_spin_3() {
    assert_a_visitor_signs_in_and_enables_the_method(Host::Spin3);
}

#[test]
fn no_page_is_there_unless_the_variable_says_so() {
    let installation = installation(Host::Spin4, &[], "");
    let mut browser = Browser::at(&format!("http://{}", installation.address()));
    for page in ["/", "/ui/", "/ui/style.css"] {
        assert_eq!(browser.get(page).status, 404, "{page}");
    }
}

/// Asserts the properties that every page of the console has, as the tests of the console do on our own server.
fn assert_is_a_page(page: &str, shown: &Shown, status: u16) {
    assert_eq!(shown.status, status, "{page}: {}", shown.text);
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(shown.header(name), value, "{page}: {name}");
    }
    let policy = shown.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{page}: {policy}");
    for mark in ["<h1>", "lang=\"en\""] {
        assert!(shown.text.contains(mark), "{page}: {mark}");
    }
    for inline in ["<script", "<style", " style=", " onclick=", "javascript:"] {
        assert!(!shown.text.contains(inline), "{page}: {inline}");
    }
}

fn assert_every_page_is_there(edition: &str, without: &[&str]) {
    let settings = format!("[organizations]\nedition = {edition:?}");
    let installation = installation(Host::Spin4, &["console=true"], &settings);
    installation.set_up_login().unwrap();
    let address = format!("http://{}", installation.address());
    let pages = pages(
        &|path, body| installation.as_root("POST", path, Some(body)),
        without,
    );
    let mut browser = Browser::signed_in(&address, installation.root_token());
    for (page, status) in &pages {
        let shown = browser.get(page);
        assert_is_a_page(page, &shown, *status);
        // The page that asks to sign in would pass these checks as well.
        let signs_in = page == "/ui/sign-in";
        assert_eq!(shown.text.contains("<h1>Sign in</h1>"), signs_in, "{page}");
        assert!(!shown.text.contains(installation.root_token()), "{page}");
    }
    let mut stranger = Browser::at(&address);
    for (page, _) in &pages {
        let shown = stranger.get(page);
        assert!(shown.text.contains("<h1>Sign in</h1>"), "{page}");
    }
    let described = browser.get("/ui/openapi.json");
    let described: Value = serde_json::from_str(&described.text).unwrap();
    assert!(described["paths"]["/auth/gcp/config"].is_object());
}

#[test]
fn every_page_of_the_table_is_there_and_marked_as_on_our_own_server() {
    assert_every_page_is_there("hosted", &SELF_HOSTED);
}

#[test]
fn every_page_of_the_other_edition_is_there_too() {
    assert_every_page_is_there("self-hosted", &HOSTED);
}

#[test]
fn a_role_a_policy_and_an_organization_that_were_made_on_pages_are_those_of_the_api() {
    let installation = installation(Host::Spin4, &["console=true"], "");
    installation.set_up_login().unwrap();
    let address = format!("http://{}", installation.address());
    let mut browser = Browser::signed_in(&address, installation.root_token());
    let data = |path: &str| installation.as_root("GET", path, None).json()["data"].take();
    let followed = |browser: &mut Browser, page: &str, fields: &[(&str, &str)]| {
        let shown = browser.submit(page, fields);
        assert_eq!(shown.status, 303, "{page}: {}", shown.text);
        browser.get(shown.header("location"))
    };

    let role = [
        ("name", "by-console"),
        ("type", "iam"),
        ("bound_service_accounts", WORKLOAD),
        ("token_policies", "demo"),
        ("token_ttl", "600"),
        ("token_type", "default"),
    ];
    followed(&mut browser, "/ui/roles/edit?mount=gcp", &role);
    let kept = data("/v1/auth/gcp/role/by-console");
    assert_eq!(kept["bound_service_accounts"], json!([WORKLOAD]));
    assert_eq!(kept["token_ttl"], 600);

    let text = "path \"auth/gcp/role/*\" {\n  capabilities = [\"read\"]\n}\n";
    let policy = [("name", "by-console"), ("policy", text)];
    followed(&mut browser, "/ui/policies/edit", &policy);
    assert_eq!(data("/v1/sys/policies/acl/by-console")["policy"], text);
    let mistaken = [("name", "bad"), ("policy", "path \"a\" {\n  oops\n}\n")];
    let shown = browser.submit("/ui/policies/edit", &mistaken);
    assert_eq!(shown.status, 400, "{}", shown.text);
    let absent = installation.as_root("GET", "/v1/sys/policies/acl/bad", None);
    assert_eq!(absent.status, 404);

    let organization = [("name", "by-console"), ("email", "ops@example.com")];
    let shown = followed(&mut browser, "/ui/organizations", &organization);
    assert!(shown.text.contains("ops@example.com"), "{}", shown.text);
    let kept = data("/api/v2/organizations/by-console");
    assert_eq!(kept["attributes"]["email"], "ops@example.com");
}
