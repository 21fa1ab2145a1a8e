//! The audit trail, in the hosted edition. Only tokens of the organization and its audit-trail token can read it.

use maud::{Markup, html};
use zeroize::Zeroizing;

use super::organization::{Organization, part};
use crate::api::{Api, ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{form, input, secret, table};
use crate::pages::resources::entries;
use crate::pages::{Answer, Visit};
use crate::session::Credential;

/// The address of the form.
const PATH: &str = "/ui/organizations/trail";

/// The form.
pub(super) fn page(visit: &Visit<'_>) -> Answer {
    shown(visit, None)
}

/// The records, read with the token that was typed.
pub(super) fn read(visit: &Visit<'_>, form: &Fields) -> Answer {
    let given = Credential::Organizations(Zeroizing::new(form.text("trail_token").to_owned()));
    let records = match given.token() {
        "" => records(visit.api, form),
        token if token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            records(&visit.api.with(&given), form)
        }
        _ => Err(ApiError::new(
            400,
            "the token contains characters that no token can have; paste only the token",
        )),
    };
    shown(visit, Some(part(records)))
}

fn shown(visit: &Visit<'_>, records: Option<Markup>) -> Answer {
    let organization = Organization::open(visit)?;
    organization.page(
        "Audit trail",
        html! {
            (records.unwrap_or_default())
            (form(visit.session, &organization.address("trail"), html! {
                (secret("trail_token", "Token", "Of the organization, or of the kind audit-trails; “Tokens” makes one. It is used this once and not kept. Empty where you signed in with one."))
                (input("since", "From", "As 2030-01-31T00:00:00Z; empty for the oldest records that are kept.", visit.typed(PATH, "since")))
                (input("page", "Page", "Each has 1,000 records, the oldest first. Empty for the first.", visit.typed(PATH, "page")))
            }, "Show the records"))
        },
    )
}

fn records(api: &Api<'_>, form: &Fields) -> Result<Markup, ApiError> {
    let page = match form.text("page") {
        "" => "1",
        page => page,
    };
    let answer = api.read(&format!(
        "/api/v2/organization/audit-trail?since={}&page%5Bnumber%5D={}",
        encoded(form.text("since")),
        encoded(page)
    ))?;
    let rows: Vec<Vec<Markup>> = entries(&answer)
        .map(|record| {
            let cell = |place: &str| html! { (at(record, place)) };
            vec![
                cell("/timestamp"),
                cell("/auth/description"),
                cell("/resource/action"),
                cell("/resource/type"),
                cell("/resource/id"),
                cell("/request/id"),
            ]
        })
        .collect();
    let of_pages = |member: &str| at(&answer, &format!("/pagination/{member}"));
    Ok(html! {
        (table("Records", &["Time", "Who", "Did", "To a", "Identifier", "Request"], &rows, "There are no records from this time on."))
        p { "Page " (of_pages("current_page")) " of " (of_pages("total_pages")) ", of " (of_pages("total_count")) " records in all." }
    })
}
