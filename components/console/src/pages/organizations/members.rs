//! The page of members and invitations.

use maud::{Markup, html};
use serde_json::json;

use super::organization::Organization;
use crate::api::{at, encoded};
use crate::form::Fields;
use crate::layout::{button, form, input, search, table};
use crate::pages::resources::{Turned, empty_text, entries};
use crate::pages::{Answer, Outcome, Visit, then};

/// The name of the list.
const NAME: &str = "Members and invitations";
/// The address where members are listed and invited.
const PATH: &str = "/ui/organizations/members";

/// The list, with a search and a form that invites a person.
pub(super) fn list(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let searched = visit.query.text("q");
    let path = format!(
        "{}/organization-memberships?q={}",
        organization.path,
        encoded(searched)
    );
    let memberships = Turned::read(visit, &path)?;
    let rows: Vec<Vec<Markup>> = memberships
        .entries()
        .map(|membership| {
            let (id, email) = (at(membership, "/id"), at(membership, "/attributes/email"));
            let fields = [("id", id.as_str())];
            let action = organization.address("members/remove");
            vec![
                html! { (email) },
                html! { (at(membership, "/attributes/status")) },
                html! { (at(membership, "/attributes/created-at")) },
                html! { code { (id) } },
                html! { code { (at(membership, "/relationships/user/data/id")) } },
                button(visit.session, &action, &fields, &format!("Remove {email}")),
            ]
        })
        .collect();
    let place = organization.address("members");
    organization.page(
        NAME,
        html! {
            (told)
            (search(PATH, Some(("name", &organization.name)), "A part of a name or an address.", searched))
            (table(NAME, &["Email", "State", "Since", "Identifier", "User", "Actions"], &rows, empty_text(searched, "It has no members yet: invite a person.")))
            (memberships.turning(NAME, &format!("{place}&q={}", encoded(searched))))
            h2 { "Invite a person" }
            (form(visit.session, &place, html! {
                (input("email", "Email", "They see the invitation in their own list, under “Organizations”.", visit.typed(PATH, "email")))
                (input("team", "Team", "The name or the identifier of their team, as the list of teams shows them.", visit.typed(PATH, "team")))
            }, "Invite"))
        },
    )
}

/// Invites a person.
pub(super) fn invite(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let team = id_of_team(visit, &organization, form.text("team"));
    let invited = visit.api.write(
        &format!("{}/organization-memberships", organization.path),
        &json!({ "data": {
            "type": "organization-memberships",
            "attributes": { "email": form.text("email") },
            "relationships": { "teams": { "data": [{ "type": "teams", "id": team }] } },
        } }),
    );
    let place = organization.address("members");
    then(invited, place, |told| list(visit, told))
}

/// The identifier of the team whose name was typed; the typed text itself where no team has that name, or the visitor may not see it.
fn id_of_team(visit: &Visit<'_>, organization: &Organization, typed: &str) -> String {
    let path = format!(
        "{}/teams?filter%5Bnames%5D={}",
        organization.path,
        encoded(typed)
    );
    let found = visit.api.read(&path).unwrap_or_default();
    let team = entries(&found).find(|team| at(team, "/attributes/name") == typed);
    team.map_or_else(|| typed.to_owned(), |team| at(team, "/id"))
}

/// Ends a membership or an invitation.
pub(super) fn remove(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    visit.api.delete(&format!(
        "/api/v2/organization-memberships/{}",
        encoded(form.text("id"))
    ))?;
    Ok(Outcome::Redirect(organization.address("members")))
}
