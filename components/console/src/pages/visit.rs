//! A request for a page, and its possible outcomes.

use maud::Markup;
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::form::Fields;
use crate::layout::{Page, refused, status_of};
use crate::session::{Credential, Session};

/// A request for a page.
pub struct Visit<'a> {
    /// The address, without the query.
    pub path: &'a str,
    /// The query.
    pub query: &'a Fields,
    /// The form that was sent. `None` where the request only reads the page.
    pub form: Option<&'a Fields>,
    /// The visitor's session.
    pub session: &'a Session,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// The API, with the visitor's token.
    pub api: &'a Api<'a>,
}

impl<'a> Visit<'a> {
    /// The text of `name` in the query, which the page requires.
    ///
    /// # Errors
    ///
    /// 400 when it is missing.
    pub(super) fn asked(&self, name: &str) -> Result<&'a str, ApiError> {
        required(name, self.query.text(name))
    }

    /// The form that was sent to `path`. A page shows a sent form again only because it was refused, and fills it with the typed values.
    pub(super) fn sent_to(&self, path: &str) -> Option<&'a Fields> {
        self.form.filter(|_| self.path == path)
    }

    /// The text that was typed into a field of the form at `path`; empty where that form was not sent.
    pub(super) fn typed(&self, path: &str, name: &str) -> &'a str {
        self.sent_to(path).map_or("", |form| form.text(name))
    }
}

/// `text`, which is the value of `name`.
///
/// # Errors
///
/// 400 when it is empty.
pub(super) fn required<'t>(name: &str, text: &'t str) -> Result<&'t str, ApiError> {
    match text {
        "" => Err(ApiError::new(400, format!("The {name} is missing"))),
        text => Ok(text),
    }
}

/// The path of a mount as a form names it, with or without the `auth/` that precedes every mount in the API.
///
/// # Errors
///
/// 400 when it is missing.
pub(super) fn typed_mount<'t>(name: &str, text: &'t str) -> Result<&'t str, ApiError> {
    let path = text.trim_matches('/');
    required(name, path.strip_prefix("auth/").unwrap_or(path))
}

/// Makes sure that nothing exists at `path` of the API yet: a write would replace it.
///
/// # Errors
///
/// 409 when something exists there, and the error of the API when it does not tell.
pub(super) fn require_free(visit: &Visit<'_>, path: &str) -> Result<(), ApiError> {
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
    /// The page in response to a form that was carried out, with the secret that it created, which is shown once.
    Made(Page),
    /// A machine-readable document.
    Document(Value),
    /// The page at that address.
    Redirect(String),
    /// A session with that token.
    SignedIn(Credential),
    /// The end of the session, with the message about its token, if any.
    SignedOut(Option<&'static str>),
}

/// The result of a page that asks the API, which can refuse.
pub(super) type Answer = Result<Outcome, ApiError>;

/// Redirects to `place` after a success, and shows the page `again` with the refusal otherwise.
pub(super) fn then(
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
pub(super) fn once_more(error: ApiError, again: impl FnOnce(Markup) -> Answer) -> Answer {
    // Where the page itself fails too, the first refusal is reported.
    let Ok(mut answer) = again(refused(&error)) else {
        return Err(error);
    };
    if let Outcome::Page(page) = &mut answer {
        page.status = status_of(&error);
    }
    Ok(answer)
}
