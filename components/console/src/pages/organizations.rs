//! Organizations.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Answer, Outcome, Visit};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, button, facts, form, input, notice, refused, select, table};

/// Entries on one page of a list.
const PAGE_SIZE: usize = 50;

/// The settings that the form has: the attribute, its label, what it is for.
const SETTINGS: [(&str, &str, &str); 2] = [
    ("email", "Email", "Where notices about the organization go."),
    (
        "collaborator-auth-policy",
        "Sign-in of members",
        "password, or two_factor_mandatory.",
    ),
];

/// The list, with a search and a form that makes one.
pub fn list(visit: &Visit<'_>) -> Answer {
    let searched = visit.query.text("q");
    let page = visit.query.text("page").parse().unwrap_or(1_u32).max(1);
    let answer = visit.api.read(&format!(
        "/api/v2/organizations?page%5Bsize%5D={PAGE_SIZE}&page%5Bnumber%5D={page}&q={}",
        encoded(searched)
    ))?;
    let rows: Vec<Vec<Markup>> = entries(&answer)
        .map(|organization| {
            let name = at(organization, "/attributes/name");
            vec![
                html! { a href=(address(&name)) { (name) } },
                html! { (at(organization, "/attributes/email")) },
                html! { (at(organization, "/attributes/created-at")) },
            ]
        })
        .collect();
    let pages = answer
        .pointer("/meta/pagination/total-pages")
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let turn = |page: u32| format!("/ui/organizations?q={}&page={page}", encoded(searched));
    Ok(Outcome::Page(Page::new(
        "Organizations",
        html! {
            form method="get" action="/ui/organizations" role="search" {
                (input("q", "Search", "A part of a name or an address.", searched))
                p { button { "Search" } }
            }
            (table(&["Name", "Email", "Made"], &rows))
            nav aria-label="Pages" { p {
                @if page > 1 { a href=(turn(page.saturating_sub(1))) { "Previous page" } " " }
                "Page " (page) " of " (pages.max(1))
                @if u64::from(page) < pages { " " a href=(turn(page.saturating_add(1))) { "Next page" } }
            } }
            (invitations(visit))
            h2 { "Make an organization" }
            (form(visit.session, "/ui/organizations", html! {
                (input("name", "Name", "Letters, digits, - and _; it stands in addresses.", ""))
                (input("email", "Email", "Where notices about the organization go.", ""))
            }, "Make it"))
        },
    )))
}

/// The visitor's own invitations; nothing where there are none, or where the token is no person's.
fn invitations(visit: &Visit<'_>) -> Markup {
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
pub fn answer_invitation(visit: &Visit<'_>, form: &Fields) -> Answer {
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

fn entries(answer: &Value) -> impl Iterator<Item = &Value> {
    let data = answer.get("data").and_then(Value::as_array);
    data.into_iter().flatten()
}

fn address(name: &str) -> String {
    format!("/ui/organizations/show?name={}", encoded(name))
}

fn api_path(name: &str) -> String {
    format!("/api/v2/organizations/{}", encoded(name))
}

/// Makes an organization.
pub fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let answer = visit.api.write(
        "/api/v2/organizations",
        &json!({ "data": { "type": "organizations", "attributes": {
            "name": form.text("name"), "email": form.text("email"),
        } } }),
    )?;
    Ok(Outcome::Redirect(address(&at(
        &answer,
        "/data/attributes/name",
    ))))
}

/// One organization.
pub fn show(visit: &Visit<'_>) -> Answer {
    shown(visit, visit.query.text("name"), html! {})
}

fn shown(visit: &Visit<'_>, name: &str, told: Markup) -> Answer {
    let path = api_path(name);
    let organization = visit.api.read(&path)?;
    let value = |attribute: &str| at(&organization, &format!("/data/attributes/{attribute}"));
    let name = value("name");
    let query = encoded(&name);
    Ok(Outcome::Page(Page::new(
        format!("Organization {name}"),
        html! {
            (told)
            (facts(&[
                ("Identifier", value("external-id")),
                ("Made", value("created-at")),
                ("Plan", value("plan-identifier")),
            ]))
            h2 { "Settings" }
            (form(visit.session, &address(&name), html! {
                @for (attribute, label, help) in SETTINGS { (input(attribute, label, help, &value(attribute))) }
            }, "Save"))
            h2 { "Teams" }
            (part(teams(visit, &path)))
            (form(visit.session, &format!("/ui/organizations/teams?name={query}"), html! {
                (input("team", "Name of a new team", "", ""))
            }, "Make a team"))
            h2 { "Members and invitations" }
            (part(members(visit, &path)))
            (form(visit.session, &format!("/ui/organizations/members?name={query}"), html! {
                (input("email", "Email of a person to invite", "They see the invitation in their own list.", ""))
                (input("team", "Identifier of their team", "As in the list of teams above.", ""))
            }, "Invite"))
            h2 { "Tokens" }
            (form(visit.session, &format!("/ui/organizations/token?name={query}"), html! {
                p { "A token of the organization is shown once. It takes the place of the one before, which ends at once." }
                (select("kind", "Kind", "audit-trails reads the audit trail alone.", &["organization", "audit-trails"], ""))
            }, "Make a token"))
            h2 { "Entitlements" }
            (part(entitlements(visit, &path)))
            h2 { "Delete" }
            (form(visit.session, "/ui/organizations/delete", html! {
                input type="hidden" name="name" value=(name);
                (input("typed", "Name", "Type the name of the organization once more. This cannot be undone.", ""))
            }, "Delete the organization"))
        },
    )))
}

/// A part of a page that the visitor may not see does not take the rest away.
fn part(made: Result<Markup, ApiError>) -> Markup {
    made.unwrap_or_else(|error| refused(&error))
}

fn teams(visit: &Visit<'_>, path: &str) -> Result<Markup, ApiError> {
    let answer = visit
        .api
        .read(&format!("{path}/teams?page%5Bsize%5D=100"))?;
    let rows: Vec<Vec<Markup>> = entries(&answer)
        .map(|team| {
            vec![
                html! { (at(team, "/attributes/name")) },
                html! { (at(team, "/attributes/users-count")) },
                html! { code { (at(team, "/id")) } },
            ]
        })
        .collect();
    Ok(html! { (table(&["Team", "Members", "Identifier"], &rows)) (goes_on(&answer)) })
}

fn members(visit: &Visit<'_>, path: &str) -> Result<Markup, ApiError> {
    let answer = visit.api.read(&format!(
        "{path}/organization-memberships?page%5Bsize%5D=100"
    ))?;
    let rows: Vec<Vec<Markup>> = entries(&answer)
        .map(|membership| {
            vec![
                html! { (at(membership, "/attributes/email")) },
                html! { (at(membership, "/attributes/status")) },
                html! { (at(membership, "/attributes/created-at")) },
            ]
        })
        .collect();
    Ok(html! { (table(&["Email", "State", "Since"], &rows)) (goes_on(&answer)) })
}

/// Says that a list is longer than what is shown.
fn goes_on(answer: &Value) -> Markup {
    let total = answer
        .pointer("/meta/pagination/total-count")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    html! { @if total > 100 { p { "These are the first 100 of " (total) "; the API lists all." } } }
}

fn entitlements(visit: &Visit<'_>, path: &str) -> Result<Markup, ApiError> {
    let answer = visit.api.read(&format!("{path}/entitlement-set"))?;
    let rows: Vec<Vec<Markup>> = answer
        .pointer("/data/attributes")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let value = match value {
                Value::Bool(true) => "yes".to_owned(),
                Value::Bool(false) => "no".to_owned(),
                value => crate::api::shown(value),
            };
            vec![html! { (name.replace('-', " ")) }, html! { (value) }]
        })
        .collect();
    Ok(table(&["Entitlement", "Has it"], &rows))
}

/// Changes settings.
pub fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = visit.query.text("name");
    let attributes: serde_json::Map<String, Value> = SETTINGS
        .iter()
        .filter(|(attribute, ..)| form.is_ticked(attribute))
        .map(|(attribute, ..)| ((*attribute).to_owned(), form.text(attribute).into()))
        .collect();
    let changed = visit.api.patch(
        &api_path(name),
        &json!({ "data": { "type": "organizations", "attributes": attributes } }),
    );
    after(visit, name, changed, "The settings are saved.")
}

fn after(visit: &Visit<'_>, name: &str, done: Result<Value, ApiError>, text: &str) -> Answer {
    let told = match &done {
        Ok(_) => notice(text),
        Err(error) => refused(error),
    };
    shown(visit, name, told)
}

/// Makes a team.
pub fn make_team(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = visit.query.text("name");
    let made = visit.api.write(
        &format!("{}/teams", api_path(name)),
        &json!({ "data": { "type": "teams", "attributes": { "name": form.text("team") } } }),
    );
    after(visit, name, made, "The team is made.")
}

/// Invites a person.
pub fn invite(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = visit.query.text("name");
    let invited = visit.api.write(
        &format!("{}/organization-memberships", api_path(name)),
        &json!({ "data": {
            "type": "organization-memberships",
            "attributes": { "email": form.text("email") },
            "relationships": { "teams": { "data": [{ "type": "teams", "id": form.text("team") }] } },
        } }),
    );
    after(visit, name, invited, "The person is invited.")
}

/// Makes a token of an organization, and shows it this once.
pub fn make_token(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = visit.query.text("name");
    let kind = match form.text("kind") {
        "audit-trails" => "?token=audit-trails",
        _ => "",
    };
    let made = visit.api.write(
        &format!("{}/authentication-token{kind}", api_path(name)),
        &json!({ "data": { "type": "authentication-tokens", "attributes": {} } }),
    )?;
    Ok(Outcome::Page(Page::new(
        format!("A token of {name}"),
        html! {
            (notice("Copy the token now: it is not shown again."))
            pre { (at(&made, "/data/attributes/token")) }
            p { a href=(address(name)) { "Organization " (name) } }
        },
    )))
}

/// Deletes an organization, once its name was typed.
pub fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = form.text("name");
    if form.text("typed") != name {
        let error = ApiError {
            status: 400,
            messages: vec![
                "the name that was typed is another one; nothing was deleted".to_owned(),
            ],
        };
        return shown(visit, name, refused(&error));
    }
    visit.api.delete(&api_path(name))?;
    Ok(Outcome::Redirect("/ui/organizations".to_owned()))
}
