//! Forms that create, change and delete: the API call that each makes, the page to which it leads, and its refusal.

use serde_json::{Value, json};

use crate::browser::{Browser, person};
use crate::changes::changes;

/// A form: its target, its fields, the page to which it leads, and the one API request that it causes.
struct Post {
    target: &'static str,
    fields: &'static [(&'static str, &'static str)],
    /// `None` where the response is a page.
    leads_to: Option<&'static str>,
    asks: (&'static str, &'static str),
    body: Value,
}

fn post(
    target: &'static str,
    fields: &'static [(&'static str, &'static str)],
    leads_to: Option<&'static str>,
    asks: (&'static str, &'static str),
    body: Value,
) -> Post {
    Post {
        target,
        fields,
        leads_to,
        asks,
        body,
    }
}

fn document(kind: &str, attributes: &Value) -> Value {
    json!({ "data": { "type": kind, "attributes": attributes } })
}

#[rustfmt::skip]
fn deletions() -> Vec<Post> {
    vec![
        post("/ui/tokens/revoke", &[("accessor", "a-1")], Some("/ui/tokens"),
            ("POST", "/v1/auth/token/revoke-accessor"), json!({ "accessor": "a-1" })),
        post("/ui/leases/revoke", &[("prefix", "auth/gcp/log in"), ("typed", "auth/gcp/log in/")], Some("/ui/leases"),
            ("POST", "/v1/sys/leases/revoke-prefix/auth/gcp/log%20in"), json!({})),
        post("/ui/policies/delete", &[("name", "ops")], Some("/ui/policies"),
            ("DELETE", "/v1/sys/policies/acl/ops"), Value::Null),
        post("/ui/roles/delete", &[("mount", "gcp"), ("role", "../web")], Some("/ui/roles?mount=gcp"),
            ("DELETE", "/v1/auth/gcp/role/..%2Fweb"), Value::Null),
        post("/ui/mounts/disable", &[("path", "gcp"), ("typed", "gcp")], Some("/ui/mounts"),
            ("DELETE", "/v1/sys/auth/gcp"), Value::Null),
        post("/ui/identity/delete", &[("kind", "entity"), ("name", "ada")], Some("/ui/identity"),
            ("DELETE", "/v1/identity/entity/name/ada"), Value::Null),
        post("/ui/identity/delete", &[("kind", "group"), ("name", "ops")], Some("/ui/identity"),
            ("DELETE", "/v1/identity/group/name/ops"), Value::Null),
        post("/ui/identity/alias/delete", &[("kind", "group"), ("owner", "ops"), ("id", "al-1")], Some("/ui/identity/group?name=ops"),
            ("DELETE", "/v1/identity/group-alias/id/al-1"), Value::Null),
        post("/ui/organizations/delete?name=acme", &[("deleted", "acme"), ("typed", "acme")], Some("/ui/organizations"),
            ("DELETE", "/api/v2/organizations/acme"), Value::Null),
        post("/ui/organizations/team/delete?name=acme&id=t-1", &[], Some("/ui/organizations/teams?name=acme"),
            ("DELETE", "/api/v2/teams/t-1"), Value::Null),
        post("/ui/organizations/pool/delete?name=acme&id=p-1", &[], Some("/ui/organizations/pools?name=acme"),
            ("DELETE", "/api/v2/agent-pools/p-1"), Value::Null),
        post("/ui/organizations/members/remove?name=acme", &[("id", "ou-1")], Some("/ui/organizations/members?name=acme"),
            ("DELETE", "/api/v2/organization-memberships/ou-1"), Value::Null),
        post("/ui/organizations/token/revoke?name=acme", &[("id", "at-1")], Some("/ui/organizations/token?name=acme"),
            ("DELETE", "/api/v2/authentication-tokens/at-1"), Value::Null),
        post("/ui/organizations/token/revoke?name=acme", &[("kind", "audit-trails")], Some("/ui/organizations/token?name=acme"),
            ("DELETE", "/api/v2/organizations/acme/authentication-token?token=audit-trails"), Value::Null),
        post("/ui/organizations/own-tokens/revoke", &[("id", "at-1"), ("confirmed", "yes")], Some("/ui/organizations/own-tokens"),
            ("DELETE", "/api/v2/authentication-tokens/at-1"), Value::Null),
        post("/ui/site/user/revoke?id=user-1", &[("id", "at-1")], Some("/ui/site/user?id=user-1"),
            ("DELETE", "/api/v2/authentication-tokens/at-1"), Value::Null),
        post("/ui/organizations/retention?name=acme", &[("unset", "yes")], Some("/ui/organizations/retention?name=acme"),
            ("DELETE", "/api/v2/organizations/acme/relationships/data-retention-policy"), Value::Null),
        post("/ui/organizations/invitation", &[("id", "ou-1"), ("answer", "decline")], Some("/ui/organizations"),
            ("POST", "/api/v2/organization-memberships/ou-1/actions/decline"), json!({})),
    ]
}

#[rustfmt::skip]
fn changes_of_organizations() -> Vec<Post> {
    let days = json!({ "delete-older-than-n-days": 30 });
    vec![
        post("/ui/organizations", &[("name", "acme"), ("email", "a@x.example")], Some("/ui/organizations/show?name=acme"),
            ("POST", "/api/v2/organizations"), document("organizations", &json!({ "name": "acme", "email": "a@x.example" }))),
        post("/ui/organizations/teams?name=acme", &[("team", "ops"), ("visibility", "secret")], Some("/ui/organizations/teams?name=acme"),
            ("POST", "/api/v2/organizations/acme/teams"), document("teams", &json!({ "name": "ops", "visibility": "secret" }))),
        post("/ui/organizations/team/token?name=acme&id=t-1", &[("description", "")], None,
            ("POST", "/api/v2/teams/t-1/authentication-token"), document("authentication-tokens", &json!({}))),
        post("/ui/organizations/team/token?name=acme&id=t-1", &[("description", "ci"), ("expired-at", "2030-01-01T00:00:00Z")], None,
            ("POST", "/api/v2/teams/t-1/authentication-tokens"),
            document("authentication-tokens", &json!({ "description": "ci", "expired-at": "2030-01-01T00:00:00Z" }))),
        post("/ui/organizations/members?name=acme", &[("email", "b@x.example"), ("team", "t-1")], Some("/ui/organizations/members?name=acme"),
            ("POST", "/api/v2/organizations/acme/organization-memberships"),
            json!({ "data": { "type": "organization-memberships", "attributes": { "email": "b@x.example" },
                "relationships": { "teams": { "data": [{ "type": "teams", "id": "t-1" }] } } } })),
        post("/ui/organizations/pools?name=acme", &[("pool", "workers")], Some("/ui/organizations/pools?name=acme"),
            ("POST", "/api/v2/organizations/acme/agent-pools"),
            document("agent-pools", &json!({ "name": "workers", "organization-scoped": false }))),
        post("/ui/organizations/pool?name=acme&id=p-1", &[("pool", "all"), ("organization-scoped", "yes")],
            Some("/ui/organizations/pool?name=acme&id=p-1"), ("PATCH", "/api/v2/agent-pools/p-1"),
            document("agent-pools", &json!({ "name": "all", "organization-scoped": true }))),
        post("/ui/organizations/pool/token?name=acme&id=p-1", &[("description", "worker")], None,
            ("POST", "/api/v2/agent-pools/p-1/authentication-tokens"), document("authentication-tokens", &json!({ "description": "worker" }))),
        post("/ui/organizations/own-tokens", &[("description", "laptop"), ("expired-at", "2030-01-01T00:00:00Z")], None,
            ("POST", "/api/v2/users/user-1/authentication-tokens"),
            document("authentication-tokens", &json!({ "description": "laptop", "expired-at": "2030-01-01T00:00:00Z" }))),
        post("/ui/organizations/own-tokens", &[("description", "")], None,
            ("POST", "/api/v2/users/user-1/authentication-tokens"), document("authentication-tokens", &json!({}))),
        post("/ui/site/user?id=user-1", &[("description", "new"), ("expired-at", "2030-01-01T00:00:00Z")], None,
            ("POST", "/api/v2/users/user-1/authentication-tokens"),
            document("authentication-tokens", &json!({ "description": "new", "expired-at": "2030-01-01T00:00:00Z" }))),
        post("/ui/organizations/token/lifetime?name=acme", &[("token-type", "team"), ("days", "2")], Some("/ui/organizations/token?name=acme"),
            ("PATCH", "/api/v2/organizations/acme/token-ttl-policies"),
            document("organization-token-ttl-policies", &json!({ "token-ttl-policies": [{ "token-type": "team", "max-ttl-ms": 172_800_000 }] }))),
        post("/ui/organizations/retention?name=acme", &[("days", "30")], Some("/ui/organizations/retention?name=acme"),
            ("POST", "/api/v2/organizations/acme/relationships/data-retention-policy"), document("data-retention-policy-delete-olders", &days)),
        post("/ui/site", &[("api-rate-limit", "50"), ("api-rate-limiting-enabled", "yes")], Some("/ui/site?done=saved"),
            ("PATCH", "/api/v2/admin/general-settings"), document("general-settings", &json!({ "api-rate-limit": 50 }))),
        post("/ui/site/retention", &[("days", "30")], Some("/ui/site?done=saved"),
            ("POST", "/api/v2/admin/data-retention-policy-settings"), document("data-retention-policy-delete-olders", &days)),
        post("/ui/site/organization?name=acme", &[("is-disabled", "yes")], Some("/ui/site/organization?name=acme&done=saved"),
            ("PATCH", "/api/v2/admin/organizations/acme"), document("organizations", &json!({ "is-disabled": true }))),
        post("/ui/site/organization/sharing?name=acme", &[("modules", "one\r\ntwo"), ("providers", "")],
            Some("/ui/site/organization?name=acme&done=saved"), ("PUT", "/api/v2/admin/organizations/acme/registry-partnerships"),
            document("registry-partnerships", &json!({ "module-consumers": ["one", "two"], "provider-consumers": [] }))),
    ]
}

/// A visitor at a server with the objects that the forms are about. It answers every write with `status` and `body`.
fn visitor(status: u16, body: &Value) -> Browser {
    let browser = Browser::signed_in();
    let api = &browser.api;
    let one = |attributes: Value| json!({ "data": { "attributes": attributes } });
    for (path, attributes) in [
        ("organizations/acme", json!({ "name": "acme" })),
        (
            "admin/organizations/acme",
            json!({ "name": "acme", "is-disabled": false }),
        ),
        ("teams/t-1", json!({ "name": "ops" })),
        ("agent-pools/p-1", json!({ "name": "workers" })),
        (
            "admin/general-settings",
            json!({ "api-rate-limit": 30, "api-rate-limiting-enabled": true }),
        ),
    ] {
        api.answers("GET", &format!("/api/v2/{path}"), 200, one(attributes));
    }
    api.answers("GET", "/api/v2/account/details", 200, person("user-1"));
    api.answers("GET", "/api/v2/users/user-1", 200, person("user-1"));
    for list in [
        "organizations/acme/",
        "teams/t-1/",
        "agent-pools/p-1/",
        "users/user-1/",
    ] {
        api.answers(
            "GET",
            &format!("/api/v2/{list}"),
            200,
            json!({ "data": [] }),
        );
    }
    for method in ["POST", "PATCH", "PUT", "DELETE"] {
        for prefix in ["/v1/", "/api/v2/"] {
            api.answers(method, prefix, status, body.clone());
        }
    }
    browser
}

#[test]
fn each_form_makes_one_request_and_leads_to_where_its_effect_is_seen() {
    let made = json!({ "data": { "attributes": { "name": "acme", "token": "abc.atlasv1.made" } } });
    for post in deletions().into_iter().chain(changes_of_organizations()) {
        let mut browser = visitor(200, &made);
        let shown = browser.submit(post.target, post.fields);
        let (method, path) = post.asks;
        let expected = (method.to_owned(), path.to_owned(), post.body);
        assert_eq!(changes(&browser), [expected], "{}", post.target);
        assert_eq!(shown.header("location"), post.leads_to, "{}", post.target);
        match post.leads_to {
            Some(_) => assert_eq!(shown.status, 303, "{}", post.target),
            None => assert!(shown.text.contains("abc.atlasv1.made"), "{}", post.target),
        }
    }
}

#[test]
fn a_refused_form_shows_what_the_api_said_and_leads_nowhere() {
    let refusal = json!({ "errors": ["not for <you>"] });
    for post in deletions().into_iter().chain(changes_of_organizations()) {
        let mut browser = visitor(403, &refusal);
        let shown = browser.submit(post.target, post.fields);
        assert_eq!(shown.status, 403, "{}", post.target);
        assert_eq!(shown.header("location"), None, "{}", post.target);
        for said in ["not for &lt;you&gt;", "Your token does not allow this"] {
            assert!(shown.text.contains(said), "{}: {}", post.target, shown.text);
        }
    }
}

#[test]
fn a_number_that_is_none_is_not_sent() {
    for target in [
        "/ui/organizations/token/lifetime?name=acme",
        "/ui/organizations/retention?name=acme",
        "/ui/site/retention",
    ] {
        let mut browser = visitor(200, &json!({}));
        let shown = browser.submit(target, &[("days", "many")]);
        assert_eq!(shown.status, 400, "{target}");
        assert!(shown.text.contains("the days are not a number"), "{target}");
        assert!(changes(&browser).is_empty(), "{target}");
    }
}

#[test]
fn a_token_is_looked_up_by_its_accessor_and_shown_without_itself() {
    let mut browser = Browser::signed_in();
    let token = json!({ "data": { "id": "hvs.hidden", "accessor": "a-1", "display_name": "<b>ci</b>", "policies": ["ops", "dev"],
        "num_uses": 3, "entity_id": null } });
    let path = "/v1/auth/token/lookup-accessor";
    browser.api.answers("POST", path, 200, token);
    let shown = browser.submit("/ui/tokens", &[("accessor", " a-1 ")]);
    assert_eq!(shown.status, 200);
    for said in ["&lt;b&gt;ci", "ops, dev", "num uses", "value=\"a-1\""] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    assert!(!shown.text.contains("hvs.hidden"));
    let sent = changes(&browser);
    assert_eq!(
        sent,
        [("POST".into(), path.into(), json!({ "accessor": "a-1" }))]
    );
    browser
        .api
        .answers("POST", path, 403, json!({ "errors": ["invalid accessor"] }));
    let shown = browser.submit("/ui/tokens", &[("accessor", "gone")]);
    assert_eq!(shown.status, 403);
    assert!(shown.text.contains("invalid accessor"));
}

#[test]
fn an_organization_is_not_deleted_from_the_page_of_another() {
    let mut browser = visitor(200, &json!({}));
    let fields = [("deleted", "other"), ("typed", "other")];
    let shown = browser.submit("/ui/organizations/delete?name=acme", &fields);
    assert!(shown.text.contains("nothing was deleted"), "{}", shown.text);
    assert!(changes(&browser).is_empty());
}
