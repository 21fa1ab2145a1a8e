//! Lists: names of whatever letters are shown as text, and long ones come in pages.

use serde_json::json;

use crate::browser::Browser;

const HOSTILE: &str = "\"><script>alert(1)</script>&'/../?#%";

#[test]
fn h15_a_hostile_name_is_text_in_every_list_and_whole_in_every_link() {
    let mut browser = Browser::signed_in();
    let keys = json!({ "data": { "keys": [HOSTILE] } });
    for list in [
        "/v1/auth/gcp/role",
        "/v1/sys/policies/acl",
        "/v1/auth/token/accessors",
        "/v1/sys/leases/lookup",
        "/v1/identity/entity/name",
        "/v1/identity/group/name",
    ] {
        browser.api.answers("LIST", list, 200, keys.clone());
    }
    let mounts = json!({ "data": { HOSTILE: { "type": "gcp", "description": HOSTILE } } });
    browser.api.answers("GET", "/v1/sys/auth", 200, mounts);
    let entity = json!({ "data": { "name": HOSTILE, "metadata": { HOSTILE: HOSTILE },
        "aliases": [{ "name": HOSTILE, "mount_path": HOSTILE }] } });
    browser
        .api
        .answers("GET", "/v1/identity/entity", 200, entity);
    let organizations =
        json!({ "data": [{ "id": HOSTILE, "attributes": { "name": HOSTILE, "email": HOSTILE } }] });
    browser
        .api
        .answers("GET", "/api/v2/organizations", 200, organizations);
    let error = json!({ "errors": [HOSTILE] });
    browser
        .api
        .answers("GET", "/v1/auth/broken/config/check", 400, error);
    for page in [
        "/ui/",
        "/ui/mounts",
        "/ui/roles?mount=gcp",
        "/ui/policies",
        "/ui/tokens",
        "/ui/leases",
        "/ui/identity",
        "/ui/identity/entity?name=x",
        "/ui/organizations",
        "/ui/organizations?q=%22%3E%3Cscript%3E",
        "/ui/mounts/check?mount=broken",
        "/ui/mounts/config?mount=%22%3E%3Cscript%3E",
        "/ui/roles/edit?mount=%22%3E%3Cscript%3E",
    ] {
        let shown = browser.get(page);
        assert!(!shown.text.contains("<script"), "{page}: {}", shown.text);
        assert!(!shown.text.contains("href=\"\""), "{page}");
    }
    let roles = browser.get("/ui/roles?mount=gcp").text;
    assert!(
        roles.contains("role=%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26%27%2F..%2F%3F%23%25"),
        "{roles}"
    );
}

#[test]
fn a_list_goes_on_after_its_last_name() {
    let mut browser = Browser::signed_in();
    let names: Vec<String> = (0..100).map(|number| format!("role-{number:03}")).collect();
    let full = json!({ "data": { "keys": names } });
    browser
        .api
        .answers("LIST", "/v1/auth/gcp/role?limit=100&after=", 200, full);
    let shown = browser.get("/ui/roles?mount=gcp");
    assert!(
        shown
            .text
            .contains("/ui/roles?mount=gcp&amp;after=role-099")
    );
    let rest = json!({ "data": { "keys": ["role-100"] } });
    browser.api.answers(
        "LIST",
        "/v1/auth/gcp/role?limit=100&after=role-099",
        200,
        rest,
    );
    let shown = browser.get("/ui/roles?mount=gcp&after=role-099");
    assert!(shown.text.contains("role-100") && !shown.text.contains("Next page"));
}

#[test]
fn organizations_are_searched_and_turned_by_pages() {
    let mut browser = Browser::signed_in();
    browser.api.answers(
        "GET",
        "/api/v2/organizations?page%5Bsize%5D=50&page%5Bnumber%5D=2&q=ac%26me",
        200,
        json!({ "data": [{ "attributes": { "name": "acme" } }], "meta": { "pagination": { "total-pages": 3 } } }),
    );
    let shown = browser.get("/ui/organizations?q=ac%26me&page=2");
    for said in [
        "acme",
        "Page 2 of 3",
        "q=ac%26me&amp;page=1",
        "q=ac%26me&amp;page=3",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn an_empty_list_is_a_page_and_an_error_says_what_to_do_next() {
    let mut browser = Browser::signed_in();
    let shown = browser.get("/ui/policies");
    assert_eq!(shown.status, 200);
    assert!(shown.text.contains("There is nothing here."));
    browser.api.answers(
        "LIST",
        "/v1/sys/policies/acl",
        403,
        json!({ "errors": ["permission denied"] }),
    );
    let shown = browser.get("/ui/policies");
    assert_eq!(shown.status, 403);
    for said in ["permission denied", "ask for a policy"] {
        assert!(shown.text.contains(said), "{said}");
    }
}

#[test]
fn h17_a_token_is_shown_when_it_is_made_and_never_again() {
    let mut browser = Browser::signed_in();
    let made = json!({ "data": { "attributes": { "token": "abc.atlasv1.made" } } });
    let path = "/api/v2/organizations/acme/authentication-token";
    browser.api.answers("POST", path, 201, made);
    let shown = browser.submit(
        "/ui/organizations/token?name=acme",
        &[("kind", "organization")],
    );
    assert!(shown.text.contains("abc.atlasv1.made"));
    let organization = json!({ "data": { "attributes": { "name": "acme" } } });
    browser
        .api
        .answers("GET", "/api/v2/organizations/acme", 200, organization);
    let shown = browser.get("/ui/organizations/show?name=acme");
    assert_eq!(shown.status, 200);
    assert!(!shown.text.contains("abc.atlasv1.made"));
}

#[test]
fn an_invitation_of_the_visitor_is_accepted() {
    let mut browser = Browser::signed_in();
    let invited = json!({ "data": [{ "id": "ou-1", "attributes": { "status": "invited" },
        "relationships": { "organization": { "data": { "id": "acme" } } } }] });
    browser
        .api
        .answers("GET", "/api/v2/organizations", 200, json!({ "data": [] }));
    browser
        .api
        .answers("GET", "/api/v2/organization-memberships", 200, invited);
    let path = "/api/v2/organization-memberships/ou-1/actions/accept";
    browser.api.answers("POST", path, 200, json!({}));
    let shown = browser.get("/ui/organizations");
    assert!(shown.text.contains("Join acme"), "{}", shown.text);
    browser.api.sent();
    let fields = [("id", "ou-1"), ("answer", "accept")];
    let shown = browser.submit("/ui/organizations/invitation", &fields);
    assert_eq!(shown.header("location"), Some("/ui/organizations"));
    assert_eq!(browser.api.sent()[0].target, path);
}
