//! Site administration: the installation, its users, and every organization in it.

mod organization;
mod users;

use maud::{Markup, html};
use serde_json::Value;

use super::fields::{Attribute, Kind, attribute, attribute_fields, changed_attributes};
use super::organizations::{retention_fields, retention_of, retention_sent};
use super::places::SITE;
use super::resources::{Turned, document, empty_text};
use super::{Answer, Outcome, Route, Visit, then};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, form, notice, search, table, unavailable};

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

/// The address of the form for the installation's retention.
const RETAINING: &str = "/ui/site/retention";
/// The address of the list of all organizations.
const ORGANIZATIONS: &str = "/ui/site/organizations";

/// The pages below [`SITE`].
pub const ROUTES: &[Route] = &[
    Route::both(SITE, |visit| page(visit, html! {}), change),
    Route::form(users::MAKING, |visit, form| {
        users::make(visit, form, |told| page(visit, told))
    }),
    Route::both(
        users::PATH,
        |visit| users::page(visit, html! {}),
        users::make_token,
    ),
    Route::form(users::REVOKING, users::revoke),
    Route::form(RETAINING, change_retention),
    Route::page(ORGANIZATIONS, list),
    Route::both(
        "/ui/site/organization",
        |visit| organization::page(visit, html! {}),
        organization::change,
    ),
    Route::form("/ui/site/organization/plan", organization::book),
    Route::form("/ui/site/organization/sharing", organization::share),
];

/// The page for visitors for whom the section does not exist.
pub fn for_administrators() -> Page {
    Page {
        status: 404,
        title: "Site administration".to_owned(),
        content: html! {
            p { "Only site administrators can see this page, or what it is about does not exist. Sign in as a site administrator, or with a token that has the policy root. "
                code { "gatehouse operator user create --site-admin" } " makes a site administrator." }
        },
    }
}

/// The page, below the message `told`.
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
            p { a href=(ORGANIZATIONS) { (NAME) } ", " a href=(users::PATH) { (users::NAME) } }
            h2 { "Make a user" }
            (users::part(visit))
            h2 { "Settings of the installation" }
            (form(visit.session, SITE, attribute_fields(SETTINGS, &attributes, visit.sent_to(SITE)), "Save"))
            (retention(visit))
        },
    )))
}

/// The retention policy of the installation; empty in the edition without retention.
fn retention(visit: &Visit<'_>) -> Markup {
    let policy = match visit.api.read(RETENTION) {
        Err(error) if error.status == 404 => return html! {},
        Err(error) => return unavailable(&error),
        Ok(policy) => policy,
    };
    html! {
        h2 { "Retention" }
        p { (retention_of(&policy)) " Organizations can have policies of their own." }
        (form(visit.session, RETAINING, retention_fields(&policy, visit.sent_to(RETAINING)), "Set"))
    }
}

fn saved(visit: &Visit<'_>, done: Result<Value, ApiError>) -> Answer {
    let place = format!("{SITE}?done=saved");
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

/// The name of the list of organizations.
const NAME: &str = "All organizations";

/// All organizations.
fn list(visit: &Visit<'_>) -> Answer {
    let searched = visit.query.text("q");
    let query = encoded(searched);
    let path = format!("/api/v2/admin/organizations?q={query}");
    let organizations = Turned::read(visit, &path)?;
    let rows: Vec<Vec<Markup>> = organizations
        .entries()
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
        NAME,
        html! {
            (search(ORGANIZATIONS, None, "A part of a name or an address.", searched))
            (table(NAME, &["Name", "Email", "State"], &rows, empty_text(searched, "There are no organizations yet.")))
            (organizations.turning(NAME, &format!("{ORGANIZATIONS}?q={query}")))
            p { a href=(SITE) { "Site administration" } }
        },
    )))
}
