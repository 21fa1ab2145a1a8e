//! Site administration: the installation, its users, and every organization in it.

mod organization;

use maud::{Markup, html};
use serde_json::{Value, json};

use super::fields::{Attribute, Kind, attribute, attribute_fields, changed_attributes};
use super::organizations::{retention_fields, retention_of, retention_sent};
use super::resources::{document, entries, made_token, turned_to, turning};
use super::{Answer, Outcome, Route, Visit, then};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, form, input, notice, refused, table, tick};

const GENERAL: &str = "/api/v2/admin/general-settings";
const RETENTION: &str = "/api/v2/admin/data-retention-policy-settings";

#[rustfmt::skip]
const SETTINGS: &[Attribute] = &[
    attribute("limit-user-organization-creation", "Only site administrators can make organizations", "", Kind::Flag),
    attribute("api-rate-limiting-enabled", "Limit the number of requests", "", Kind::Flag),
    attribute("api-rate-limit", "Requests per second", "Of each caller.", Kind::Number),
    attribute("teams-per-organization", "Teams of an organization", "At most.", Kind::Number),
    attribute("memberships-per-organization", "Members of an organization", "Invitations included, at most.", Kind::Number),
    attribute("teams-per-membership", "Teams of a member", "At most.", Kind::Number),
    attribute("agent-pools-per-organization", "Agent pools of an organization", "At most.", Kind::Number),
];

/// The address of the section.
pub const PATH: &str = "/ui/site";

/// Where the form that makes a user is sent.
const USERS: &str = "/ui/site/users";

/// The pages below [`PATH`].
pub const ROUTES: &[Route] = &[
    Route::both("/ui/site", |visit| page(visit, html! {}), change),
    Route::form(USERS, make_user),
    Route::form("/ui/site/retention", change_retention),
    Route::page("/ui/site/organizations", list),
    Route::both(
        "/ui/site/organization",
        |visit| organization::page(visit, html! {}),
        organization::change,
    ),
    Route::form("/ui/site/organization/plan", organization::book),
    Route::form("/ui/site/organization/sharing", organization::share),
];

/// The page for those to whom the section does not exist.
pub fn for_administrators() -> Page {
    Page {
        status: 404,
        title: "Site administration".to_owned(),
        content: html! {
            p { "Only site administrators can see this page, or the organization does not exist. Sign in as a site administrator, or with a token that has the policy root. "
                code { "gatehouse operator user create --site-admin" } " makes a site administrator." }
        },
    }
}

/// The page, below what was just said.
fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let settings = visit.api.read(GENERAL)?;
    let attributes = settings
        .pointer("/data/attributes")
        .cloned()
        .unwrap_or_default();
    Ok(Outcome::Page(Page::new(
        "Site administration",
        html! {
            (told)
            @if visit.query.text("done") == "saved" { (notice("The settings are saved.")) }
            p { a href="/ui/site/organizations" { "All organizations" } }
            h2 { "Make a user" }
            (form(visit.session, USERS, html! {
                (input("username", "Username", "Unique in the installation.", visit.typed(USERS, "username")))
                (input("email", "Email", "They can accept invitations to this address.", visit.typed(USERS, "email")))
                (tick("is-site-admin", "Site administrator", "They may see and change everything here.", visit.sent_to(USERS).is_some_and(|form| form.is_ticked("is-site-admin"))))
            }, "Make the user"))
            h2 { "Settings of the installation" }
            (form(visit.session, PATH, attribute_fields(SETTINGS, &attributes, visit.sent_to(PATH)), "Save"))
            (retention(visit))
        },
    )))
}

/// The policy of the installation; nothing in the edition that has none.
fn retention(visit: &Visit<'_>) -> Markup {
    let policy = match visit.api.read(RETENTION) {
        Err(error) if error.status == 404 => return html! {},
        Err(error) => return refused(&error),
        Ok(policy) => policy,
    };
    html! {
        h2 { "Retention" }
        p { (retention_of(&policy)) " Organizations can have policies of their own." }
        (form(visit.session, "/ui/site/retention", retention_fields(&policy, visit.sent_to("/ui/site/retention")), "Set"))
    }
}

fn saved(visit: &Visit<'_>, done: Result<Value, ApiError>) -> Answer {
    let place = "/ui/site?done=saved".to_owned();
    then(done, place, |told| page(visit, told))
}

fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let before = visit.api.read(GENERAL)?;
    let attributes = before.pointer("/data/attributes").unwrap_or(&Value::Null);
    let changes = changed_attributes(SETTINGS, form, attributes);
    let done = visit
        .api
        .patch(GENERAL, &document("general-settings", changes));
    saved(visit, done)
}

fn change_retention(visit: &Visit<'_>, form: &Fields) -> Answer {
    let done = retention_sent(form).and_then(|body| visit.api.write(RETENTION, &body));
    saved(visit, done)
}

/// Makes a user, and shows their first token this once.
fn make_user(visit: &Visit<'_>, form: &Fields) -> Answer {
    let made = visit.api.write(
        "/api/v2/admin/users",
        &document(
            "users",
            json!({
                "username": form.text("username"),
                "email": form.text("email"),
                "is-site-admin": form.is_ticked("is-site-admin"),
            }),
        ),
    );
    let title = "The first token of the user";
    let place = "/ui/site".to_owned();
    made_token(made, title, "/meta/token", place, |told| page(visit, told))
}

/// All organizations.
fn list(visit: &Visit<'_>) -> Answer {
    let searched = visit.query.text("q");
    let query = encoded(searched);
    let answer = turned_to(visit, &format!("/api/v2/admin/organizations?q={query}"))?;
    let rows: Vec<Vec<Markup>> = entries(&answer)
        .map(|organization| {
            let name = at(organization, "/attributes/name");
            vec![
                html! { a href={ "/ui/site/organization?name=" (encoded(&name)) } { (name) } },
                html! { (at(organization, "/attributes/notification-email")) },
                html! { @if at(organization, "/attributes/is-disabled") == "true" { "closed" } @else { "open" } },
            ]
        })
        .collect();
    Ok(Outcome::Page(Page::new(
        "All organizations",
        html! {
            form method="get" action="/ui/site/organizations" role="search" {
                (input("q", "Search", "A part of a name or an address.", searched))
                p { button { "Search" } }
            }
            (table(&["Name", "Email", "State"], &rows))
            (turning(visit, &answer, &format!("/ui/site/organizations?q={query}")))
            p { a href="/ui/site" { "Site administration" } }
        },
    )))
}
