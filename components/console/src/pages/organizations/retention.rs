//! The retention of an organization's data, in the self-hosted edition.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::organization::Organization;
use crate::api::{ApiError, at};
use crate::form::Fields;
use crate::layout::{button, form, input};
use crate::pages::resources::document;
use crate::pages::{Answer, Visit, then};

/// The sentence that says what a policy does.
pub fn retention_of(policy: &Value) -> String {
    match at(policy, "/data/attributes/delete-older-than-n-days").as_str() {
        "" => "Nothing is deleted.".to_owned(),
        days => format!("Data older than {days} days is deleted."),
    }
}

/// The field of a policy, with the typed value where `sent` was refused.
pub fn retention_fields(policy: &Value, sent: Option<&Fields>) -> Markup {
    let days = match sent {
        Some(form) => form.text("days").to_owned(),
        None => at(policy, "/data/attributes/delete-older-than-n-days"),
    };
    input(
        "days",
        "Days",
        "Data that is older is deleted. Empty for never.",
        &days,
    )
}

/// The body that sets the typed policy.
///
/// # Errors
///
/// When the days are not a number.
pub fn retention_sent(form: &Fields) -> Result<Value, ApiError> {
    match form.text("days") {
        "" => Ok(document("data-retention-policy-dont-deletes", json!({}))),
        days => {
            let days: u32 = days
                .parse()
                .map_err(|_| ApiError::new(400, "the days are not a number"))?;
            Ok(document(
                "data-retention-policy-delete-olders",
                json!({ "delete-older-than-n-days": days }),
            ))
        }
    }
}

fn api_path(organization: &Organization) -> String {
    format!("{}/relationships/data-retention-policy", organization.path)
}

/// The page.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let policy = visit.api.read(&api_path(&organization))?;
    let is_own = !at(&policy, "/data/relationships/target/data").is_empty();
    let place = organization.address("retention");
    organization.page(
        "Retention",
        html! {
            (told)
            p { (retention_of(&policy)) " "
                @if is_own { "The organization has a policy of its own." } @else { "This is the policy of the installation." }
            }
            (form(visit.session, &place, retention_fields(&policy, visit.sent_to("/ui/organizations/retention")), "Set this policy for the organization"))
            @if is_own {
                p { (button(visit.session, &place, &[("unset", "yes")], "Go back to the installation's policy")) }
            }
        },
    )
}

/// Gives an organization its own policy, or removes it.
pub(super) fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = api_path(&organization);
    let done = match form.is_ticked("unset") {
        true => visit.api.delete(&path),
        false => retention_sent(form).and_then(|body| visit.api.write(&path, &body)),
    };
    let place = organization.address("retention");
    then(done, place, |told| page(visit, told))
}
