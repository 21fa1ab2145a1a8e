//! The overview: how the server is, and what needs attention.

use maud::html;
use serde_json::Value;

use super::{Answer, Outcome, Visit};
use crate::api::{at, encoded, encoded_path};
use crate::layout::{Page, facts};

/// Mounts looked into at most: each takes two calls of the API.
const MOUNTS_LOOKED_AT: usize = 20;

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
                    ("Seconds left", at(own, "/data/ttl")),
                    ("Entity", at(own, "/data/entity_id")),
                ]))
            }
            h2 { "Needs attention" }
            @if findings.is_empty() {
                p { "Nothing that your token can see." }
            } @else {
                ul { @for finding in &findings { li { a href=(finding.place) { (finding.text) } } } }
            }
        },
    )))
}

fn findings(visit: &Visit<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // What the token may not see is not known, which is no finding.
    let Ok(mounts) = visit.api.read("/v1/sys/auth") else {
        return found;
    };
    let mounts = mounts.get("data").and_then(Value::as_object);
    let methods = mounts
        .into_iter()
        .flatten()
        .filter(|(_, mount)| mount.get("type").and_then(Value::as_str) == Some("gcp"));
    for (path, _) in methods.take(MOUNTS_LOOKED_AT) {
        let mount = path.trim_end_matches('/');
        let query = encoded(mount);
        if let Ok(config) = visit
            .api
            .read(&format!("/v1/auth/{}/config", encoded_path(mount)))
        {
            let has = |name: &str| !at(&config, &format!("/data/{name}")).is_empty();
            if !has("client_email") && !has("identity_token_audience") {
                found.push(Finding {
                    text: format!("The mount {mount} has no credentials of its own"),
                    place: format!("/ui/mounts/config?mount={query}"),
                });
            }
        }
        match visit
            .api
            .list(&format!("/v1/auth/{}/role?limit=1", encoded_path(mount)))
        {
            Ok(roles) if roles.is_empty() => found.push(Finding {
                text: format!("The mount {mount} has no role: nobody can log in there"),
                place: format!("/ui/roles/edit?mount={query}"),
            }),
            _ => {}
        }
    }
    found
}
