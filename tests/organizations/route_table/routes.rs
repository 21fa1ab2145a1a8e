//! The route table (contract 8), as data.

use serde_json::{Value, json};

use crate::documents::{identifiers, organization, resource};
use crate::server::Edition;

/// Where a route exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Editions {
    Both,
    Hosted,
    SelfHosted,
}

impl Editions {
    pub fn has(self, edition: Edition) -> bool {
        match self {
            Self::Both => true,
            Self::Hosted => edition == Edition::Hosted,
            Self::SelfHosted => edition == Edition::SelfHosted,
        }
    }
}

/// Whose a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Needs no token.
    Public,
    /// Anybody's who has a token: what it shows depends on whose.
    Users,
    /// Belongs to an organization, and is not there for strangers.
    Organization,
    /// For the organization's own tokens.
    Auditors,
    /// For site administrators, and not there for others.
    Site,
}

/// One method on one path.
#[derive(Debug, Clone)]
pub struct Route {
    pub method: &'static str,
    /// Below `/api/v2/`, or whole; `{name}` stands for what the prepared organization has under that name.
    pub path: &'static str,
    pub editions: Editions,
    pub audience: Audience,
    pub body: Option<Value>,
}

use Audience::{Auditors, Organization, Public, Site, Users};
use Editions::{Both, Hosted, SelfHosted};

fn route(
    method: &'static str,
    path: &'static str,
    editions: Editions,
    audience: Audience,
) -> Route {
    Route {
        method,
        path,
        editions,
        audience,
        body: None,
    }
}

fn get(path: &'static str, editions: Editions, audience: Audience) -> Route {
    route("GET", path, editions, audience)
}

fn delete(path: &'static str, editions: Editions, audience: Audience) -> Route {
    route("DELETE", path, editions, audience)
}

fn send(
    method: &'static str,
    path: &'static str,
    editions: Editions,
    audience: Audience,
    body: Value,
) -> Route {
    let route = route(method, path, editions, audience);
    Route {
        body: Some(body),
        ..route
    }
}

/// All routes, in an order in which each can be taken once.
pub fn all() -> Vec<Route> {
    [
        for_everybody(),
        organizations(),
        retention(
            "organizations/{name}/relationships/data-retention-policy",
            Organization,
        ),
        tokens(),
        pools(),
        teams(),
        memberships(),
        empty_lists(),
        administration(),
        retention("admin/data-retention-policy-settings", Site),
        vec![
            delete("admin/organizations/{spare}", Both, Site),
            delete("organizations/{name}", Both, Organization),
        ],
    ]
    .concat()
}

fn for_everybody() -> Vec<Route> {
    let new = organization(json!({"name": "{new}", "email": "{new}@tfe.local"}));
    vec![
        get("/.well-known/terraform.json", Both, Public),
        get("ping", Both, Public),
        get("account/details", Both, Users),
        get("organizations", Both, Users),
        send("POST", "organizations", Both, Users, new),
        get("organization-memberships", Both, Users),
        get("feature-sets", Hosted, Users),
    ]
}

fn organizations() -> Vec<Route> {
    let nothing = organization(json!({}));
    let alert = resource("subscriptions", json!({"rum-alert-threshold": 80}));
    vec![
        get("organizations/{name}", Both, Organization),
        send(
            "PATCH",
            "organizations/{name}",
            Both,
            Organization,
            nothing.clone(),
        ),
        send("PUT", "organizations/{name}", Both, Organization, nothing),
        get("organizations/{name}/entitlement-set", Both, Organization),
        get("entitlement-sets/{external-id}", Both, Organization),
        get("organizations/{name}/subscription", Hosted, Organization),
        send(
            "PATCH",
            "organizations/{name}/subscription",
            Hosted,
            Organization,
            alert,
        ),
        get("subscriptions/{subscription}", Hosted, Organization),
        get("organizations/{name}/feature-sets", Hosted, Organization),
        get("organizations/{name}/capacity", Both, Organization),
        get("organizations/{name}/runs/queue", Both, Organization),
        get(
            "organizations/{name}/relationships/module-producers",
            SelfHosted,
            Organization,
        ),
        get(
            "organizations/{name}/relationships/provider-producers",
            SelfHosted,
            Organization,
        ),
        get("organizations/{name}/projects", Both, Organization),
        get("projects/{project}", Both, Organization),
    ]
}

fn retention(path: &'static str, audience: Audience) -> Vec<Route> {
    let policy = |days: u32| {
        let attributes = json!({"delete-older-than-n-days": days});
        resource("data-retention-policy-delete-olders", attributes)
    };
    vec![
        get(path, SelfHosted, audience),
        send("POST", path, SelfHosted, audience, policy(30)),
        send("PATCH", path, SelfHosted, audience, policy(60)),
        delete(path, SelfHosted, audience),
    ]
}

fn tokens() -> Vec<Route> {
    const TOKEN: &str = "organizations/{name}/authentication-token";
    const AUDIT_TOKEN: &str = "organizations/{name}/authentication-token?token=audit-trails";
    const LIFETIMES: &str = "organizations/{name}/token-ttl-policies";
    let lifetime = json!([{"token-type": "team", "max-ttl-ms": 86_400_000}]);
    let lifetimes = resource(
        "organization-token-ttl-policies",
        json!({"token-ttl-policies": lifetime}),
    );
    vec![
        get(TOKEN, Both, Organization),
        get("organization/audit-trail", Hosted, Auditors),
        send(
            "POST",
            AUDIT_TOKEN,
            Hosted,
            Organization,
            resource("", json!({})),
        ),
        get(AUDIT_TOKEN, Hosted, Organization),
        delete(AUDIT_TOKEN, Hosted, Organization),
        send("POST", TOKEN, Both, Organization, resource("", json!({}))),
        delete(TOKEN, Both, Organization),
        get(LIFETIMES, Both, Organization),
        send("PATCH", LIFETIMES, Both, Organization, lifetimes),
    ]
}

fn pools() -> Vec<Route> {
    let pool = |name: &str| resource("agent-pools", json!({"name": name}));
    vec![
        get("organizations/{name}/agent-pools", Both, Organization),
        send(
            "POST",
            "organizations/{name}/agent-pools",
            Both,
            Organization,
            pool("walked"),
        ),
        get("agent-pools/{pool}", Both, Organization),
        send(
            "PATCH",
            "agent-pools/{pool}",
            Both,
            Organization,
            pool("renamed"),
        ),
        delete("agent-pools/{pool}", Both, Organization),
    ]
}

fn teams() -> Vec<Route> {
    const UNNAMED: &str = "teams/{team}/authentication-token";
    const NAMED: &str = "teams/{team}/authentication-tokens";
    let team = |name: &str| resource("teams", json!({"name": name}));
    let named = resource("authentication-tokens", json!({"description": "walked"}));
    vec![
        get("organizations/{name}/teams", Both, Organization),
        send(
            "POST",
            "organizations/{name}/teams",
            Both,
            Organization,
            team("walked"),
        ),
        get("teams/{team}", Both, Organization),
        get("teams/{team}/relationships/users", Both, Organization),
        get(
            "teams/{team}/relationships/organization-memberships",
            Both,
            Organization,
        ),
        send("PATCH", "teams/{team}", Both, Organization, team("renamed")),
        get("organizations/{name}/team-tokens", Both, Organization),
        send("POST", UNNAMED, Both, Organization, resource("", json!({}))),
        get(UNNAMED, Both, Organization),
        delete(UNNAMED, Both, Organization),
        get(NAMED, Both, Organization),
        send("POST", NAMED, Both, Organization, named),
        get("authentication-tokens/{team-token}", Both, Organization),
        delete("authentication-tokens/{team-token}", Both, Organization),
        delete("teams/{team}", Both, Organization),
    ]
}

fn memberships() -> Vec<Route> {
    const LIST: &str = "organizations/{name}/organization-memberships";
    let invited = resource(
        "organization-memberships",
        json!({"email": "{new}@tfe.local"}),
    );
    vec![
        get(LIST, Both, Organization),
        send("POST", LIST, Both, Organization, invited),
        get("organization-memberships/{membership}", Both, Organization),
        delete("organization-memberships/{membership}", Both, Organization),
    ]
}

/// What has no more to show than that there is nothing (contract 4.12).
pub fn empty_lists() -> Vec<Route> {
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
    .map(|path| get(path, Both, Organization))
    .into()
}

fn administration() -> Vec<Route> {
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
        get("admin/organizations", Both, Site),
        get("admin/organizations/{name}", Both, Site),
        send("PATCH", "admin/organizations/{name}", Both, Site, disabled),
        get(CONSUMERS, SelfHosted, Site),
        send(
            "PATCH",
            CONSUMERS,
            SelfHosted,
            Site,
            identifiers("organizations", &["{spare}"]),
        ),
        get(PROVIDER_CONSUMERS, SelfHosted, Site),
        send("PATCH", OLDER_CONSUMERS, SelfHosted, Site, older),
        send("PUT", PARTNERSHIPS, SelfHosted, Site, partners(both)),
        get("admin/feature-sets", Both, Site),
        send("POST", SUBSCRIPTION, Both, Site, subscription),
        get("admin/general-settings", Both, Site),
        send("PATCH", "admin/general-settings", Both, Site, unlimited),
    ]
}
