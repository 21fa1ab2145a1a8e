//! The visitor's own invitations.

use maud::{Markup, html};
use serde_json::json;

use crate::api::{at, encoded};
use crate::form::Fields;
use crate::layout::{button, table};
use crate::pages::resources::entries;
use crate::pages::{Answer, Outcome, Visit};

/// The visitor's own invitations; nothing where there are none, or where the token is no person's.
pub(super) fn part(visit: &Visit<'_>) -> Markup {
    let answer = visit
        .api
        .read("/api/v2/organization-memberships?page%5Bsize%5D=100")
        .unwrap_or_default();
    let rows: Vec<Vec<Markup>> = entries(&answer)
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
        @if !rows.is_empty() {
            h2 { "Your invitations" }
            (table(&["Organization", "Answer"], &rows))
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
