//! Teams: their rights, their members and their tokens.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::organization::{Organization, part};
use super::tokens::{MADE, end, wanted};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{button, form, input, select, table, tick};
use crate::pages::fields::Shown;
use crate::pages::resources::{Turned, document, made_token};
use crate::pages::{Answer, Outcome, Visit, then};

/// The name of the list.
const NAME: &str = "Teams";

/// The list, with a form that creates a team.
pub(super) fn list(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let teams = Turned::read(visit, &format!("{}/teams", organization.path))?;
    let rows: Vec<Vec<Markup>> = teams
        .entries()
        .map(|team| {
            vec![
                html! { a href=(address(&organization, &at(team, "/id"))) { (at(team, "/attributes/name")) } },
                html! { (at(team, "/attributes/users-count")) },
                html! { code { (at(team, "/id")) } },
            ]
        })
        .collect();
    organization.page(
        NAME,
        html! {
            (told)
            (table(NAME, &["Team", "Members", "Identifier"], &rows, "There are no teams that you can see: make one."))
            (teams.turning(NAME, &organization.address("teams")))
            h2 { "Make a team" }
            (form(visit.session, &organization.address("teams"), html! {
                (input("team", "Name", "Unique in the organization.", visit.typed("/ui/organizations/teams", "team")))
                (select("visibility", "Visibility", "secret: only its members and owners see it.", &["secret", "organization"], "secret"))
            }, "Make the team"))
        },
    )
}

fn address(organization: &Organization, id: &str) -> String {
    format!("{}&id={}", organization.address("team"), encoded(id))
}

/// Creates a team.
pub(super) fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let mut attributes = json!({ "name": form.text("team") });
    if let (visibility @ ("secret" | "organization"), Value::Object(attributes)) =
        (form.text("visibility"), &mut attributes)
    {
        attributes.insert("visibility".to_owned(), visibility.into());
    }
    let made = visit.api.write(
        &format!("{}/teams", organization.path),
        &document("teams", attributes),
    );
    let place = organization.address("teams");
    then(made, place, |told| list(visit, told))
}

/// The path of the team that the query names.
fn api_path(visit: &Visit<'_>) -> String {
    format!("/api/v2/teams/{}", encoded(visit.query.text("id")))
}

/// The rights of a team, by their names on the wire.
fn rights(team: &Value) -> impl Iterator<Item = (&String, bool)> {
    let access = team.pointer("/data/attributes/organization-access");
    let rights = access.and_then(Value::as_object).into_iter().flatten();
    rights.map(|(name, granted)| (name, granted == &Value::Bool(true)))
}

/// The address of the form that creates a token.
const MAKING: &str = "/ui/organizations/team/token";
/// The attribute of a team that tells whether its members manage its tokens.
const MANAGED_TOKENS: &str = "allow-member-token-management";

/// The values that the form shows for a team.
fn all_shown(team: &Value) -> Shown {
    let names = ["team", "visibility", MANAGED_TOKENS];
    let rights_of: Vec<(&String, bool)> = rights(team).collect();
    let names = names
        .into_iter()
        .chain(rights_of.iter().map(|right| right.0.as_str()));
    Shown::from_names(names, &|name| match name {
        "team" => at(team, "/data/attributes/name"),
        "visibility" | MANAGED_TOKENS => at(team, &format!("/data/attributes/{name}")),
        right => {
            let found = rights_of.iter().find(|(name, _)| *name == right);
            found.is_some_and(|(_, granted)| *granted).to_string()
        }
    })
}

/// One team.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let path = api_path(visit);
    let team = visit.api.read(&path)?;
    let value = |attribute: &str| at(&team, &format!("/data/attributes/{attribute}"));
    let query = format!(
        "name={}&id={}",
        encoded(&organization.name),
        encoded(visit.query.text("id"))
    );
    let action = |place: &str| format!("/ui/organizations/team{place}?{query}");
    let sent = visit.sent_to("/ui/organizations/team");
    let before = sent
        .and_then(Shown::carried)
        .unwrap_or_else(|| all_shown(&team));
    let text = |name: &str| match sent {
        Some(form) => form.text(name),
        None => before.text(name).unwrap_or_default(),
    };
    let is_on = |name: &str| match sent {
        Some(form) => form.is_ticked(name),
        None => before.text(name) == Some("true"),
    };
    organization.page(
        &format!("Team {}", value("name")),
        html! {
            (told)
            h2 { "Rights" }
            (form(visit.session, &action(""), html! {
                (before.field())
                (input("team", "Name", "The owners' team cannot be renamed.", text("team")))
                (select("visibility", "Visibility", "secret: only its members and owners see it.", &["secret", "organization"], text("visibility")))
                (tick(MANAGED_TOKENS, "Members manage the tokens of the team", "", is_on(MANAGED_TOKENS)))
                fieldset {
                    legend { "In the organization" }
                    @for (name, _) in rights(&team) { (tick(name, &name.replace('-', " "), "", is_on(name))) }
                }
            }, "Save"))
            h2 { "Members" }
            (part(members(visit, &organization, &path, &query)))
            (form(visit.session, &action("/members"), html! {
                input type="hidden" name="change" value="join";
                (input("membership", "Identifier of a membership", "From the list of members.", visit.typed("/ui/organizations/team/members", "membership")))
            }, "Add to the team"))
            h2 { "Tokens" }
            (part(tokens(visit, &path, &organization)))
            (form(visit.session, &action("/token"), html! {
                (input("description", "Description", "Unique among the tokens of the team. Empty for the one token without a description, which a new one replaces at once.", visit.typed(MAKING, "description")))
                (end(visit, MAKING))
            }, "Make a token"))
            h2 { "Delete" }
            p { (button(visit.session, &action("/delete"), &[], &format!("Delete team {}", value("name")))) }
        },
    )
}

fn members(
    visit: &Visit<'_>,
    organization: &Organization,
    path: &str,
    query: &str,
) -> Result<Markup, ApiError> {
    let path = format!("{path}/relationships/organization-memberships");
    let members = Turned::read(visit, &path)?;
    let rows: Vec<Vec<Markup>> = members
        .entries()
        .map(|membership| {
            let (id, email) = (at(membership, "/id"), at(membership, "/attributes/email"));
            let action = format!("/ui/organizations/team/members?{query}");
            let fields = [("change", "leave"), ("membership", id.as_str())];
            let text = format!("Take {email} out");
            vec![
                html! { (email) },
                html! { (at(membership, "/attributes/status")) },
                button(visit.session, &action, &fields, &text),
            ]
        })
        .collect();
    let place = address(organization, visit.query.text("id"));
    Ok(html! {
        (table("Members", &["Email", "State", "Actions"], &rows, "It has no members yet: add one."))
        (members.turning("Members", &place))
    })
}

fn tokens(visit: &Visit<'_>, path: &str, organization: &Organization) -> Result<Markup, ApiError> {
    // The list of members uses the usual query parameter for its pages, so this one needs another.
    let path = format!("{path}/authentication-tokens");
    let tokens = Turned::read_by(visit, "tokens", &path)?;
    let place = address(organization, visit.query.text("id"));
    let revoking = organization.address("token/revoke");
    Ok(super::tokens::list(
        visit,
        "Tokens of the team",
        &tokens,
        &place,
        &revoking,
    ))
}

/// Changes the name, the visibility and the rights.
pub(super) fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = api_path(visit);
    let team = visit.api.read(&path)?;
    let before = Shown::carried(form).unwrap_or_else(|| all_shown(&team));
    let was = |name: &str| before.text(name).unwrap_or_default();
    let is_turned = |name: &str| form.is_ticked(name) != (was(name) == "true");
    let mut attributes = Map::new();
    let mut add = |name: &str, value: Value| attributes.insert(name.to_owned(), value);
    for (name, field) in [("name", "team"), ("visibility", "visibility")] {
        if form.text(field) != was(field) {
            add(name, form.text(field).into());
        }
    }
    if is_turned(MANAGED_TOKENS) {
        add(MANAGED_TOKENS, form.is_ticked(MANAGED_TOKENS).into());
    }
    let changed: Map<String, Value> = rights(&team)
        .filter(|(name, _)| is_turned(name))
        .map(|(name, _)| (name.clone(), form.is_ticked(name).into()))
        .collect();
    if !changed.is_empty() {
        add("organization-access", changed.into());
    }
    let done = visit.api.patch(&path, &document("teams", attributes));
    let place = address(&organization, visit.query.text("id"));
    then(done, place, |told| page(visit, told))
}

/// Adds a member, or removes one.
pub(super) fn change_members(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = format!("{}/relationships/organization-memberships", api_path(visit));
    let body =
        json!({ "data": [{ "type": "organization-memberships", "id": form.text("membership") }] });
    let done = match form.text("change") {
        "leave" => visit.api.delete_with(&path, &body),
        _ => visit.api.write(&path, &body),
    };
    let place = address(&organization, visit.query.text("id"));
    then(done, place, |told| page(visit, told))
}

/// Creates a token, and shows it once.
pub(super) fn make_token(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = match form.text("description") {
        "" => format!("{}/authentication-token", api_path(visit)),
        _ => format!("{}/authentication-tokens", api_path(visit)),
    };
    let made = visit.api.write(&path, &wanted(form));
    let place = address(&organization, visit.query.text("id"));
    made_token(made, "A token of a team", MADE, place, |told| {
        page(visit, told)
    })
}

/// Deletes a team.
pub(super) fn delete(visit: &Visit<'_>, _: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    visit.api.delete(&api_path(visit))?;
    Ok(Outcome::Redirect(organization.address("teams")))
}
