//! The audit trail, in the hosted edition: it opens to tokens of the organization and to those made for it.

use maud::{Markup, html};
use serde_json::Value;
use zeroize::Zeroizing;

use super::{Organization, part};
use crate::api::{Api, ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{form, input, secret, table};
use crate::pages::resources::entries;
use crate::pages::{Answer, Visit};
use crate::session::Credential;

/// The form.
pub(super) fn page(visit: &Visit<'_>) -> Answer {
    shown(visit, "", None)
}

/// The records, by the token that was given.
pub(super) fn read(visit: &Visit<'_>, form: &Fields) -> Answer {
    let since = form.text("since");
    let given = Credential::Organizations(Zeroizing::new(form.text("trail_token").to_owned()));
    let records = match given.token() {
        "" => records(visit.api, since),
        token if token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            records(&visit.api.with(&given), since)
        }
        _ => Err(ApiError {
            status: 400,
            messages: vec![
                "the token contains characters that no token can have; paste only the token"
                    .to_owned(),
            ],
        }),
    };
    shown(visit, since, Some(part(records)))
}

fn shown(visit: &Visit<'_>, since: &str, records: Option<Markup>) -> Answer {
    let organization = Organization::open(visit)?;
    organization.page(
        "Audit trail",
        html! {
            (records.unwrap_or_default())
            (form(visit.session, &organization.address("trail"), html! {
                (secret("trail_token", "Token", "Of the organization, or of the kind audit-trails; “Tokens” makes one. It is used this once and not kept. Empty where you signed in with one."))
                (input("since", "From", "As 2030-01-31T00:00:00Z; empty for the oldest records that are kept.", since))
            }, "Show the records"))
        },
    )
}

fn records(api: &Api<'_>, since: &str) -> Result<Markup, ApiError> {
    let answer = api.read(&format!(
        "/api/v2/organization/audit-trail?since={}",
        encoded(since)
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
    let total = answer
        .pointer("/pagination/total_count")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    Ok(html! {
        (table(&["Time", "Who", "Did", "To a", "Identifier", "Request"], &rows))
        @if total > rows.len() as u64 {
            p { "These are " (rows.len()) " of " (total) " records: ask for those from the last of these times on." }
        }
    })
}
