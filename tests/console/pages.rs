//! Every page that the console has, each with what it is to show.

use gatehouse_tests::{Answer, WORKLOAD};
use serde_json::{Value, json};

/// What the pages that are looked at are about; its name in organizations, roles, policies and identity.
const SUBJECT: &str = "looked-at";
/// Pages that one of the two editions has.
pub const SELF_HOSTED: [&str; 2] = ["/ui/organizations/retention", "/ui/organizations/sharing"];
pub const HOSTED: [&str; 1] = ["/ui/organizations/trail"];

/// Sends a POST to the API of a server as its operator.
pub type Post<'p> = &'p dyn Fn(&str, &Value) -> Answer;

/// Makes what the pages show, and answers the identifiers of a team and of an agent pool.
fn make_subject(post: Post<'_>) -> [String; 2] {
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
    for kind in ["entity", "group"] {
        make(
            &format!("/v1/identity/{kind}"),
            json!({ "name": SUBJECT, "metadata": { "a": "b" } }),
        );
    }
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
        json!({}),
    );
    [team, pool]
}

/// Every page of the console's table but those `without`, about things that are made for it in a server with a method at `gcp`: the address of
/// each, and the status of its answer.
pub fn pages(post: Post<'_>, without: &[&str]) -> Vec<(String, u16)> {
    let [team, pool] = make_subject(post);
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
    ];
    let missing = ["/ui/nothing", "/ui/roles/edit?mount=gcp&role=gone"];
    let found = shown.chain(further.map(str::to_owned)).map(|it| (it, 200));
    found
        .chain(missing.map(|it| (it.to_owned(), 404)))
        .collect()
}
