//! Lists: names with any characters are shown as text, and long lists have pages.

use serde_json::json;

use crate::browser::{Browser, person};

const HOSTILE: &str = "\"><script>alert(1)</script>&'/../?#%";

/// Answers every list of both APIs with hostile texts in every field of a response.
pub fn hostile(api: &crate::browser::Api) {
    let keys = json!({ "data": { "keys": [HOSTILE] } });
    api.answers("LIST", "/v1/", 200, keys);
    let object = json!({ "data": {
        "id": HOSTILE, "name": HOSTILE, "description": HOSTILE, "type": "external", "policy": HOSTILE,
        "metadata": { HOSTILE: HOSTILE }, "policies": [HOSTILE], "member_entity_ids": [HOSTILE],
        "bound_service_accounts": [HOSTILE], "client_email": HOSTILE, "display_name": HOSTILE,
        "aliases": [{ "id": HOSTILE, "name": HOSTILE, "mount_path": HOSTILE }],
    } });
    api.answers("GET", "/v1/", 200, object);
    let mounts = json!({ "data": { HOSTILE: { "type": "gcp", "description": HOSTILE } } });
    api.answers("GET", "/v1/sys/auth", 200, mounts);
    let attributes = json!({
        "name": HOSTILE, "email": HOSTILE, "notification-email": HOSTILE, "created-at": HOSTILE, "description": HOSTILE,
        "external-id": HOSTILE, "status": "invited", "token-type": HOSTILE, "plan-expired": true, "visibility": HOSTILE,
        "organization-access": { HOSTILE: true }, "collaborator-auth-policy": HOSTILE, "username": HOSTILE,
        "permissions": { "can-manage-user-tokens": true },
    });
    let resource = json!({ "id": HOSTILE, "attributes": attributes,
        "relationships": { "organization": { "data": { "id": HOSTILE } }, "default-agent-pool": { "data": { "id": HOSTILE } },
            "stacks-default-agent-pool": { "data": { "id": "x" } } } });
    let list = json!({ "data": [resource], "meta": { "pagination": { "total-pages": 3 } } });
    let one = json!({ "data": resource });
    api.answers("GET", "/api/v2/", 200, list.clone());
    for single in [
        "account/details",
        "organizations/x",
        "organizations/%22",
        "teams/x",
        "agent-pools/x",
        "users/x",
        "users/%22",
        "admin/organizations/x",
        "admin/general-settings",
        "admin/data-retention-policy-settings",
    ] {
        api.answers("GET", &format!("/api/v2/{single}"), 200, one.clone());
    }
    for list_below in [
        "organizations/%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26%27%2F..%2F%3F%23%25/",
        "teams/x/",
        "agent-pools/x/",
        "users/x/",
        "users/%22%3E%3Cscript%3E/",
        "admin/organizations?",
    ] {
        api.answers("GET", &format!("/api/v2/{list_below}"), 200, list.clone());
    }
    let error = json!({ "errors": [HOSTILE] });
    api.answers("GET", "/v1/auth/broken/config/check", 400, error);
}

/// Every page that a visitor can see without sending a form.
pub const PAGES: &[&str] = &[
    "/ui/",
    "/ui/sign-in",
    "/ui/mounts",
    "/ui/mounts/config?mount=gcp",
    "/ui/mounts/config?mount=%22%3E%3Cscript%3E",
    "/ui/mounts/check?mount=gcp",
    "/ui/mounts/check?mount=broken",
    "/ui/mounts/tune?mount=gcp",
    "/ui/mounts/tune?mount=token",
    "/ui/mounts/tune?mount=%22%3E%3Cscript%3E",
    "/ui/roles?mount=gcp",
    "/ui/roles/edit?mount=gcp",
    "/ui/roles/edit?mount=gcp&role=x",
    "/ui/roles/edit?mount=%22%3E%3Cscript%3E",
    "/ui/explain?mount=%22%3E%3Cscript%3E",
    "/ui/policies",
    "/ui/policies/edit?name=x",
    "/ui/capabilities",
    "/ui/tokens",
    "/ui/leases",
    "/ui/leases?prefix=%22%3E%3Cscript%3E",
    "/ui/identity",
    "/ui/identity/entity?name=x",
    "/ui/identity/group?name=x",
    "/ui/identity/edit?kind=entity",
    "/ui/identity/edit?kind=entity&name=x",
    "/ui/identity/edit?kind=group&name=x",
    "/ui/identity/merge",
    "/ui/organizations",
    "/ui/organizations?q=%22%3E%3Cscript%3E",
    "/ui/organizations/own-tokens",
    "/ui/organizations/show?name=x",
    "/ui/organizations/plan?name=x",
    "/ui/organizations/teams?name=x",
    "/ui/organizations/team?name=x&id=x",
    "/ui/organizations/members?name=x&q=%22%3E%3Cscript%3E",
    "/ui/organizations/token?name=x",
    "/ui/organizations/pools?name=x",
    "/ui/organizations/pool?name=x&id=x",
    "/ui/organizations/retention?name=x",
    "/ui/organizations/sharing?name=x",
    "/ui/organizations/trail?name=x",
    "/ui/site",
    "/ui/site/organizations",
    "/ui/site/organization?name=x",
    "/ui/site/user",
    "/ui/site/user?id=x",
    "/ui/site/user?id=%22%3E%3Cscript%3E",
    "/ui/nothing",
];

#[test]
fn h15_a_hostile_name_is_text_on_every_page_and_whole_in_every_link() {
    let mut browser = Browser::signed_in();
    hostile(&browser.api);
    let mut with_it = 0;
    for page in PAGES {
        let shown = browser.get(page);
        assert!(!shown.text.contains("<script"), "{page}: {}", shown.text);
        assert!(!shown.text.contains("href=\"\""), "{page}");
        assert!(
            matches!(shown.status, 200 | 400 | 404),
            "{page}: {}",
            shown.text
        );
        with_it += usize::from(shown.text.contains("&lt;script"));
    }
    assert!(with_it > 30, "the hostile name is shown at all: {with_it}");
    let roles = browser.get("/ui/roles?mount=gcp").text;
    assert!(
        roles.contains("role=%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26%27%2F..%2F%3F%23%25"),
        "{roles}"
    );
}

#[test]
fn every_page_that_there_is_is_looked_at() {
    for address in gatehouse_console::addresses() {
        let mut paths = PAGES.iter().filter_map(|page| page.split('?').next());
        assert!(paths.any(|path| path == address), "{address}");
    }
    assert!(gatehouse_console::addresses().count() > 25);
}

#[test]
fn every_field_of_a_page_has_an_identifier_and_a_label_of_its_own() {
    let mut browser = Browser::signed_in();
    hostile(&browser.api);
    for page in PAGES {
        let text = browser.get(page).text;
        let mut ids: Vec<&str> = text
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        for id in &ids {
            let is_field = text.contains(&format!(" id=\"{id}\" name="));
            let label = format!("<label for=\"{id}\">");
            assert!(!is_field || text.contains(&label), "{page}: {id}");
        }
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{page}: {ids:?}");
    }
}

#[test]
fn the_overview_names_what_needs_attention() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    let mounts = json!({ "data": { "gcp/": { "type": "gcp" }, "keyed/": { "type": "gcp" } } });
    api.answers("GET", "/v1/sys/auth", 200, mounts);
    api.answers("GET", "/v1/auth/gcp/config", 200, json!({ "data": {} }));
    let key = json!({ "data": { "client_email": "a@x.example", "rotation_period": 0, "rotation_schedule": "" } });
    api.answers("GET", "/v1/auth/keyed/config", 200, key);
    let roles = json!({ "data": { "keys": ["any", "bound"] } });
    api.answers("LIST", "/v1/auth/gcp/role", 200, roles);
    let any =
        json!({ "data": { "type": "iam", "bound_service_accounts": ["*"], "bound_projects": [] } });
    api.answers("GET", "/v1/auth/gcp/role/any", 200, any);
    let bound = json!({ "data": { "type": "iam", "bound_service_accounts": ["*"], "bound_projects": ["p"] } });
    api.answers("GET", "/v1/auth/gcp/role/bound", 200, bound);
    let organizations = json!({ "data": [
        { "attributes": { "name": "acme", "plan-expired": true } },
        { "attributes": { "name": "fresh", "plan-expired": false } },
    ] });
    api.answers("GET", "/api/v2/organizations", 200, organizations);
    let shown = browser.get("/ui/").text;
    for said in [
        "The mount gcp has no credentials",
        "The stored key of the mount keyed is never replaced",
        "The mount keyed has no role",
        "The role any of gcp is bound to no account",
        "The plan of the organization acme has expired",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(
        !shown.contains("The role bound") && !shown.contains("fresh"),
        "{shown}"
    );
}

#[test]
fn a_list_goes_on_after_its_last_name_where_there_is_another() {
    let mut browser = Browser::signed_in();
    let names: Vec<String> = (0..101).map(|number| format!("name-{number:03}")).collect();
    for (page, path) in [
        ("/ui/roles?mount=gcp", "/v1/auth/gcp/role"),
        ("/ui/policies?", "/v1/sys/policies/acl"),
    ] {
        let link = format!("{}after=name-099", page.replace("gcp", "gcp&amp;"));
        let asked = format!("{path}?limit=101&after=");
        let keys = |names: &[String]| json!({ "data": { "keys": names } });
        browser.api.answers("LIST", &asked, 200, keys(&names));
        let shown = browser.get(page).text;
        assert!(shown.contains(&link), "{shown}");
        assert!(!shown.contains("name-100"), "it begins the next page");
        browser
            .api
            .answers("LIST", &asked, 200, keys(&names[..100]));
        let shown = browser.get(page).text;
        assert!(shown.contains("name-099") && !shown.contains("Next page"));
        let second = format!("{asked}name-099");
        browser
            .api
            .answers("LIST", &second, 200, keys(&names[100..]));
        let shown = browser.get(&format!("{page}&after=name-099")).text;
        assert!(shown.contains("name-100") && !shown.contains("Next page"));
    }
}

#[test]
fn invitations_are_found_beyond_the_first_page_and_their_end_is_told() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    api.answers("GET", "/api/v2/organizations", 200, json!({ "data": [] }));
    let page = |status: &str, name: &str, pages: u32| {
        json!({ "data": [{ "id": "ou-1", "attributes": { "status": status },
            "relationships": { "organization": { "data": { "id": name } } } }],
            "meta": { "pagination": { "total-pages": pages } } })
    };
    let path = "/api/v2/organization-memberships?page%5Bsize%5D=100&page%5Bnumber%5D=";
    api.answers("GET", path, 200, page("active", "old", 2));
    let second = format!("{path}2");
    api.answers("GET", &second, 200, page("invited", "acme", 2));
    let shown = browser.get("/ui/organizations").text;
    assert!(
        shown.contains("Join acme") && !shown.contains("more organizations"),
        "{shown}"
    );
    browser
        .api
        .answers("GET", path, 200, page("active", "old", 11));
    browser.api.sent();
    let shown = browser.get("/ui/organizations").text;
    assert!(
        shown.contains("more organizations than this page looks at"),
        "{shown}"
    );
    let sent = browser.api.sent().into_iter();
    assert_eq!(
        sent.filter(|it| it.target.contains("memberships")).count(),
        10
    );
}

#[test]
fn organizations_are_searched_and_turned_by_pages() {
    let mut browser = Browser::signed_in();
    browser.api.answers(
        "GET",
        "/api/v2/organizations?q=ac%26me&page%5Bsize%5D=50&page%5Bnumber%5D=2",
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
fn lists_of_an_organization_are_turned_each_by_itself() {
    let mut browser = Browser::signed_in();
    let api = &browser.api;
    let organization =
        json!({ "data": { "attributes": { "name": "acme", "plan-is-enterprise": true } } });
    api.answers("GET", "/api/v2/organizations/acme", 200, organization);
    api.answers("GET", "/api/v2/account/details", 200, person("user-1"));
    let one = json!({ "data": { "attributes": { "name": "one" } } });
    for path in [
        "/api/v2/teams/t-1",
        "/api/v2/agent-pools/p-1",
        "/api/v2/users/user-1",
    ] {
        api.answers("GET", path, 200, one.clone());
    }
    let of = "/api/v2/organizations/acme";
    for (page, field, list) in [
        (
            "/ui/organizations/teams?name=acme",
            "page",
            format!("{of}/teams?"),
        ),
        (
            "/ui/organizations/members?name=acme",
            "page",
            format!("{of}/organization-memberships?q=&"),
        ),
        (
            "/ui/organizations/token?name=acme",
            "page",
            format!("{of}/team-tokens?"),
        ),
        (
            "/ui/organizations/pools?name=acme",
            "page",
            format!("{of}/agent-pools?"),
        ),
        (
            "/ui/organizations/team?name=acme&id=t-1",
            "page",
            "/api/v2/teams/t-1/relationships/organization-memberships?".to_owned(),
        ),
        (
            "/ui/organizations/team?name=acme&id=t-1",
            "tokens",
            "/api/v2/teams/t-1/authentication-tokens?".to_owned(),
        ),
        (
            "/ui/organizations/pool?name=acme&id=p-1",
            "page",
            "/api/v2/agent-pools/p-1/authentication-tokens?".to_owned(),
        ),
        (
            "/ui/organizations/sharing?name=acme",
            "module-producers",
            format!("{of}/relationships/module-producers?"),
        ),
        (
            "/ui/organizations/sharing?name=acme",
            "provider-producers",
            format!("{of}/relationships/provider-producers?"),
        ),
        (
            "/ui/organizations/own-tokens?",
            "page",
            "/api/v2/users/user-1/authentication-tokens?".to_owned(),
        ),
        (
            "/ui/site/organizations?q=",
            "page",
            "/api/v2/admin/organizations?q=&".to_owned(),
        ),
        (
            "/ui/site/user?id=user-1",
            "page",
            "/api/v2/users/user-1/authentication-tokens?".to_owned(),
        ),
    ] {
        let second = format!("{list}page%5Bsize%5D=50&page%5Bnumber%5D=2");
        let answer = json!({ "data": [], "meta": { "pagination": { "total-pages": 3 } } });
        browser.api.answers("GET", &second, 200, answer);
        let shown = browser.get(&format!("{page}&{field}=2"));
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
        for said in [
            "Page 2 of 3",
            &format!("&amp;{field}=1\""),
            &format!("&amp;{field}=3\""),
        ] {
            assert!(shown.text.contains(said), "{page} {said}: {}", shown.text);
        }
        assert_eq!(
            shown.text.matches("Page 2").count(),
            1,
            "{page}: {}",
            shown.text
        );
    }
}

#[test]
fn an_audit_trail_is_turned_by_the_page_that_the_form_names() {
    let mut browser = Browser::signed_in();
    let organization = json!({ "data": { "attributes": { "name": "acme" } } });
    browser
        .api
        .answers("GET", "/api/v2/organizations/acme", 200, organization);
    let records = json!({ "data": [{ "timestamp": "2030-01-31T00:00:00Z" }],
        "pagination": { "current_page": 3, "total_pages": 3, "total_count": 2001 } });
    browser.api.answers(
        "GET",
        "/api/v2/organization/audit-trail?since=&page%5Bnumber%5D=3",
        200,
        records,
    );
    let shown = browser.submit("/ui/organizations/trail?name=acme", &[("page", "3")]);
    for said in [
        "2030-01-31T00:00:00Z",
        "Page 3 of 3, of 2001 records in all.",
        "value=\"3\"",
    ] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn an_empty_list_is_a_page_and_an_error_says_what_to_do_next() {
    let mut browser = Browser::signed_in();
    let shown = browser.get("/ui/policies");
    assert_eq!(shown.status, 200);
    assert!(
        shown
            .text
            .contains("There are no policies that your token may see.")
    );
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
    let organization = json!({ "data": { "attributes": { "name": "acme" } } });
    browser
        .api
        .answers("GET", "/api/v2/organizations/acme", 200, organization);
    let shown = browser.submit(
        "/ui/organizations/token?name=acme",
        &[("kind", "organization")],
    );
    assert!(shown.text.contains("abc.atlasv1.made"));
    let shown = browser.get("/ui/organizations/token?name=acme");
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
