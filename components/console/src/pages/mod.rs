//! The pages, each by its address.

mod capabilities;
mod configuration;
mod confirmation;
mod explain;
mod fields;
mod identity;
mod leases;
mod listing;
mod mounts;
mod organizations;
mod overview;
mod places;
mod policies;
mod resources;
mod revocation;
mod roles;
mod route;
pub mod sign_in;
mod site;
mod tokens;
mod tuning;
mod visit;

use maud::html;

pub use visit::{Outcome, Visit};

use self::places::{MOUNTS, SIGN_IN, SIGN_OUT, SITE};
use self::route::Route;
use self::visit::{Answer, once_more, require_free, required, then, typed_mount};
use crate::form::Fields;
use crate::layout::{Page, refusal};

const OPENAPI: &str = "/ui/openapi.json";

/// All addresses except that of the stylesheet.
const ROUTES: [&[Route]; 4] = [
    &[
        Route::both(
            SIGN_IN,
            |visit| Ok(Outcome::Page(sign_in::page(visit.session))),
            sign_in::sign_in,
        ),
        Route::form(SIGN_OUT, sign_in::sign_out),
        Route::page("/ui/", overview::page),
        Route::both(
            MOUNTS,
            |visit| mounts::list(visit, html! {}),
            mounts::enable,
        ),
        Route::form("/ui/mounts/disable", mounts::disable),
        Route::both(
            "/ui/mounts/config",
            configuration::page,
            configuration::change,
        ),
        Route::page("/ui/mounts/check", mounts::check),
        Route::both(
            tuning::PATH,
            |visit| tuning::page(visit, html! {}),
            tuning::change,
        ),
        Route::page("/ui/roles", roles::list),
        Route::both("/ui/roles/edit", roles::edit, roles::save),
        Route::form("/ui/roles/delete", roles::delete),
        Route::both("/ui/explain", explain::page, explain::explain),
        Route::page("/ui/policies", policies::list),
        Route::both("/ui/policies/edit", policies::edit, policies::save),
        Route::form("/ui/policies/delete", policies::delete),
        Route::both("/ui/capabilities", capabilities::page, capabilities::ask),
        Route::both(
            tokens::PATH,
            |visit| tokens::list(visit, html! {}),
            tokens::look_up,
        ),
        Route::form("/ui/tokens/revoke", tokens::revoke),
        Route::page(leases::PATH, leases::list),
        Route::form(leases::REVOKING, leases::revoke),
        Route::page(OPENAPI, openapi),
    ],
    identity::ROUTES,
    organizations::ROUTES,
    site::ROUTES,
];

/// The addresses of all pages that a browser shows, without their queries.
pub fn addresses() -> impl Iterator<Item = &'static str> {
    let pages = ROUTES.into_iter().flatten();
    pages
        .filter(|route| route.look.is_some() && route.path != OPENAPI)
        .map(|route| route.path)
}

/// The outcome of `visit`.
pub fn answer(visit: &Visit<'_>) -> Outcome {
    let signed_in = visit.session.credential.is_some();
    let mut routes = ROUTES.into_iter().flatten();
    let route = routes.find(|route| route.path == visit.path);
    let is_open = matches!(visit.path, SIGN_IN | SIGN_OUT);
    let answer = match (route, visit.form) {
        _ if !signed_in && !is_open => Ok(Outcome::Page(sign_in::page(visit.session))),
        (
            Some(Route {
                look: Some(look), ..
            }),
            None,
        ) => look(visit),
        (Some(Route { act: Some(act), .. }), Some(form)) => act(visit, form),
        _ => Ok(Outcome::Page(unknown(404))),
    };
    answer.unwrap_or_else(|error| {
        Outcome::Page(match error.status {
            // For all other visitors these pages do not exist.
            404 if visit.path.starts_with(SITE) => site::for_administrators(),
            _ => refusal(&error),
        })
    })
}

/// The text that was typed into a long form at `path`, where it is worth showing again after the session has ended.
pub fn typed(path: &str, form: &Fields) -> Option<String> {
    match path {
        "/ui/policies/edit" => Some(form.raw("policy").replace("\r\n", "\n")),
        "/ui/roles/edit" => Some(roles::typed(form)),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// The description of the API, as far as the visitor's rights reach. It is a page because browsers send the API no token, and so cannot follow a link
/// there.
fn openapi(visit: &Visit<'_>) -> Answer {
    let described = visit.api.read("/v1/sys/internal/specs/openapi")?;
    Ok(Outcome::Document(described))
}

/// The page for an address that does not exist, or a method that it does not take.
pub fn unknown(status: u16) -> Page {
    Page {
        status,
        title: "There is no such page".to_owned(),
        content: html! { p { "Go to the " a href="/ui/" { "overview" } ": everything is reached from there." } },
    }
}

/// The page in response to a form that no page of this session sent.
pub fn forged() -> Page {
    Page {
        status: 403,
        title: "This form was not made in your session".to_owned(),
        content: html! {
            p { "It was not carried out. You signed in or out in another window after it was shown, or another site sent it in your name." }
            p { "Open the page again from the " a href="/ui/" { "overview" } " and fill the form in once more." }
        },
    }
}

/// The page in response to a form that was carried out before.
pub fn repeated() -> Page {
    Page {
        status: 409,
        title: "This form was sent before".to_owned(),
        content: html! {
            p { "It was carried out the first time, and not again now. A token that it made is shown only once: if you did not copy it, make another." }
            p { "To send the same once more, open the page from the " a href="/ui/" { "overview" } " and fill the form in again." }
        },
    }
}

/// The page in response to a form beyond the limit.
pub fn too_long() -> Page {
    Page {
        status: 413,
        title: "This form is too long".to_owned(),
        content: html! {
            p { "It was not read. A form may have 512 KiB: check what you pasted. Use the API for longer values." }
        },
    }
}
