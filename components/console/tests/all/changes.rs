//! Forms about identity, organizations and the site, and the API calls that each makes.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown, person};

/// The requests that changed something, as method, path and body.
pub fn changes(browser: &Browser) -> Vec<(String, String, Value)> {
    let sent = browser.api.sent().into_iter();
    sent.filter(|request| !matches!(request.method.as_str(), "GET" | "LIST"))
        .map(|request| {
            let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
            (request.method, request.target, body)
        })
        .collect()
}

/// The fields of `form` with the values in `fields`; a field that `form` lacks is added.
pub fn replaced<'f>(
    form: &[(&'f str, &'f str)],
    fields: &[(&'f str, &'f str)],
) -> Vec<(&'f str, &'f str)> {
    let kept = form
        .iter()
        .filter(|(name, _)| !fields.iter().any(|(changed, _)| changed == name));
    kept.chain(fields).copied().collect()
}

/// Sends these fields, which cause exactly one change in the API. Returns the page, and that change.
pub fn sent_one(
    browser: &mut Browser,
    place: &str,
    fields: &[(&str, &str)],
) -> (Shown, (String, String, Value)) {
    let shown = browser.submit(place, fields);
    let mut sent = changes(browser);
    assert_eq!(sent.len(), 1, "{sent:?}");
    (shown, sent.remove(0))
}

fn identity() -> Browser {
    let browser = Browser::signed_in();
    let api = &browser.api;
    for (name, id) in [("ada", "e-1"), ("bob", "e-2")] {
        let entity = json!({ "data": { "id": id, "name": name, "policies": ["ops"], "metadata": { "team": "a, b" } } });
        let path = format!("/v1/identity/entity/name/{name}");
        api.answers("GET", &path, 200, entity);
    }
    api.answers("POST", "/v1/identity/", 200, json!({ "data": {} }));
    let mounts = json!({ "data": { "gcp/": { "type": "gcp", "accessor": "auth_gcp_1" } } });
    api.answers("GET", "/v1/sys/auth", 200, mounts);
    browser
}

#[test]
fn an_entity_is_changed_by_its_identifier_so_that_its_name_can_change() {
    let mut browser = identity();
    let place = "/ui/identity/edit?kind=entity&name=ada";
    assert!(browser.get(place).text.contains("team=a, b"));
    let form = [
        ("name", "ada2"),
        ("policies", "ops\r\ndev"),
        ("metadata", "team=a, b\r\nsite=x=y"),
        ("disabled", "yes"),
    ];
    let shown = browser.submit(place, &form);
    assert_eq!(
        shown.header("location"),
        Some("/ui/identity/entity?name=ada2")
    );
    let body = json!({ "name": "ada2", "policies": ["ops", "dev"], "disabled": true,
        "metadata": { "team": "a, b", "site": "x=y" } });
    let sent = changes(&browser);
    assert_eq!(
        sent,
        [("POST".into(), "/v1/identity/entity/id/e-1".into(), body)]
    );
}

#[test]
fn a_new_entity_takes_no_name_that_is_in_use() {
    let mut browser = identity();
    let place = "/ui/identity/edit?kind=entity&name=";
    let shown = browser.submit(place, &[("name", "ada"), ("policies", "root")]);
    assert_eq!(shown.status, 409);
    assert!(shown.text.contains("the name is in use") && shown.text.contains("root"));
    assert!(changes(&browser).is_empty());
}

#[test]
fn a_line_of_metadata_without_a_value_is_named_and_nothing_is_written() {
    let mut browser = identity();
    let place = "/ui/identity/edit?kind=entity&name=";
    let shown = browser.submit(place, &[("name", "new"), ("metadata", "nonsense")]);
    assert_eq!(shown.status, 400);
    assert!(shown.text.contains("has no ="));
    assert!(changes(&browser).is_empty());
}

#[test]
fn an_alias_is_added_by_the_path_of_its_mount() {
    let mut browser = identity();
    let form = [
        ("kind", "entity"),
        ("owner", "ada"),
        ("alias", "1234"),
        ("mount", "gcp"),
    ];
    browser.submit("/ui/identity/alias", &form);
    let body = json!({ "name": "1234", "mount_accessor": "auth_gcp_1", "canonical_id": "e-1" });
    let sent = changes(&browser);
    assert_eq!(
        sent,
        [("POST".into(), "/v1/identity/entity-alias".into(), body)]
    );
    let shown = browser.submit(
        "/ui/identity/alias",
        &[("kind", "entity"), ("owner", "ada"), ("mount", "gone")],
    );
    assert!(shown.text.contains("no auth mount at that path"));
    assert!(changes(&browser).is_empty());
}

#[test]
fn entities_are_merged_by_their_names() {
    let mut browser = identity();
    let form = [("stays", "ada"), ("merged", "bob"), ("kept", "")];
    let shown = browser.submit("/ui/identity/merge", &form);
    assert_eq!(
        shown.header("location"),
        Some("/ui/identity/entity?name=ada")
    );
    let body = json!({ "to_entity_id": "e-1", "from_entity_ids": ["e-2"], "conflicting_alias_ids_to_keep": [] });
    let sent = changes(&browser);
    assert_eq!(
        sent,
        [("POST".into(), "/v1/identity/entity/merge".into(), body)]
    );
    let many = vec!["bob"; 51].join("\n");
    for merged in ["carol", &many] {
        let shown = browser.submit(
            "/ui/identity/merge",
            &[("stays", "ada"), ("merged", merged)],
        );
        assert_eq!(shown.status, 400, "{}", shown.text);
        assert!(changes(&browser).is_empty());
    }
}

fn organizations() -> Browser {
    let browser = Browser::signed_in();
    let api = &browser.api;
    let organization = json!({ "data": { "attributes": { "name": "acme", "email": "a@x.example",
        "cost-estimation-enabled": true, "session-timeout": null, "default-execution-mode": "remote" } } });
    api.answers("GET", "/api/v2/organizations/acme", 200, organization);
    let team = json!({ "data": { "attributes": { "name": "ops", "visibility": "secret",
        "allow-member-token-management": true,
        "organization-access": { "manage-teams": true, "manage-modules": false } } } });
    api.answers("GET", "/api/v2/teams/t-1", 200, team);
    for method in ["POST", "PATCH", "PUT", "DELETE"] {
        api.answers(method, "/api/v2/", 200, json!({ "data": [] }));
    }
    browser
}

#[test]
fn settings_that_are_left_as_they_are_are_not_sent() {
    let mut browser = organizations();
    let form = [
        ("name", "acme"),
        ("email", "b@x.example"),
        ("session-timeout", "60"),
        ("default-execution-mode", "remote"),
    ];
    let shown = browser.submit("/ui/organizations/show?name=acme", &form);
    assert_eq!(
        shown.header("location"),
        Some("/ui/organizations/show?name=acme&done=saved")
    );
    let sent = changes(&browser);
    assert_eq!(
        sent[0].2["data"]["attributes"],
        json!({ "email": "b@x.example", "session-timeout": 60, "cost-estimation-enabled": false })
    );
}

#[test]
fn a_team_gets_the_rights_that_were_ticked() {
    let mut browser = organizations();
    let form = [
        ("team", "ops"),
        ("visibility", "organization"),
        ("allow-member-token-management", "yes"),
        ("manage-modules", "yes"),
    ];
    browser.submit("/ui/organizations/team?name=acme&id=t-1", &form);
    let sent = changes(&browser);
    assert_eq!(sent[0].1, "/api/v2/teams/t-1");
    assert_eq!(
        sent[0].2["data"]["attributes"],
        json!({ "visibility": "organization", "organization-access": { "manage-teams": false, "manage-modules": true } })
    );
}

#[test]
fn a_member_joins_a_team_and_leaves_it() {
    let mut browser = organizations();
    let place = "/ui/organizations/team/members?name=acme&id=t-1";
    for (change, method) in [("join", "POST"), ("leave", "DELETE")] {
        browser.submit(place, &[("change", change), ("membership", "ou-1")]);
        let path = "/api/v2/teams/t-1/relationships/organization-memberships";
        let body = json!({ "data": [{ "type": "organization-memberships", "id": "ou-1" }] });
        assert_eq!(
            changes(&browser),
            [(method.to_owned(), path.to_owned(), body)]
        );
    }
}

#[test]
fn h17_the_audit_trail_is_read_with_the_token_that_was_given_and_it_is_not_kept() {
    let mut browser = organizations();
    let token = "abc.atlasv1.trail";
    let trail = json!({ "data": [{ "timestamp": "2026-01-01T00:00:00Z", "resource": { "action": "<i>create" } }],
        "pagination": { "current_page": 1, "total_pages": 1, "total_count": 5 } });
    browser
        .api
        .answers("GET", "/api/v2/organization/audit-trail", 200, trail);
    let place = "/ui/organizations/trail?name=acme";
    let shown = browser.submit(place, &[("trail_token", token), ("since", "")]);
    for said in ["&lt;i&gt;create", "Page 1 of 1, of 5 records"] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert!(!shown.text.contains(token));
    let with = |token: &str| {
        let sent = browser.api.sent();
        let asked = sent
            .iter()
            .find(|request| request.target.contains("audit-trail"));
        let value = format!("Bearer {token}").into_bytes();
        asked.is_some_and(|request| request.headers.iter().any(|(_, sent)| *sent == value))
    };
    assert!(with(token));
    browser.submit(place, &[("trail_token", ""), ("since", "")]);
    let sent = browser.api.sent();
    let own = format!("Bearer {}", crate::browser::TOKEN).into_bytes();
    assert!(
        sent.iter()
            .filter(|request| request.target.contains("audit-trail"))
            .all(|request| request.headers.iter().any(|(_, value)| *value == own))
    );
}

#[test]
fn a_plan_is_booked_by_its_name() {
    let mut browser = organizations();
    let api = &browser.api;
    let sets = json!({ "data": [{ "id": "fs-1", "attributes": { "name": "Business" } }] });
    api.answers("GET", "/api/v2/admin/feature-sets", 200, sets);
    let form = [("plan", "Business"), ("end-at", ""), ("runs-ceiling", "10")];
    let shown = browser.submit("/ui/site/organization/plan?name=acme", &form);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let sent = changes(&browser);
    assert_eq!(sent[0].1, "/api/v2/admin/organizations/acme/subscription");
    let data = &sent[0].2["data"];
    assert_eq!(
        data["attributes"],
        json!({ "end-at": null, "runs-ceiling": 10 })
    );
    assert_eq!(
        data["relationships"]["feature-set"]["data"]["id"],
        json!("fs-1")
    );
}

#[test]
fn who_is_no_site_administrator_is_told_whose_the_page_is() {
    let mut browser = Browser::signed_in();
    for page in [
        "/ui/site",
        "/ui/site/organizations",
        "/ui/site/organization?name=acme",
    ] {
        let shown = browser.get(page);
        assert_eq!(shown.status, 404);
        assert!(
            shown
                .text
                .contains("Only site administrators can see this page")
        );
    }
    let shown = browser.submit("/ui/site/users", &[("username", "ada")]);
    assert!(
        shown
            .text
            .contains("Only site administrators can see this page")
    );
}

#[test]
fn h17_the_first_token_of_a_user_is_shown_once_and_nowhere_else() {
    let mut browser = Browser::signed_in();
    let made = json!({ "data": {}, "meta": { "token": "abc.atlasv1.first" } });
    browser
        .api
        .answers("POST", "/api/v2/admin/users", 201, made);
    let form = [("username", "ada"), ("email", "ada@x.example")];
    let shown = browser.submit("/ui/site/users", &form);
    assert!(shown.text.contains("abc.atlasv1.first"));
    assert!(
        shown
            .headers
            .iter()
            .all(|(_, value)| !value.contains("abc.atlasv1.first"))
    );
    let body = &changes(&browser)[0].2["data"]["attributes"];
    assert_eq!(
        *body,
        json!({ "username": "ada", "email": "ada@x.example", "is-site-admin": false })
    );
}

#[test]
fn the_description_of_the_api_comes_with_the_rights_of_the_visitor() {
    let mut browser = Browser::signed_in();
    let described = json!({ "openapi": "3.0.2" });
    browser.api.answers(
        "GET",
        "/v1/sys/internal/specs/openapi",
        200,
        described.clone(),
    );
    let shown = browser.get("/ui/openapi.json");
    assert_eq!(shown.header("content-type"), Some("application/json"));
    assert_eq!(
        serde_json::from_str::<Value>(&shown.text).unwrap(),
        described
    );
    let page = browser.get("/ui/").text;
    for link in ["/ui/openapi.json", "/api/v2/openapi.json"] {
        assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
    }
}

#[test]
fn metadata_that_is_no_line_is_named_and_left_as_it_is() {
    let mut browser = identity();
    let entity = json!({ "data": { "id": "e-1", "name": "ada", "policies": ["ops"],
        "metadata": { "note": "two\nlines", "a=b": "c", "team": "a", "site": "x" } } });
    let path = "/v1/identity/entity/name/ada";
    browser.api.answers("GET", path, 200, entity);
    let place = "/ui/identity/edit?kind=entity&name=ada";
    let shown = browser.get(place).text;
    assert!(
        shown.contains("leaves it as it is") && !shown.contains("two"),
        "{shown}"
    );
    let form = [
        ("name", "ada"),
        ("policies", "ops"),
        ("metadata", "site=y\r\nnew=n"),
    ];
    browser.submit(place, &form);
    let metadata = json!({ "note": "two\nlines", "a=b": "c", "site": "y", "new": "n" });
    assert_eq!(
        changes(&browser).remove(0).2,
        json!({ "metadata": metadata })
    );
}

#[test]
fn a_saved_group_is_sent_what_differs_from_what_its_form_showed() {
    let mut browser = identity();
    let group = |members: Value| {
        json!({ "data": { "id": "g-1", "name": "ops", "type": "internal", "policies": ["a"],
        "metadata": null, "member_entity_ids": members, "member_group_ids": [] } })
    };
    let path = "/v1/identity/group/name/ops";
    browser.api.answers("GET", path, 200, group(json!(["e-1"])));
    let place = "/ui/identity/edit?kind=group&name=ops";
    let page = browser.get(place).text;
    let (_, rest) = page.split_once("name=\"shown\" value=\"").unwrap();
    let shown = rest.split('"').next().unwrap().replace("&quot;", "\"");
    let meanwhile = group(json!(["e-1", "e-2"]));
    browser.api.answers("GET", path, 200, meanwhile);
    let form = [
        ("name", "ops"),
        ("policies", "a\r\nb"),
        ("member_entity_ids", "e-1"),
        ("shown", &shown),
    ];
    browser.submit(place, &form);
    let body = json!({ "policies": ["a", "b"] });
    let sent = changes(&browser);
    assert_eq!(
        sent,
        [("POST".into(), "/v1/identity/group/id/g-1".into(), body)]
    );
}

#[test]
fn a_refused_form_keeps_what_was_typed() {
    let mut browser = organizations();
    let api = &browser.api;
    let all = json!({ "data": [] });
    for list in ["organizations?", "organizations/acme/"] {
        api.answers("GET", &format!("/api/v2/{list}"), 200, all.clone());
    }
    let settings = json!({ "data": { "attributes": { "name": "acme", "is-disabled": false, "api-rate-limit": 30 } } });
    api.answers("GET", "/api/v2/admin/", 200, settings);
    let pool = json!({ "data": { "attributes": { "name": "workers" } } });
    api.answers("GET", "/api/v2/agent-pools/p-1", 200, pool);
    api.answers("GET", "/api/v2/account/details", 200, person("user-1"));
    api.answers("GET", "/api/v2/users/user-1/", 200, all.clone());
    for method in ["POST", "PATCH", "PUT"] {
        api.answers(method, "/api/v2/", 422, json!({ "errors": ["no"] }));
    }
    for (place, name) in [
        ("/ui/organizations", "email"),
        ("/ui/organizations/show?name=acme", "email"),
        ("/ui/organizations/teams?name=acme", "team"),
        ("/ui/organizations/team?name=acme&id=t-1", "team"),
        ("/ui/organizations/members?name=acme", "email"),
        ("/ui/organizations/pools?name=acme", "pool"),
        ("/ui/organizations/token?name=acme", "expired-at"),
        (
            "/ui/organizations/team/token?name=acme&id=t-1",
            "expired-at",
        ),
        (
            "/ui/organizations/team/members?name=acme&id=t-1",
            "membership",
        ),
        (
            "/ui/organizations/pool/token?name=acme&id=p-1",
            "description",
        ),
        ("/ui/organizations/own-tokens", "description"),
        ("/ui/site/users", "username"),
        ("/ui/site", "api-rate-limit"),
    ] {
        let shown = browser.submit(place, &[(name, "typed <here>")]);
        assert_eq!(shown.status, 422, "{place}");
        let kept = "value=\"typed &lt;here&gt;\"";
        assert!(shown.text.contains(kept), "{place}: {}", shown.text);
    }
    let place = "/ui/organizations/token/lifetime?name=acme";
    let shown = browser.submit(place, &[("token-type", "team"), ("days", "a week")]);
    assert_eq!(shown.status, 400);
    for kept in ["value=\"a week\"", "value=\"team\" selected"] {
        assert!(shown.text.contains(kept), "{kept}: {}", shown.text);
    }
}

#[test]
fn a_person_is_invited_by_the_name_of_a_team() {
    let mut browser = organizations();
    let teams = json!({ "data": [{ "id": "team-9", "attributes": { "name": "dev & ops" } }] });
    let path = "/api/v2/organizations/acme/teams?filter%5Bnames%5D=dev%20%26%20ops";
    browser.api.answers("GET", path, 200, teams);
    let place = "/ui/organizations/members?name=acme";
    for (typed, id) in [("dev & ops", "team-9"), ("team-7", "team-7")] {
        browser.submit(place, &[("email", "b@x.example"), ("team", typed)]);
        let sent = changes(&browser).remove(0).2;
        let team = &sent["data"]["relationships"]["teams"]["data"][0];
        assert_eq!(team["id"], json!(id), "{typed}");
    }
}
