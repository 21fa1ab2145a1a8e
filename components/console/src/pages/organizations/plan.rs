//! The page of an organization's plan and entitlements.

use maud::{Markup, html};
use serde_json::Value;

use super::organization::{Organization, part};
use crate::api::{ApiError, shown};
use crate::layout::table;
use crate::pages::{Answer, Visit};

/// The page.
pub(super) fn page(visit: &Visit<'_>) -> Answer {
    let organization = Organization::open(visit)?;
    let path = &organization.path;
    organization.page(
        "Entitlements",
        html! {
            @if !organization.is_self_hosted() {
                h2 { "Subscription" }
                (part(attributes(visit, &format!("{path}/subscription"), "Subscription", &["Term", "Value"])))
                p { "Site administrators change the plan, under “Site administration”." }
                h2 { "Entitlements" }
            }
            (part(attributes(visit, &format!("{path}/entitlement-set"), "Entitlements", &["Entitlement", "Has it"])))
        },
    )
}

fn attributes(
    visit: &Visit<'_>,
    path: &str,
    name: &str,
    heads: &[&str],
) -> Result<Markup, ApiError> {
    let answer = visit.api.read(path)?;
    let attributes = answer
        .pointer("/data/attributes")
        .and_then(Value::as_object);
    let rows: Vec<Vec<Markup>> = attributes
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            let value = match value {
                Value::Bool(true) => "yes".to_owned(),
                Value::Bool(false) => "no".to_owned(),
                value => shown(value),
            };
            vec![html! { (name.replace('-', " ")) }, html! { (value) }]
        })
        .collect();
    Ok(table(name, heads, &rows, "There is nothing to show."))
}
