//! The overview: how the server is, and what needs attention.

use maud::html;
use serde_json::Value;

use super::resources::entries;
use super::{Answer, Outcome, Visit};
use crate::api::{at, encoded, encoded_path};
use crate::layout::{Page, facts};

/// Mounts looked into at most: each takes two calls of the API.
const MOUNTS_LOOKED_AT: usize = 20;

/// Roles of a mount looked into at most, each by a call of the API.
const ROLES_LOOKED_AT: usize = 20;
/// Organizations whose plans are looked at.
const ORGANIZATIONS_LOOKED_AT: usize = 100;
/// The fields of a role that leave someone out.
const BOUNDS: &[&str] = &[
    "bound_service_accounts",
    "bound_projects",
    "bound_folders",
    "bound_organizations",
    "bound_zones",
    "bound_regions",
    "bound_instance_groups",
    "bound_labels",
];

/// The findings that an operator may want to mend.
struct Finding {
    text: String,
    place: String,
}

/// The overview.
pub fn page(visit: &Visit<'_>) -> Answer {
    let (status, health) = visit.api.ask("GET", "/v1/sys/health", None)?;
    let state = match status {
        200 => "ready",
        429 => "standing by",
        501 => "not initialized: `gatehouse operator init` does that",
        503 => "sealed: `gatehouse operator unseal` takes the shares of the root key",
        _ => "not known; the server's log says more",
    };
    let own = visit.api.read("/v1/auth/token/lookup-self").ok();
    let findings = findings(visit);
    Ok(Outcome::Page(Page::new(
        "Overview",
        html! {
            (facts(&[
                ("State", state.to_owned()),
                ("Version", at(&health, "/version")),
                ("Cluster", at(&health, "/cluster_name")),
            ]))
            @if let Some(own) = &own {
                h2 { "Your token" }
                (facts(&[
                    ("Name", at(own, "/data/display_name")),
                    ("Policies", at(own, "/data/policies")),
                    ("Seconds left", match at(own, "/data/ttl").as_str() {
                        "0" => "without end".to_owned(),
                        left => left.to_owned(),
                    }),
                    ("Entity", at(own, "/data/entity_id")),
                ]))
            }
            h2 { "Needs attention" }
            @if findings.is_empty() {
                p { "Nothing that your token can see, among the first " (MOUNTS_LOOKED_AT) " mounts and the first " (ROLES_LOOKED_AT) " roles of each." }
            } @else {
                ul { @for finding in &findings { li { a href=(finding.place) { (finding.text) } } } }
            }
        },
    )))
}

fn findings(visit: &Visit<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // What the token may not see is not known, which is no finding.
    if let Ok(mounts) = visit.api.read("/v1/sys/auth") {
        let mounts = mounts.get("data").and_then(Value::as_object);
        let methods = mounts
            .into_iter()
            .flatten()
            .filter(|(_, mount)| mount.get("type").and_then(Value::as_str) == Some("gcp"));
        for (path, _) in methods.take(MOUNTS_LOOKED_AT) {
            let mount = path.trim_end_matches('/');
            found.extend(of_credentials(visit, mount));
            of_roles(visit, mount, &mut found);
        }
    }
    of_plans(visit, &mut found);
    found
}

/// Credentials that are missing, or never replaced.
fn of_credentials(visit: &Visit<'_>, mount: &str) -> Option<Finding> {
    let path = format!("/v1/auth/{}/config", encoded_path(mount));
    let config = visit.api.read(&path).ok()?;
    let value = |name: &str| at(&config, &format!("/data/{name}"));
    let has_key = !value("client_email").is_empty();
    let rotates = value("disable_automated_rotation") != "true"
        && (!value("rotation_schedule").is_empty()
            || !matches!(value("rotation_period").as_str(), "" | "0"));
    let text = match has_key {
        false if value("identity_token_audience").is_empty() => {
            format!("The mount {mount} has no credentials of its own")
        }
        true if !rotates => {
            format!("The stored key of the mount {mount} is never replaced: set a rotation period")
        }
        _ => return None,
    };
    Some(Finding {
        text,
        place: format!("/ui/mounts/config?mount={}", encoded(mount)),
    })
}

/// A mount without roles, and roles that bind no one.
fn of_roles(visit: &Visit<'_>, mount: &str, found: &mut Vec<Finding>) {
    let path = format!("/v1/auth/{}/role", encoded_path(mount));
    let query = encoded(mount);
    let Ok(roles) = visit.api.list(&format!("{path}?limit={ROLES_LOOKED_AT}")) else {
        return;
    };
    if roles.is_empty() {
        found.push(Finding {
            text: format!("The mount {mount} has no role: no workload can log in there"),
            place: format!("/ui/roles/edit?mount={query}"),
        });
    }
    for role in roles.iter().take(ROLES_LOOKED_AT) {
        let read = visit.api.read(&format!("{path}/{}", encoded(role)));
        let is_open = read.is_ok_and(|role| {
            let data = role.get("data").unwrap_or(&Value::Null);
            !BOUNDS.iter().any(|bound| binds(data.get(bound)))
        });
        if is_open {
            found.push(Finding {
                text: format!(
                    "The role {role} of {mount} is bound to no account, project or place"
                ),
                place: format!("/ui/roles/edit?mount={query}&role={}", encoded(role)),
            });
        }
    }
}

/// True if a bound of a role leaves anyone out.
fn binds(bound: Option<&Value>) -> bool {
    match bound {
        Some(Value::Array(entries)) => {
            !entries.is_empty() && !entries.iter().any(|entry| entry == "*")
        }
        Some(Value::Object(labels)) => !labels.is_empty(),
        _ => false,
    }
}

/// Plans that have ended.
fn of_plans(visit: &Visit<'_>, found: &mut Vec<Finding>) {
    let path = format!("/api/v2/organizations?page%5Bsize%5D={ORGANIZATIONS_LOOKED_AT}");
    let answer = visit.api.read(&path).unwrap_or_default();
    let expired = entries(&answer).filter(|one| at(one, "/attributes/plan-expired") == "true");
    found.extend(expired.map(|organization| {
        let name = at(organization, "/attributes/name");
        Finding {
            text: format!("The plan of the organization {name} has expired"),
            place: format!("/ui/organizations/plan?name={}", encoded(&name)),
        }
    }));
}
