//! The visitor's own invitations.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::api::{at, encoded};
use crate::form::Fields;
use crate::layout::{button, table};
use crate::pages::resources::entries;
use crate::pages::{Answer, Outcome, Visit};

/// The number of memberships on one page of the API.
const PAGE_SIZE: usize = 100;
/// The maximum number of pages read. A visitor with more memberships is told so.
const MAXIMUM_PAGES: u64 = 10;

/// The visitor's memberships, as far as they were read, and true if there are more.
fn memberships(visit: &Visit<'_>) -> (Vec<Value>, bool) {
    let mut memberships = Vec::new();
    for number in 1..=MAXIMUM_PAGES {
        let path = format!(
            "/api/v2/organization-memberships?page%5Bsize%5D={PAGE_SIZE}&page%5Bnumber%5D={number}"
        );
        let Ok(answer) = visit.api.read(&path) else {
            return (memberships, number > 1);
        };
        memberships.extend(entries(&answer).cloned());
        let pages = answer.pointer("/meta/pagination/total-pages");
        if pages.and_then(Value::as_u64).unwrap_or(1) <= number {
            return (memberships, false);
        }
    }
    (memberships, true)
}

/// The visitor's own invitations; empty where there are none, or where the token belongs to no user.
pub(super) fn part(visit: &Visit<'_>) -> Markup {
    let (memberships, are_more) = memberships(visit);
    let rows: Vec<Vec<Markup>> = memberships
        .iter()
        .filter(|membership| at(membership, "/attributes/status") == "invited")
        .map(|membership| {
            let name = at(membership, "/relationships/organization/data/id");
            let id = at(membership, "/id");
            let answering = |verb: &str, text: &str| {
                let fields = [("id", id.as_str()), ("answer", verb)];
                button(visit.session, "/ui/organizations/invitation", &fields, text)
            };
            vec![
                html! { (name) },
                html! {
                    (answering("accept", &format!("Join {name}"))) " "
                    (answering("decline", &format!("Decline {name}")))
                },
            ]
        })
        .collect();
    html! {
        @if !rows.is_empty() || are_more {
            h2 { "Your invitations" }
            (table("Your invitations", &["Organization", "Answer"], &rows, "None was found."))
            @if are_more {
                p { "You are a member of more organizations than this page looks at (" (memberships.len()) "): the API lists the invitations to the others." }
            }
        }
    }
}

/// Accepts or declines an invitation of the visitor.
pub(super) fn respond(visit: &Visit<'_>, form: &Fields) -> Answer {
    let verb = match form.text("answer") {
        "accept" => "accept",
        _ => "decline",
    };
    visit.api.write(
        &format!(
            "/api/v2/organization-memberships/{}/actions/{verb}",
            encoded(form.text("id"))
        ),
        &json!({}),
    )?;
    Ok(Outcome::Redirect("/ui/organizations".to_owned()))
}
