//! The overview: the state of the server, and what needs attention.

use maud::{Markup, html};
use serde_json::Value;

use super::resources::entries;
use super::{Answer, Outcome, Visit};
use crate::api::{at, encoded, encoded_path};
use crate::layout::{Page, facts};

/// The maximum number of API calls that the page makes, so that a visit does not slow a large server down.
const CALLS: usize = 60;
/// The calls about the server, the visitor's token, the mounts, the organizations and the metrics.
const CALLS_ABOUT_ALL: usize = 5;
/// The calls for a mount: its configuration and the list of its roles. Each role needs one more.
const CALLS_FOR_A_MOUNT: usize = 2;
/// The maximum number of mounts that the page examines, so that calls are left for their roles.
const MOUNTS_LOOKED_AT: usize = 10;

/// The maximum number of roles counted per mount. One call lists them all.
const ROLES_COUNTED: usize = 100;
/// The maximum number of organizations whose plans the page examines, by one call.
const ORGANIZATIONS_LOOKED_AT: usize = 100;
/// The fields of a role that restrict who may log in.
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

/// The number of days before an expiry from which on it needs attention.
const DAYS_BEFORE_AN_END: u64 = 30;
/// The seconds after which an overdue rotation needs attention. By then, a failed rotation has been retried several times.
const OVERDUE_AFTER: u64 = 3 * 60 * 60;
/// The number of seconds in a day.
const DAY: u64 = 24 * 60 * 60;

/// A fact that an operator may want to act on, or to look up on another page.
struct Finding {
    text: String,
    /// The page for that. `None` where there is none.
    place: Option<String>,
}

impl Finding {
    fn at(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            place: Some(place.into()),
        }
    }
}

/// The state of the server, as far as the visitor may see it. The rest is unknown to the page, and left out.
#[derive(Default)]
struct Seen {
    /// The numbers of objects, by the names of their kinds.
    counts: Vec<(&'static str, String)>,
    findings: Vec<Finding>,
    /// The objects that the page did not examine because there are too many, with the pages that show them.
    left_out: Vec<Finding>,
}

/// The overview.
pub fn page(visit: &Visit<'_>) -> Answer {
    let (status, health) = visit.api.ask("GET", "/v1/sys/health", None)?;
    let state = match status {
        200 => "ready",
        429 => "standby",
        501 => {
            "not initialized: send PUT /v1/sys/init; where a hash of the first root token is set, with that token"
        }
        503 if health.pointer("/sealed") == Some(&Value::Bool(true)) => {
            "sealed: `bao operator unseal` takes the shares of the root key; with a key file, start the server anew"
        }
        503 => "not ready: its database does not answer; the server's log says why",
        _ => "not known; the server's log says more",
    };
    let own = visit.api.read("/v1/auth/token/lookup-self").ok();
    let seen = seen(visit);
    Ok(Outcome::Page(Page::new(
        "Overview",
        html! {
            (facts([
                ("State", state.to_owned()),
                ("Version", at(&health, "/version")),
                ("Cluster", at(&health, "/cluster_name")),
            ]))
            h2 { "Needs attention" }
            @if seen.findings.is_empty() {
                p { "Nothing that your token can see" @if !seen.left_out.is_empty() { ", as far as this page looked" } "." }
            } @else {
                (list(&seen.findings))
            }
            @if !seen.left_out.is_empty() {
                h2 { "Not looked at" }
                p { "This page asks the server a limited number of questions. Look here for the rest:" }
                (list(&seen.left_out))
            }
            @if !seen.counts.is_empty() {
                h2 { "What there is" }
                (facts(seen.counts.clone()))
            }
            @if let Some(own) = &own {
                h2 { "Your token" }
                (facts([
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

fn list(findings: &[Finding]) -> Markup {
    html! {
        ul { @for finding in findings { li {
            @match &finding.place {
                Some(place) => a href=(place) { (finding.text) },
                None => (finding.text),
            }
        } } }
    }
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
    if methods.is_empty() {
        let text = "No workload can log in yet: enable the Google Cloud method";
        seen.findings.push(Finding::at(super::places::MOUNTS, text));
    }
    let mut mounts = Vec::new();
    for mount in methods.iter().take(MOUNTS_LOOKED_AT) {
        seen.findings.extend(of_credentials(visit, mount));
        let roles = roles_of(visit, mount);
        if roles.as_ref().is_some_and(Vec::is_empty) {
            let place = format!("/ui/roles/edit?mount={}", encoded(mount));
            let text = format!("The mount {mount} has no role: no workload can log in there");
            seen.findings.push(Finding::at(place, text));
        }
        mounts.push((*mount, roles));
    }
    if let Some(last) = mounts.last().filter(|_| methods.len() > mounts.len()) {
        let text = format!("Auth mounts after {}, and their roles", last.0);
        seen.left_out.push(Finding::at("/ui/mounts", text));
    }
    count_roles(&mounts, methods.len(), seen);
    let each = roles_of_each(&mounts);
    for (mount, roles) in &mounts {
        of_roles(
            visit,
            mount,
            roles.as_deref().unwrap_or_default(),
            each,
            seen,
        );
    }
}

/// The names of a mount's roles, at most one more than are counted; `None` where the visitor may not see them.
fn roles_of(visit: &Visit<'_>, mount: &str) -> Option<Vec<String>> {
    let limit = ROLES_COUNTED.saturating_add(1);
    let path = format!("/v1/auth/{}/role?limit={limit}", encoded_path(mount));
    visit.api.list(&path).ok()
}

/// The number of roles. It is left out where the visitor may not see all of them.
fn count_roles(mounts: &[(&str, Option<Vec<String>>)], all_mounts: usize, seen: &mut Seen) {
    let numbers = mounts.iter().map(|(_, roles)| roles.as_ref().map(Vec::len));
    let Some(numbers) = numbers.collect::<Option<Vec<usize>>>() else {
        return;
    };
    let counted = numbers.iter().map(|number| *number.min(&ROLES_COUNTED));
    let counted: usize = counted.sum();
    let are_more =
        all_mounts > mounts.len() || numbers.iter().any(|number| *number > ROLES_COUNTED);
    let text = match are_more {
        true => format!("more than {counted}"),
        false => counted.to_string(),
    };
    seen.counts.push(("Roles", text));
}

/// The number of roles of each mount that the remaining calls allow.
fn roles_of_each(mounts: &[(&str, Option<Vec<String>>)]) -> usize {
    let spent = CALLS_FOR_A_MOUNT.saturating_mul(mounts.len());
    let left = CALLS.saturating_sub(CALLS_ABOUT_ALL).saturating_sub(spent);
    let calls = |each: usize| {
        let roles = mounts.iter().filter_map(|(_, roles)| roles.as_ref());
        roles.map(|roles| roles.len().min(each)).sum::<usize>()
    };
    let enough = (0..=ROLES_COUNTED).take_while(|each| calls(*each) <= left);
    enough.last().unwrap_or(0)
}

/// A finding about credentials that are missing or never rotated.
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
    let place = format!("/ui/mounts/config?mount={}", encoded(mount));
    Some(Finding::at(place, text))
}

/// Findings about roles of a mount that restrict no login, among the first `looked_at`.
fn of_roles(visit: &Visit<'_>, mount: &str, roles: &[String], looked_at: usize, seen: &mut Seen) {
    let query = encoded(mount);
    for role in roles.iter().take(looked_at) {
        let path = format!("/v1/auth/{}/role/{}", encoded_path(mount), encoded(role));
        let is_open = visit.api.read(&path).is_ok_and(|role| {
            let data = role.get("data").unwrap_or(&Value::Null);
            !BOUNDS.iter().any(|bound| binds(data.get(bound)))
        });
        if is_open {
            let place = format!("/ui/roles/edit?mount={query}&role={}", encoded(role));
            let text = format!(
                "The role {role} of {mount} is bound to no account, project, zone, region, group or label"
            );
            seen.findings.push(Finding::at(place, text));
        }
    }
    if roles.len() > looked_at {
        let text = format!("Roles of {mount} beyond the first {looked_at}");
        seen.left_out
            .push(Finding::at(format!("/ui/roles?mount={query}"), text));
    }
}

/// True if a bound of a role restricts who may log in.
fn binds(bound: Option<&Value>) -> bool {
    match bound {
        Some(Value::Array(entries)) => {
            !entries.is_empty() && !entries.iter().any(|entry| entry == "*")
        }
        Some(Value::Object(labels)) => !labels.is_empty(),
        _ => false,
    }
}

/// The organizations, and plans that have expired.
fn of_organizations(visit: &Visit<'_>, seen: &mut Seen) {
    let path = format!("/api/v2/organizations?page%5Bsize%5D={ORGANIZATIONS_LOOKED_AT}");
    let Ok(answer) = visit.api.read(&path) else {
        return;
    };
    let total = at(&answer, "/meta/pagination/total-count");
    let number = total.parse::<usize>();
    seen.counts.push(("Organizations", total));
    let expired = entries(&answer).filter(|one| at(one, "/attributes/plan-expired") == "true");
    seen.findings.extend(expired.map(|organization| {
        let name = at(organization, "/attributes/name");
        let place = format!("/ui/organizations/plan?name={}", encoded(&name));
        Finding::at(
            place,
            format!("The plan of the organization {name} has expired"),
        )
    }));
    if number.is_ok_and(|number| number > ORGANIZATIONS_LOOKED_AT) {
        let text = format!("Plans of organizations beyond the first {ORGANIZATIONS_LOOKED_AT}");
        seen.left_out.push(Finding::at("/ui/organizations", text));
    }
}

/// The live tokens, and what expires soon.
fn of_metrics(visit: &Visit<'_>, seen: &mut Seen) {
    let Ok(metrics) = visit.api.read("/v1/sys/metrics") else {
        return;
    };
    let gauge = |name: &str| {
        let gauges = metrics.get("Gauges").and_then(Value::as_array);
        let mut gauges = gauges.into_iter().flatten();
        let found = gauges.find(|gauge| gauge.get("Name").is_some_and(|it| it == name))?;
        // A gauge of 0 means that this server does not know the value.
        let value = found.get("Value").and_then(Value::as_f64)?;
        (value >= 1.0).then_some(value as u64)
    };
    if let Some(live) = gauge("gatehouse_tokens_live") {
        seen.counts
            .push(("Service tokens, as last counted", live.to_string()));
    }
    let rotation = gauge("gatehouse_rotation_due_timestamp_seconds");
    if let Some(due) = rotation.filter(|due| *due >= visit.now) {
        let text = match due.saturating_sub(visit.now) / DAY {
            0 => "within a day".to_owned(),
            1 => "in 1 day".to_owned(),
            days => format!("in {days} days"),
        };
        seen.counts.push(("Next replacement of a stored key", text));
    }
    if rotation.is_some_and(|due| due.saturating_add(OVERDUE_AFTER) < visit.now) {
        let text = "The stored key of an auth mount should have been replaced: its rotation failed, as the server's log says, or its rotation window was missed and the next one is awaited";
        seen.findings.push(Finding::at("/ui/mounts", text));
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
