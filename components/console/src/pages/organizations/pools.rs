//! Agent pools.

use maud::{Markup, html};
use serde_json::json;

use super::organization::{Organization, part};
use super::tokens::{MADE, wanted};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{button, form, input, table, tick};
use crate::pages::resources::{Turned, document, made_token};
use crate::pages::{Answer, Outcome, Visit, then};

/// The name of the list.
const NAME: &str = "Agent pools";
/// The address where pools are listed and created.
const PATH: &str = "/ui/organizations/pools";
/// The address where a pool is shown and changed.
const ONE: &str = "/ui/organizations/pool";
/// The address of the form that creates a token.
const MAKING: &str = "/ui/organizations/pool/token";

/// The list, with a form that creates a pool.
pub(super) fn list(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let pools = Turned::read(visit, &format!("{}/agent-pools", organization.path))?;
    let rows: Vec<Vec<Markup>> = pools
        .entries()
        .map(|pool| {
            vec![
                html! { a href=(address(&organization, &at(pool, "/id"))) { (at(pool, "/attributes/name")) } },
                html! { @if at(pool, "/attributes/organization-scoped") == "true" { "all" } @else { "named ones" } },
                html! { (at(pool, "/attributes/created-at")) },
            ]
        })
        .collect();
    let place = organization.address("pools");
    organization.page(
        NAME,
        html! {
            (told)
            (table(NAME, &["Pool", "Workspaces", "Made"], &rows, "There are no agent pools yet: make one."))
            (pools.turning(NAME, &place))
            h2 { "Make an agent pool" }
            (form(visit.session, &place, fields(visit, PATH, "", true), "Make the pool"))
        },
    )
}

/// The fields of the form that is sent to `path`, with the typed values where that form was refused.
fn fields(visit: &Visit<'_>, path: &str, name: &str, is_scoped: bool) -> Markup {
    let (name, is_scoped) = match visit.sent_to(path) {
        Some(form) => (form.text("pool"), form.is_ticked("organization-scoped")),
        None => (name, is_scoped),
    };
    html! {
        (input("pool", "Name", "Letters, digits, - and _.", name))
        (tick("organization-scoped", "All workspaces may use it", "", is_scoped))
    }
}

fn sent(form: &Fields) -> serde_json::Value {
    document(
        "agent-pools",
        json!({
            "name": form.text("pool"),
            "organization-scoped": form.is_ticked("organization-scoped"),
        }),
    )
}

fn address(organization: &Organization, id: &str) -> String {
    format!("{}&id={}", organization.address("pool"), encoded(id))
}

fn api_path(visit: &Visit<'_>) -> String {
    format!("/api/v2/agent-pools/{}", encoded(visit.query.text("id")))
}

/// Creates a pool.
pub(super) fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = format!("{}/agent-pools", organization.path);
    let made = visit.api.write(&path, &sent(form));
    let place = organization.address("pools");
    then(made, place, |told| list(visit, told))
}

/// One pool.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let path = api_path(visit);
    let pool = visit.api.read(&path)?;
    let name = at(&pool, "/data/attributes/name");
    let is_scoped = at(&pool, "/data/attributes/organization-scoped") == "true";
    let query = format!(
        "name={}&id={}",
        encoded(&organization.name),
        encoded(visit.query.text("id"))
    );
    let action = |place: &str| format!("/ui/organizations/pool{place}?{query}");
    organization.page(
        &format!("Agent pool {name}"),
        html! {
            (told)
            (form(visit.session, &action(""), fields(visit, ONE, &name, is_scoped), "Save"))
            h2 { "Tokens" }
            (part(tokens(visit, &path, &organization)))
            (form(visit.session, &action("/token"), input("description", "Description", "Of the token, for people.", visit.typed(MAKING, "description")), "Make a token"))
            h2 { "Delete" }
            p { (button(visit.session, &action("/delete"), &[], &format!("Delete pool {name}"))) }
        },
    )
}

fn tokens(visit: &Visit<'_>, path: &str, organization: &Organization) -> Result<Markup, ApiError> {
    let tokens = Turned::read(visit, &format!("{path}/authentication-tokens"))?;
    let place = address(organization, visit.query.text("id"));
    let revoking = organization.address("token/revoke");
    Ok(super::tokens::list(
        visit,
        "Tokens of the pool",
        &tokens,
        &place,
        &revoking,
    ))
}

/// Changes a pool.
pub(super) fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let done = visit.api.patch(&api_path(visit), &sent(form));
    let place = address(&organization, visit.query.text("id"));
    then(done, place, |told| page(visit, told))
}

/// Creates a token for agents, and shows it once.
pub(super) fn make_token(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = format!("{}/authentication-tokens", api_path(visit));
    let made = visit.api.write(&path, &wanted(form));
    let title = "A token of an agent pool";
    let place = address(&organization, visit.query.text("id"));
    made_token(made, title, MADE, place, |told| page(visit, told))
}

/// Deletes a pool.
pub(super) fn delete(visit: &Visit<'_>, _: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    visit.api.delete(&api_path(visit))?;
    Ok(Outcome::Redirect(organization.address("pools")))
}
