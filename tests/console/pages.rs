//! Every page of the console, each with the status that it must have.

use gatehouse_tests::{Answer, WORKLOAD};
use serde_json::{Value, json};

/// The name of the objects that the pages show: an organization, a role, a policy, a user, an entity and a group.
const SUBJECT: &str = "looked-at";
/// Letters of a name without a place to break it, in lists that have to show it on a phone as well.
const LONG: usize = 120;
/// Pages that one of the two editions has.
pub const SELF_HOSTED: [&str; 2] = ["/ui/organizations/retention", "/ui/organizations/sharing"];
pub const HOSTED: [&str; 1] = ["/ui/organizations/trail"];

/// Sends a POST to the API of a server as its operator.
pub type Post<'p> = &'p dyn Fn(&str, &Value) -> Answer;

/// Makes the objects that the pages show, and returns the identifiers of a team, an agent pool and a user.
fn make_subject(post: Post<'_>) -> [String; 3] {
    let make = |path: &str, body: Value| {
        let made = post(path, &body);
        assert!(made.status < 300, "{path}: {made:?}");
        made.json()["data"]["id"].as_str().unwrap_or("").to_owned()
    };
    let document = |kind: &str, attributes: Value| json!({ "data": { "type": kind, "attributes": attributes } });
    let role = json!({ "type": "iam", "bound_service_accounts": WORKLOAD });
    make(&format!("/v1/auth/gcp/role/{SUBJECT}"), role);
    let policy =
        json!({ "policy": "path \"auth/token/lookup-self\" { capabilities = [\"read\"] }" });
    make(&format!("/v1/sys/policies/acl/{SUBJECT}"), policy);
    let long = "w".repeat(LONG);
    for kind in ["entity", "group"] {
        for name in [SUBJECT, &long] {
            make(
                &format!("/v1/identity/{kind}"),
                json!({ "name": name, "metadata": { "a": long } }),
            );
        }
    }
    let tuned = json!({ "description": long });
    make("/v1/sys/mounts/auth/gcp/tune", tuned);
    let organization = json!({ "name": SUBJECT, "email": "ops@example.com" });
    make(
        "/api/v2/organizations",
        document("organizations", organization),
    );
    let below = |place: &str| format!("/api/v2/organizations/{SUBJECT}/{place}");
    let team = make(
        &below("teams"),
        document("teams", json!({ "name": "team" })),
    );
    let pool = make(
        &below("agent-pools"),
        document("agent-pools", json!({ "name": "pool" })),
    );
    make(
        &format!("/api/v2/teams/{team}/authentication-token"),
        json!({}),
    );
    make(
        &format!("/api/v2/agent-pools/{pool}/authentication-tokens"),
        document("authentication-tokens", json!({ "description": long })),
    );
    let user = json!({ "username": SUBJECT, "email": "looked-at@example.com" });
    let user = make("/api/v2/admin/users", document("users", user));
    let description = json!({ "description": long });
    make(
        &format!("/api/v2/users/{user}/authentication-tokens"),
        document("authentication-tokens", description),
    );
    [team, pool, user]
}

/// Every page of the console's table but those `without`, about things that are made for it in a server with a method at `gcp`: the address of
/// each, and the status of its answer.
pub fn pages(post: Post<'_>, without: &[&str]) -> Vec<(String, u16)> {
    let [team, pool, user] = make_subject(post);
    let query = |address: &str| match address {
        "/ui/mounts/config" | "/ui/mounts/check" | "/ui/mounts/tune" | "/ui/roles" => {
            "?mount=gcp".to_owned()
        }
        "/ui/roles/edit" => format!("?mount=gcp&role={SUBJECT}"),
        "/ui/policies/edit" | "/ui/identity/entity" | "/ui/identity/group" => {
            format!("?name={SUBJECT}")
        }
        "/ui/identity/edit" => format!("?kind=group&name={SUBJECT}"),
        "/ui/organizations/team" => format!("?name={SUBJECT}&id={team}"),
        "/ui/organizations/pool" => format!("?name={SUBJECT}&id={pool}"),
        "/ui/site/organization" => format!("?name={SUBJECT}"),
        "/ui/site/user" => format!("?id={user}"),
        address if address.starts_with("/ui/organizations/") => format!("?name={SUBJECT}"),
        _ => String::new(),
    };
    let addresses = gatehouse_console::addresses().filter(|address| !without.contains(address));
    let shown = addresses.map(|address| format!("{address}{}", query(address)));
    let further = [
        "/ui/mounts/tune?mount=token",
        "/ui/roles/edit?mount=gcp",
        "/ui/policies/edit",
        "/ui/identity/edit?kind=entity",
        "/ui/leases?prefix=auth",
        "/ui/organizations?q=nothing-has-this-name",
        "/ui/organizations?page=9",
        "/ui/site/user",
    ];
    let missing = [
        "/ui/nothing",
        "/ui/roles/edit?mount=gcp&role=gone",
        "/ui/organizations/show?name=gone",
        "/ui/site/organization?name=gone",
        "/ui/site/user?id=gone",
    ];
    let found = shown.chain(further.map(str::to_owned)).map(|it| (it, 200));
    found
        .chain(missing.map(|it| (it.to_owned(), 404)))
        .collect()
}
