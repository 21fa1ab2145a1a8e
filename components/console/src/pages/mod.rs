//! The pages, each by its address.

mod capabilities;
mod explain;
mod fields;
mod identity;
mod leases;
mod mounts;
mod organizations;
mod overview;
mod policies;
mod resources;
mod roles;
pub mod sign_in;
mod site;
mod tokens;

use maud::{Markup, html};
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::form::Fields;
use crate::layout::{Page, refusal, refused};
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
    /// The API, with the visitor's token.
    pub api: &'a Api<'a>,
}

/// The result of a visit.
pub enum Outcome {
    /// A page.
    Page(Page),
    /// A document for programs.
    Document(Value),
    /// The page at that address.
    Redirect(String),
    /// A session with that token.
    SignedIn(Credential),
    /// The end of the session.
    SignedOut,
}

/// The result of a page that asks the API, which can refuse.
type Answer = Result<Outcome, ApiError>;

/// The outcome of `visit`.
pub fn answer(visit: &Visit<'_>) -> Outcome {
    let signed_in = visit.session.credential.is_some();
    let answer = match (visit.path, visit.form) {
        ("/ui/sign-in", Some(form)) => sign_in::sign_in(visit, form),
        ("/ui/sign-in", None) => Ok(Outcome::Page(sign_in::page(visit.session))),
        ("/ui/sign-out", Some(form)) => sign_in::sign_out(visit, form),
        _ if !signed_in => Ok(Outcome::Page(sign_in::page(visit.session))),
        ("/ui/", None) => overview::page(visit),
        ("/ui/mounts", None) => mounts::list(visit),
        ("/ui/mounts", Some(form)) => mounts::enable(visit, form),
        ("/ui/mounts/disable", Some(form)) => mounts::disable(visit, form),
        ("/ui/mounts/config", None) => mounts::config(visit),
        ("/ui/mounts/config", Some(form)) => mounts::configure(visit, form),
        ("/ui/mounts/check", None) => mounts::check(visit),
        ("/ui/roles", None) => roles::list(visit),
        ("/ui/roles/edit", None) => roles::edit(visit),
        ("/ui/roles/edit", Some(form)) => roles::save(visit, form),
        ("/ui/roles/delete", Some(form)) => roles::delete(visit, form),
        ("/ui/explain", None) => explain::page(visit),
        ("/ui/explain", Some(form)) => explain::explain(visit, form),
        ("/ui/policies", None) => policies::list(visit),
        ("/ui/policies/edit", None) => policies::edit(visit),
        ("/ui/policies/edit", Some(form)) => policies::save(visit, form),
        ("/ui/policies/delete", Some(form)) => policies::delete(visit, form),
        ("/ui/capabilities", None) => capabilities::page(visit),
        ("/ui/capabilities", Some(form)) => capabilities::ask(visit, form),
        ("/ui/tokens", None) => tokens::list(visit),
        ("/ui/tokens", Some(form)) => tokens::look_up(visit, form),
        ("/ui/tokens/revoke", Some(form)) => tokens::revoke(visit, form),
        ("/ui/leases", None) => leases::list(visit),
        ("/ui/leases/revoke", Some(form)) => leases::revoke(visit, form),
        ("/ui/openapi.json", None) => openapi(visit),
        _ => below(visit).unwrap_or_else(|| Ok(Outcome::Page(unknown(404)))),
    };
    answer.unwrap_or_else(|error| Outcome::Page(refusal(&error)))
}

/// The page of a section that has many. `None` where there is none.
fn below(visit: &Visit<'_>) -> Option<Answer> {
    identity::answer(visit)
        .or_else(|| organizations::answer(visit))
        .or_else(|| site::answer(visit))
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
            p { "It was not carried out. Either you signed in or out in another window after it was shown, or another site sent it in your name." }
            p { "Open the page again from the " a href="/ui/" { "overview" } " and fill the form in once more." }
        },
    }
}

/// The page in answer to a form beyond the limit.
pub fn too_long() -> Page {
    Page {
        status: 413,
        title: "This form is too long".to_owned(),
        content: html! {
            p { "It was not read. A form may have 512 KiB; see whether you pasted something else than was asked for. What is longer is written by the API." }
        },
    }
}

/// Seconds as the API takes durations: the text as it is, where there is any.
fn given(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

/// Leads to `place` after a success, and shows the page `again` with the refusal otherwise.
fn then(
    done: Result<Value, ApiError>,
    place: String,
    again: impl FnOnce(Markup) -> Answer,
) -> Answer {
    let error = match done {
        Ok(_) => return Ok(Outcome::Redirect(place)),
        Err(error) => error,
    };
    let mut answer = again(refused(&error))?;
    if let Outcome::Page(page) = &mut answer {
        page.status = error.status;
    }
    Ok(answer)
}
