//! Requests that take the routes of the table (contract 8). Who may take which stands in the server's description of its API.

use serde_json::{Value, json};

use crate::documents::{identifiers, organization, resource};
use crate::server::Edition;

/// One request, which takes a route of the table.
#[derive(Debug, Clone)]
pub struct Step {
    pub method: &'static str,
    /// Below `/api/v2/`, or whole; `{name}` stands for what the prepared organization has under that name.
    pub path: &'static str,
    /// The one edition in which the query has a meaning.
    pub only_in: Option<Edition>,
    pub body: Option<Value>,
}

fn step(method: &'static str, path: &'static str) -> Step {
    Step {
        method,
        path,
        only_in: None,
        body: None,
    }
}

fn get(path: &'static str) -> Step {
    step("GET", path)
}

fn delete(path: &'static str) -> Step {
    step("DELETE", path)
}

fn send(method: &'static str, path: &'static str, body: Value) -> Step {
    Step {
        body: Some(body),
        ..step(method, path)
    }
}

impl Step {
    fn only_in(self, edition: Edition) -> Self {
        Self {
            only_in: Some(edition),
            ..self
        }
    }
}

/// Routes that are not walked: they concern one user, workers of a pool or members of a team, or refuse all that they could do. Tests of
/// their own take them.
pub const NOT_WALKED: [(&str, &str); 15] = [
    ("GET", "/api/v2/users/{id}"),
    ("POST", "/api/v2/admin/users"),
    ("GET", "/api/v2/users/{id}/authentication-tokens"),
    ("POST", "/api/v2/users/{id}/authentication-tokens"),
    ("PATCH", "/api/v2/projects/{id}"),
    ("DELETE", "/api/v2/projects/{id}"),
    ("POST", "/api/v2/teams/{id}/relationships/users"),
    ("DELETE", "/api/v2/teams/{id}/relationships/users"),
    (
        "POST",
        "/api/v2/teams/{id}/relationships/organization-memberships",
    ),
    (
        "DELETE",
        "/api/v2/teams/{id}/relationships/organization-memberships",
    ),
    (
        "POST",
        "/api/v2/organization-memberships/{id}/actions/accept",
    ),
    (
        "POST",
        "/api/v2/organization-memberships/{id}/actions/decline",
    ),
    ("GET", "/api/v2/agent-pools/{id}/agents"),
    ("GET", "/api/v2/agent-pools/{id}/authentication-tokens"),
    ("POST", "/api/v2/agent-pools/{id}/authentication-tokens"),
];

/// All steps, in an order in which each can be taken once.
pub fn all() -> Vec<Step> {
    [
        for_everybody(),
        organizations(),
        retention("organizations/{name}/relationships/data-retention-policy"),
        tokens(),
        pools(),
        teams(),
        memberships(),
        empty_lists(),
        administration(),
        retention("admin/data-retention-policy-settings"),
        vec![
            delete("admin/organizations/{spare}"),
            delete("organizations/{name}"),
        ],
    ]
    .concat()
}

fn for_everybody() -> Vec<Step> {
    let new = organization(json!({"name": "{new}", "email": "{new}@tfe.local"}));
    vec![
        get("/.well-known/terraform.json"),
        get("ping"),
        get("openapi.json"),
        get("account/details"),
        get("organizations"),
        send("POST", "organizations", new),
        get("organization-memberships"),
        get("feature-sets"),
    ]
}

fn organizations() -> Vec<Step> {
    let nothing = organization(json!({}));
    let alert = resource("subscriptions", json!({"rum-alert-threshold": 80}));
    vec![
        get("organizations/{name}"),
        send("PATCH", "organizations/{name}", nothing.clone()),
        send("PUT", "organizations/{name}", nothing),
        get("organizations/{name}/entitlement-set"),
        get("entitlement-sets/{external-id}"),
        get("organizations/{name}/subscription"),
        send("PATCH", "organizations/{name}/subscription", alert),
        get("subscriptions/{subscription}"),
        get("organizations/{name}/feature-sets"),
        get("organizations/{name}/capacity"),
        get("organizations/{name}/runs/queue"),
        get("organizations/{name}/relationships/module-producers"),
        get("organizations/{name}/relationships/provider-producers"),
        get("organizations/{name}/projects"),
        get("projects/{project}"),
    ]
}

fn retention(path: &'static str) -> Vec<Step> {
    let policy = |days: u32| {
        let attributes = json!({"delete-older-than-n-days": days});
        resource("data-retention-policy-delete-olders", attributes)
    };
    vec![
        get(path),
        send("POST", path, policy(30)),
        send("PATCH", path, policy(60)),
        delete(path),
    ]
}

fn tokens() -> Vec<Step> {
    const TOKEN: &str = "organizations/{name}/authentication-token";
    const AUDIT_TOKEN: &str = "organizations/{name}/authentication-token?token=audit-trails";
    const LIFETIMES: &str = "organizations/{name}/token-ttl-policies";
    let lifetime = json!([{"token-type": "team", "max-ttl-ms": 86_400_000}]);
    let lifetimes = resource(
        "organization-token-ttl-policies",
        json!({"token-ttl-policies": lifetime}),
    );
    vec![
        get(TOKEN),
        get("organization/audit-trail"),
        send("POST", AUDIT_TOKEN, resource("", json!({}))).only_in(Edition::Hosted),
        get(AUDIT_TOKEN).only_in(Edition::Hosted),
        delete(AUDIT_TOKEN).only_in(Edition::Hosted),
        send("POST", TOKEN, resource("", json!({}))),
        delete(TOKEN),
        get(LIFETIMES),
        send("PATCH", LIFETIMES, lifetimes),
    ]
}

fn pools() -> Vec<Step> {
    let pool = |name: &str| resource("agent-pools", json!({"name": name}));
    vec![
        get("organizations/{name}/agent-pools"),
        send("POST", "organizations/{name}/agent-pools", pool("walked")),
        get("agent-pools/{pool}"),
        send("PATCH", "agent-pools/{pool}", pool("renamed")),
        delete("agent-pools/{pool}"),
    ]
}

fn teams() -> Vec<Step> {
    const UNNAMED: &str = "teams/{team}/authentication-token";
    const NAMED: &str = "teams/{team}/authentication-tokens";
    let team = |name: &str| resource("teams", json!({"name": name}));
    let named = resource("authentication-tokens", json!({"description": "walked"}));
    vec![
        get("organizations/{name}/teams"),
        send("POST", "organizations/{name}/teams", team("walked")),
        get("teams/{team}"),
        get("teams/{team}/relationships/users"),
        get("teams/{team}/relationships/organization-memberships"),
        send("PATCH", "teams/{team}", team("renamed")),
        get("organizations/{name}/team-tokens"),
        send("POST", UNNAMED, resource("", json!({}))),
        get(UNNAMED),
        delete(UNNAMED),
        get(NAMED),
        send("POST", NAMED, named),
        get("authentication-tokens/{team-token}"),
        delete("authentication-tokens/{team-token}"),
        delete("teams/{team}"),
    ]
}

fn memberships() -> Vec<Step> {
    const LIST: &str = "organizations/{name}/organization-memberships";
    let invited = resource(
        "organization-memberships",
        json!({"email": "{new}@tfe.local"}),
    );
    vec![
        get(LIST),
        send("POST", LIST, invited),
        get("organization-memberships/{membership}"),
        delete("organization-memberships/{membership}"),
    ]
}

/// The paths that have no more to show than that there is nothing (contract 4.12).
pub fn empty_lists() -> Vec<Step> {
    [
        "organizations/{name}/oauth-tokens",
        "organizations/{name}/oauth-clients",
        "organizations/{name}/ssh-keys",
        "organizations/{name}/workspaces",
        "organizations/{name}/policies",
        "organizations/{name}/policy-sets",
        "organizations/{name}/tasks",
        "organizations/{name}/varsets",
        "organizations/{name}/tags",
        "organizations/{name}/registry-modules",
        "organizations/{name}/registry-providers",
        "organizations/{name}/stacks",
        "organizations/{name}/reserved-tag-keys",
        "/api/registry/private/v2/gpg-keys?filter[namespace]={name}",
    ]
    .map(get)
    .into()
}

fn administration() -> Vec<Step> {
    const CONSUMERS: &str = "admin/organizations/{name}/relationships/module-consumers";
    const PROVIDER_CONSUMERS: &str = "admin/organizations/{name}/relationships/provider-consumers";
    const OLDER_CONSUMERS: &str = "admin/organizations/{name}/module-consumers";
    const PARTNERSHIPS: &str = "admin/organizations/{name}/registry-partnerships";
    const SUBSCRIPTION: &str = "admin/organizations/{name}/subscription";
    let disabled = resource("", json!({"is-disabled": false}));
    let partners = |attributes| resource("module-partnerships", attributes);
    let older = partners(json!({"module-consuming-organization-ids": ["{spare-external-id}"]}));
    let both = json!({"module-consumers": ["{spare}"], "provider-consumers": ["{spare}"]});
    let mut subscription = resource("subscription", json!({"runs-ceiling": 1}));
    subscription["data"]["relationships"] =
        json!({"feature-set": {"data": {"type": "feature-sets", "id": "{feature-set}"}}});
    let unlimited = resource(
        "general-settings",
        json!({"api-rate-limiting-enabled": false}),
    );
    vec![
        get("admin/organizations"),
        get("admin/organizations/{name}"),
        send("PATCH", "admin/organizations/{name}", disabled),
        get(CONSUMERS),
        send(
            "PATCH",
            CONSUMERS,
            identifiers("organizations", &["{spare}"]),
        ),
        get(PROVIDER_CONSUMERS),
        send("PATCH", OLDER_CONSUMERS, older),
        send("PUT", PARTNERSHIPS, partners(both)),
        get("admin/feature-sets"),
        send("POST", SUBSCRIPTION, subscription),
        get("admin/general-settings"),
        send("PATCH", "admin/general-settings", unlimited),
    ]
}
