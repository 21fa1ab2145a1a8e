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
mod policies;
mod resources;
mod revocation;
mod roles;
pub mod sign_in;
mod site;
mod tokens;
mod tuning;

use maud::{Markup, html};
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::form::Fields;
use crate::layout::{Page, refusal, refused, status_of};
use crate::session::{Credential, Session};

/// A request for a page.
pub struct Visit<'a> {
    /// The address, without the query.
    pub path: &'a str,
    /// The query.
    pub query: &'a Fields,
    /// The form that was sent. `None` where a page is only looked at.
    pub form: Option<&'a Fields>,
    /// The visitor's session.
    pub session: &'a Session,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// The API, with the visitor's token.
    pub api: &'a Api<'a>,
}

impl<'a> Visit<'a> {
    /// The text of `name` in the query, which the page cannot do without.
    ///
    /// # Errors
    ///
    /// 400 when it is missing.
    fn asked(&self, name: &str) -> Result<&'a str, ApiError> {
        required(name, self.query.text(name))
    }

    /// The form that was sent to `path`. A page that shows that form again does so because it was refused, and fills it with what was typed.
    fn sent_to(&self, path: &str) -> Option<&'a Fields> {
        self.form.filter(|_| self.path == path)
    }

    /// What was typed into a field of the form at `path`; empty where that form was not sent.
    fn typed(&self, path: &str, name: &str) -> &'a str {
        self.sent_to(path).map_or("", |form| form.text(name))
    }
}

/// `text`, which is that of `name`.
///
/// # Errors
///
/// 400 when it is empty.
fn required<'t>(name: &str, text: &'t str) -> Result<&'t str, ApiError> {
    match text {
        "" => Err(ApiError::new(400, format!("The {name} is missing"))),
        text => Ok(text),
    }
}

/// The path of a mount as a form names it: with or without `auth/` before it, which stands before every mount in the API.
///
/// # Errors
///
/// 400 when it is missing.
fn typed_mount<'t>(name: &str, text: &'t str) -> Result<&'t str, ApiError> {
    let path = text.trim_matches('/');
    required(name, path.strip_prefix("auth/").unwrap_or(path))
}

/// Makes sure that there is nothing at `path` of the API yet: a write there would take its place.
///
/// # Errors
///
/// 409 when there is something, and the error of the API when it does not tell.
fn require_free(visit: &Visit<'_>, path: &str) -> Result<(), ApiError> {
    match visit.api.read(path) {
        Ok(_) => Err(ApiError::new(409, "the name is in use")),
        Err(error) if error.status == 404 => Ok(()),
        Err(mut error) => {
            let told = "nothing was written: whether the name is in use could not be read";
            error.messages.push(told.to_owned());
            Err(error)
        }
    }
}

/// The result of a visit.
pub enum Outcome {
    /// A page.
    Page(Page),
    /// The page in answer to a form that was carried out, with what it made: that is shown this once.
    Made(Page),
    /// A document for programs.
    Document(Value),
    /// The page at that address.
    Redirect(String),
    /// A session with that token.
    SignedIn(Credential),
    /// The end of the session, with what there is to say about its token.
    SignedOut(Option<&'static str>),
}

/// The result of a page that asks the API, which can refuse.
type Answer = Result<Outcome, ApiError>;

/// Makes a page.
type Look = fn(&Visit<'_>) -> Answer;
/// Does what a form asks for.
type Act = fn(&Visit<'_>, &Fields) -> Answer;

/// A page or a form at an address.
struct Route {
    path: &'static str,
    /// `None` where there is only a form to be sent to.
    look: Option<Look>,
    /// `None` where no form is sent to.
    act: Option<Act>,
}

impl Route {
    /// A page.
    const fn page(path: &'static str, look: Look) -> Self {
        Self {
            path,
            look: Some(look),
            act: None,
        }
    }

    /// The address that a form of another page is sent to.
    const fn form(path: &'static str, act: Act) -> Self {
        Self {
            path,
            look: None,
            act: Some(act),
        }
    }

    /// A page with a form that is sent to the same address.
    const fn both(path: &'static str, look: Look, act: Act) -> Self {
        Self {
            path,
            look: Some(look),
            act: Some(act),
        }
    }
}

const SIGN_IN: &str = "/ui/sign-in";
const SIGN_OUT: &str = "/ui/sign-out";
const OPENAPI: &str = "/ui/openapi.json";

/// Every address, but that of the stylesheet.
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
            mounts::PATH,
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

/// The addresses of all pages that a browser shows, without the queries that some of them take.
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
            // To all others these pages do not exist.
            404 if visit.path.starts_with(site::PATH) => site::for_administrators(),
            _ => refusal(&error),
        })
    })
}

/// What was typed into a long form at `path`, where it is worth being shown again after the session has ended.
pub fn typed(path: &str, form: &Fields) -> Option<String> {
    match path {
        "/ui/policies/edit" => Some(form.raw("policy").replace("\r\n", "\n")),
        "/ui/roles/edit" => Some(roles::typed(form)),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// The description of the API, as far as the visitor has rights to it: browsers send the API no token, and so cannot follow a link there.
fn openapi(visit: &Visit<'_>) -> Answer {
    let described = visit.api.read("/v1/sys/internal/specs/openapi")?;
    Ok(Outcome::Document(described))
}

/// A page about the lack of one.
pub fn unknown(status: u16) -> Page {
    Page {
        status,
        title: "There is no such page".to_owned(),
        content: html! { p { "Go to the " a href="/ui/" { "overview" } ": everything is reached from there." } },
    }
}

/// The page in answer to a form that no page of this session sent.
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

/// The page in answer to a form that was carried out before.
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

/// The page in answer to a form beyond the limit.
pub fn too_long() -> Page {
    Page {
        status: 413,
        title: "This form is too long".to_owned(),
        content: html! {
            p { "It was not read. A form may have 512 KiB: check what you pasted. Use the API for longer values." }
        },
    }
}

/// Leads to `place` after a success, and shows the page `again` with the refusal otherwise.
fn then(
    done: Result<Value, ApiError>,
    place: String,
    again: impl FnOnce(Markup) -> Answer,
) -> Answer {
    match done {
        Ok(_) => Ok(Outcome::Redirect(place)),
        Err(error) => once_more(error, again),
    }
}

/// Shows the page `again` with the refusal `error`.
fn once_more(error: ApiError, again: impl FnOnce(Markup) -> Answer) -> Answer {
    // Where the page cannot be made either, the first refusal is told.
    let Ok(mut answer) = again(refused(&error)) else {
        return Err(error);
    };
    if let Outcome::Page(page) = &mut answer {
        page.status = status_of(&error);
    }
    Ok(answer)
}
