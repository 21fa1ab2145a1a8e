//! Signing in and out.

use maud::{Markup, html};
use serde_json::json;
use zeroize::Zeroizing;

use super::places::SIGN_IN;
use super::{Answer, Outcome, Visit, revocation, typed_mount};
use crate::api::{ApiError, at, encoded_path};
use crate::exchange::Request;
use crate::form::Fields;
use crate::layout::{
    Page, area, form, input, notice, refused, refused_as, secret, status_of, summary,
};
use crate::session::{Credential, MAXIMUM_TOKEN_BYTES, Session, SessionError};

/// The maximum length of a JWT, in bytes; Google's JWTs are shorter than 4 KiB.
const MAXIMUM_JWT_BYTES: usize = 64 * 1024;

/// The page for visitors without a session.
pub fn page(session: &Session) -> Page {
    Page {
        status: 200,
        title: "Sign in".to_owned(),
        content: forms(session, "gcp", ""),
    }
}

/// The page for a cookie whose session has ended, or that is not from this server. The text that was `typed` into a form of that session is shown,
/// since it would otherwise be lost.
pub fn over(
    session: &Session,
    error: SessionError,
    request: &Request,
    typed: Option<String>,
) -> Page {
    let why = match error {
        SessionError::Foreign if request.method == "POST" && request.path() == SIGN_IN => {
            "This page was open too long: the server has another key now. Sign in again."
        }
        SessionError::Foreign => {
            "Your session was sealed with another key: by a server of another installation, before the key file was replaced or, without a key file, before a restart. Sign in again."
        }
        SessionError::Idle => {
            "Your session has ended because it was not used for a while. Sign in again."
        }
        SessionError::Old => {
            "Your session has ended: it cannot be prolonged any further. Sign in again."
        }
    };
    Page {
        status: 401,
        title: "Sign in".to_owned(),
        content: html! {
            (summary(html! { p { (why) } }))
            @if let Some(typed) = typed {
                h2 { "What you typed" }
                p class="field" {
                    label for="typed" { "It was not carried out" }
                    // HTML parsers drop the first line end of a text area.
                    textarea id="typed" name="typed" rows="12" readonly spellcheck="false" aria-describedby="typed-help" { "\n" (typed) }
                    span class="help" id="typed-help" { "Copy it now, sign in, open the form again, and paste it there." }
                }
            }
            (forms(session, "gcp", ""))
        },
    }
}

/// The page after signing out, with the message about the token, if any.
pub fn left(said: Option<&str>) -> Page {
    Page::new(
        "You are signed out",
        html! {
            @if let Some(said) = said { (notice(said)) }
            p { a href="/ui/sign-in" { "Sign in again" } }
        },
    )
}

fn forms(session: &Session, mount: &str, role: &str) -> Markup {
    html! {
        h2 { "With a token" }
        (form(session, "/ui/sign-in", html! {
            input type="hidden" name="by" value="token";
            (secret("token", "Token of the server", "From a login or from auth/token/create. It is kept sealed in this browser until you sign out."))
        }, "Sign in with the token"))
        h2 { "With a JWT" }
        (form(session, "/ui/sign-in", html! {
            input type="hidden" name="by" value="jwt";
            (input("mount", "Mount", "The path where the auth method is enabled.", mount))
            (input("role", "Role", "The role to log in under.", role))
            (area("jwt", "JWT", "From `gatehouse login-jwt`, or from the metadata server of an instance.", "", 4))
        }, "Sign in with the JWT"))
        h2 { "With an API token for organizations" }
        (form(session, "/ui/sign-in", html! {
            input type="hidden" name="by" value="organizations";
            (secret("api_token", "API token", "The token of a user, a team or an organization. It can access only the pages of organizations."))
        }, "Sign in with the API token"))
    }
}

/// Signs in with one of the forms.
pub fn sign_in(visit: &Visit<'_>, form: &Fields) -> Answer {
    let attempt = match form.text("by") {
        "token" => by_token(visit, form.text("token")),
        "jwt" => by_jwt(visit, form),
        _ => by_api_token(visit, form.text("api_token")),
    };
    let error = match attempt {
        Ok(credential) => return Ok(Outcome::SignedIn(credential)),
        Err(error) => error,
    };
    let (mount, role) = match form.text("by") {
        "jwt" => (form.text("mount"), form.text("role")),
        _ => ("gcp", ""),
    };
    Ok(Outcome::Page(Page {
        status: status_of(&error),
        title: "Sign in".to_owned(),
        content: html! { (told(&error, form)) (forms(visit.session, mount, role)) },
    }))
}

/// A refusal for a visitor without a session: the advice for a signed-in visitor does not help here.
fn told(error: &ApiError, form: &Fields) -> Markup {
    let (headline, advice) = match (error.status, form.text("by")) {
        (401 | 403 | 404 | 405, "jwt") => (
            "This login is refused",
            "There is no auth mount at that path, or it refuses the role or the JWT. Check all three: a JWT ends soon after it was made. Who runs \
             the server can see under “Why was this login refused?” which check failed.",
        ),
        (401 | 403 | 404, _) => (
            "The server does not accept this token",
            "It is mistyped, has ended, or was revoked, or it may not be used from your address. Paste the whole token and nothing else, or make \
             another.",
        ),
        (503, _) => (
            "The server cannot do this now",
            "It may be sealed, or its store may be out of reach: “Health” at the foot of this page says which. Try again later.",
        ),
        _ => return refused(error),
    };
    refused_as(error, headline, advice)
}

fn by_token(visit: &Visit<'_>, token: &str) -> Result<Credential, ApiError> {
    let credential = Credential::Server(checked(token)?);
    visit
        .api
        .with(&credential)
        .read("/v1/auth/token/lookup-self")?;
    Ok(credential)
}

fn by_api_token(visit: &Visit<'_>, token: &str) -> Result<Credential, ApiError> {
    let credential = Credential::Organizations(checked(token)?);
    visit
        .api
        .with(&credential)
        .read("/api/v2/organizations?page%5Bsize%5D=1")?;
    Ok(credential)
}

fn by_jwt(visit: &Visit<'_>, form: &Fields) -> Result<Credential, ApiError> {
    let mount = typed_mount("mount", form.text("mount"))?;
    let path = format!("/v1/auth/{}/login", encoded_path(mount));
    let body = json!({ "role": form.text("role"), "jwt": pasted_jwt(form)? });
    let answer = visit.api.write(&path, &body)?;
    let token = Zeroizing::new(at(&answer, "/auth/client_token"));
    Ok(Credential::Server(checked(&token)?))
}

/// `token`, if a cookie and a header field can hold it.
fn checked(token: &str) -> Result<Zeroizing<String>, ApiError> {
    let told = |message: &str| ApiError::new(400, message);
    if token.is_empty() {
        return Err(told("the token is missing"));
    }
    if token.len() > MAXIMUM_TOKEN_BYTES {
        return Err(told(
            "the token is too long for a browser to keep; use one of at most 2,000 bytes, such as a service token",
        ));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(told(
            "the token contains characters that no token can have; paste only the token",
        ));
    }
    Ok(Zeroizing::new(token.to_owned()))
}

/// The JWT in a form.
///
/// # Errors
///
/// When it is longer than any JWT. It is then not sent to the API.
pub fn pasted_jwt(form: &Fields) -> Result<&str, ApiError> {
    match form.text("jwt") {
        jwt if jwt.len() <= MAXIMUM_JWT_BYTES => Ok(jwt),
        _ => Err(ApiError::new(
            413,
            "what was pasted is longer than any JWT; paste only the JWT",
        )),
    }
}

/// Signs out, and revokes the token where the visitor asked for that.
pub fn sign_out(visit: &Visit<'_>, form: &Fields) -> Answer {
    match &visit.session.credential {
        Some(credential) if form.is_ticked("revoke") => {
            revocation::end(visit, credential, form.text("token_id"))
        }
        _ => Ok(Outcome::SignedOut(None)),
    }
}
