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

/// Days before an end from which on it needs attention.
const DAYS_BEFORE_AN_END: u64 = 30;
/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// The findings that an operator may want to mend.
struct Finding {
    text: String,
    /// The page where that is done. `None` where none is.
    place: Option<String>,
}

/// What the visitor may see of the server. What they may not see is left out, for it is not known.
#[derive(Default)]
struct Seen {
    /// What there is, and how much of it.
    counts: Vec<(&'static str, String)>,
    findings: Vec<Finding>,
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
    let seen = seen(visit);
    Ok(Outcome::Page(Page::new(
        "Overview",
        html! {
            (facts(&[
                ("State", state.to_owned()),
                ("Version", at(&health, "/version")),
                ("Cluster", at(&health, "/cluster_name")),
            ]))
            h2 { "Needs attention" }
            @if seen.findings.is_empty() {
                p { "Nothing that your token can see, among the first " (MOUNTS_LOOKED_AT) " mounts and the first " (ROLES_LOOKED_AT) " roles of each." }
            } @else {
                ul { @for finding in &seen.findings { li {
                    @match &finding.place {
                        Some(place) => a href=(place) { (finding.text) },
                        None => (finding.text),
                    }
                } } }
            }
            @if !seen.counts.is_empty() {
                h2 { "What there is" }
                (facts(&seen.counts))
            }
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
        },
    )))
}

fn seen(visit: &Visit<'_>) -> Seen {
    let mut seen = Seen::default();
    of_mounts(visit, &mut seen);
    of_organizations(visit, &mut seen);
    of_metrics(visit, &mut seen);
    seen
}

/// The auth mounts, their credentials and their roles.
fn of_mounts(visit: &Visit<'_>, seen: &mut Seen) {
    let Ok(mounts) = visit.api.read("/v1/sys/auth") else {
        return;
    };
    let methods: Vec<&str> = mounts
        .get("data")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, mount)| mount.get("type").and_then(Value::as_str) == Some("gcp"))
        .map(|(path, _)| path.trim_end_matches('/'))
        .collect();
    seen.counts.push(("Auth mounts", methods.len().to_string()));
    let mut roles = Some(Counted::default());
    for mount in methods.iter().take(MOUNTS_LOOKED_AT) {
        seen.findings.extend(of_credentials(visit, mount));
        let of_mount = of_roles(visit, mount, &mut seen.findings);
        roles = roles.zip(of_mount).map(|(roles, more)| roles.and(more));
    }
    if let Some(mut roles) = roles {
        roles.are_more |= methods.len() > MOUNTS_LOOKED_AT;
        seen.counts.push(("Roles", roles.text()));
    }
}

/// A number that was counted as far as was looked.
#[derive(Default)]
struct Counted {
    number: usize,
    are_more: bool,
}

impl Counted {
    const fn and(self, other: Self) -> Self {
        Self {
            number: self.number.saturating_add(other.number),
            are_more: self.are_more || other.are_more,
        }
    }

    fn text(&self) -> String {
        match self.are_more {
            true => format!("more than {}", self.number),
            false => self.number.to_string(),
        }
    }
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
        place: Some(format!("/ui/mounts/config?mount={}", encoded(mount))),
    })
}

/// A mount without roles, and roles that bind no one. Answers how many there are, where that may be seen.
fn of_roles(visit: &Visit<'_>, mount: &str, found: &mut Vec<Finding>) -> Option<Counted> {
    let path = format!("/v1/auth/{}/role", encoded_path(mount));
    let query = encoded(mount);
    // One more than are looked at says whether there are more.
    let limit = ROLES_LOOKED_AT.saturating_add(1);
    let roles = visit.api.list(&format!("{path}?limit={limit}")).ok()?;
    if roles.is_empty() {
        found.push(Finding {
            text: format!("The mount {mount} has no role: no workload can log in there"),
            place: Some(format!("/ui/roles/edit?mount={query}")),
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
                place: Some(format!(
                    "/ui/roles/edit?mount={query}&role={}",
                    encoded(role)
                )),
            });
        }
    }
    Some(Counted {
        number: roles.len().min(ROLES_LOOKED_AT),
        are_more: roles.len() > ROLES_LOOKED_AT,
    })
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

/// The organizations, and plans that have ended.
fn of_organizations(visit: &Visit<'_>, seen: &mut Seen) {
    let path = format!("/api/v2/organizations?page%5Bsize%5D={ORGANIZATIONS_LOOKED_AT}");
    let Ok(answer) = visit.api.read(&path) else {
        return;
    };
    let total = at(&answer, "/meta/pagination/total-count");
    seen.counts.push(("Organizations", total));
    let expired = entries(&answer).filter(|one| at(one, "/attributes/plan-expired") == "true");
    seen.findings.extend(expired.map(|organization| {
        let name = at(organization, "/attributes/name");
        Finding {
            text: format!("The plan of the organization {name} has expired"),
            place: Some(format!("/ui/organizations/plan?name={}", encoded(&name))),
        }
    }));
}

/// Live tokens, and what ends soon.
fn of_metrics(visit: &Visit<'_>, seen: &mut Seen) {
    let Ok(metrics) = visit.api.read("/v1/sys/metrics") else {
        return;
    };
    let gauge = |name: &str| {
        let gauges = metrics.get("Gauges").and_then(Value::as_array);
        let mut gauges = gauges.into_iter().flatten();
        let found = gauges.find(|gauge| gauge.get("Name").is_some_and(|it| it == name))?;
        // A gauge of 0 is one that is not known here.
        let value = found.get("Value").and_then(Value::as_f64)?;
        (value >= 1.0).then_some(value as u64)
    };
    if let Some(live) = gauge("gatehouse_tokens_live") {
        seen.counts
            .push(("Service tokens, as last counted", live.to_string()));
    }
    for (name, what, place) in [
        (
            "gatehouse_certificate_ends_timestamp_seconds",
            "The certificate of the server",
            None,
        ),
        (
            "gatehouse_plan_ends_timestamp_seconds",
            "The plan of an organization",
            Some("/ui/site/organizations"),
        ),
    ] {
        let days = gauge(name).map(|end| end.saturating_sub(visit.now) / DAY);
        if let Some(days @ 0..DAYS_BEFORE_AN_END) = days {
            seen.findings.push(Finding {
                text: match days {
                    0 => format!("{what} ends within a day, or has ended"),
                    1 => format!("{what} ends in 1 day"),
                    days => format!("{what} ends in {days} days"),
                },
                place: place.map(str::to_owned),
            });
        }
    }
}
