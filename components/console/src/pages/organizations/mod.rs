//! Organizations.

mod default_pools;
mod invitations;
mod members;
mod organization;
mod own_tokens;
mod plan;
mod pools;
mod retention;
mod settings;
mod sharing;
mod teams;
mod tokens;
mod trail;

use maud::{Markup, html};
use serde_json::json;

use self::organization::address;
use super::places::ORGANIZATIONS;
use super::resources::{Turned, empty_text};
use super::{Answer, Outcome, Route, Visit, then};
use crate::api::{at, encoded};
use crate::form::Fields;
use crate::layout::{Page, form, input, search, table};

pub use retention::{retention_fields, retention_of, retention_sent};
pub use tokens::{MADE, end, list as list_of_tokens, wanted};

/// The name of the list.
const NAME: &str = "Organizations";

/// The pages below [`ORGANIZATIONS`].
pub const ROUTES: &[Route] = &[
    Route::both(ORGANIZATIONS, |visit| list(visit, html! {}), make),
    Route::form("/ui/organizations/invitation", invitations::respond),
    Route::both(
        own_tokens::PATH,
        |visit| own_tokens::page(visit, html! {}),
        own_tokens::make,
    ),
    Route::form(own_tokens::REVOKING, own_tokens::revoke),
    Route::both(
        "/ui/organizations/show",
        |visit| settings::page(visit, html! {}),
        settings::change,
    ),
    Route::form("/ui/organizations/delete", settings::delete),
    Route::page("/ui/organizations/plan", plan::page),
    Route::both(
        "/ui/organizations/teams",
        |visit| teams::list(visit, html! {}),
        teams::make,
    ),
    Route::both(
        "/ui/organizations/team",
        |visit| teams::page(visit, html! {}),
        teams::change,
    ),
    Route::form("/ui/organizations/team/members", teams::change_members),
    Route::form("/ui/organizations/team/token", teams::make_token),
    Route::form("/ui/organizations/team/delete", teams::delete),
    Route::both(
        "/ui/organizations/members",
        |visit| members::list(visit, html! {}),
        members::invite,
    ),
    Route::form("/ui/organizations/members/remove", members::remove),
    Route::both(
        "/ui/organizations/token",
        |visit| tokens::page(visit, html! {}),
        tokens::make,
    ),
    Route::form("/ui/organizations/token/revoke", tokens::revoke),
    Route::form("/ui/organizations/token/lifetime", tokens::bound),
    Route::both(
        "/ui/organizations/pools",
        |visit| pools::list(visit, html! {}),
        pools::make,
    ),
    Route::both(
        "/ui/organizations/pool",
        |visit| pools::page(visit, html! {}),
        pools::change,
    ),
    Route::form("/ui/organizations/pool/token", pools::make_token),
    Route::form("/ui/organizations/pool/delete", pools::delete),
    Route::both(
        "/ui/organizations/retention",
        |visit| retention::page(visit, html! {}),
        retention::change,
    ),
    Route::page("/ui/organizations/sharing", sharing::page),
    Route::both("/ui/organizations/trail", trail::page, trail::read),
];

/// The list, with a search and a form that creates an organization.
fn list(visit: &Visit<'_>, told: Markup) -> Answer {
    let searched = visit.query.text("q");
    let query = encoded(searched);
    let organizations = Turned::read(visit, &format!("/api/v2/organizations?q={query}"))?;
    let rows: Vec<Vec<Markup>> = organizations
        .entries()
        .map(|organization| {
            let name = at(organization, "/attributes/name");
            vec![
                html! { a href=(address("show", &name)) { (name) } },
                html! { (at(organization, "/attributes/email")) },
                html! { (at(organization, "/attributes/created-at")) },
            ]
        })
        .collect();
    let empty = empty_text(
        searched,
        "There are none that you can see: make one, or ask an owner of one to invite you.",
    );
    Ok(Outcome::Page(Page::new(
        NAME,
        html! {
            (told)
            (search(ORGANIZATIONS, None, "A part of a name or an address.", searched))
            (table(NAME, &["Name", "Email", "Made"], &rows, empty))
            (organizations.turning(NAME, &format!("{ORGANIZATIONS}?q={query}")))
            (invitations::part(visit))
            h2 { "Make an organization" }
            (form(visit.session, ORGANIZATIONS, html! {
                (input("name", "Name", "Letters, digits, - and _; it is part of addresses.", visit.typed(ORGANIZATIONS, "name")))
                (input("email", "Email", "Where notices about the organization go.", visit.typed(ORGANIZATIONS, "email")))
            }, "Make it"))
        },
    )))
}

/// Creates an organization.
fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let made = visit.api.write(
        "/api/v2/organizations",
        &json!({ "data": { "type": "organizations", "attributes": {
            "name": form.text("name"), "email": form.text("email"),
        } } }),
    );
    let name = made.as_ref().map(|made| at(made, "/data/attributes/name"));
    let place = address("show", &name.unwrap_or_default());
    then(made, place, |told| list(visit, told))
}
