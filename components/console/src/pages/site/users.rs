//! Users, and the API tokens that a site administrator makes for them.

use maud::{Markup, html};
use serde_json::json;

use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, facts, form, input, tick};
use crate::pages::organizations::{MADE, end, list_of_tokens, wanted};
use crate::pages::places::SITE;
use crate::pages::resources::{Turned, document, made_token};
use crate::pages::{Answer, Outcome, Visit, required};

/// The address of the form that creates a user.
pub(super) const MAKING: &str = "/ui/site/users";
/// The address where the tokens of a user are listed and created.
pub(super) const PATH: &str = "/ui/site/user";
/// The address of the form that revokes a token.
pub(super) const REVOKING: &str = "/ui/site/user/revoke";

/// The name of the page that lists the tokens of a user.
pub(super) const NAME: &str = "Tokens of a user";

/// The form that creates a user.
pub(super) fn part(visit: &Visit<'_>) -> Markup {
    let is_administrator = visit
        .sent_to(MAKING)
        .is_some_and(|form| form.is_ticked("is-site-admin"));
    form(
        visit.session,
        MAKING,
        html! {
            (input("username", "Username", "Unique in the installation.", visit.typed(MAKING, "username")))
            (input("email", "Email", "They can accept invitations to this address.", visit.typed(MAKING, "email")))
            (tick("is-site-admin", "Site administrator", "They may see and change everything here.", is_administrator))
        },
        "Make the user",
    )
}

/// Creates a user, and shows the user's first token once. Where the API refuses, the response is the page `again`.
pub(super) fn make(
    visit: &Visit<'_>,
    form: &Fields,
    again: impl FnOnce(Markup) -> Answer,
) -> Answer {
    let attributes = json!({
        "username": form.text("username"),
        "email": form.text("email"),
        "is-site-admin": form.is_ticked("is-site-admin"),
    });
    let made = visit
        .api
        .write("/api/v2/admin/users", &document("users", attributes));
    let id = made.as_ref().map(|made| at(made, "/data/id"));
    let place = address(&id.unwrap_or_default());
    made_token(
        made,
        "The first token of the user",
        "/meta/token",
        place,
        again,
    )
}

fn address(id: &str) -> String {
    format!("{PATH}?id={}", encoded(id))
}

fn api_path(id: &str) -> String {
    format!("/api/v2/users/{}", encoded(id))
}

/// The tokens of the user that the query names, with a form that creates one. Where it names no user, the form that asks for one.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let id = visit.query.text("id");
    let content = match id {
        "" => html! { (told) (asking(id)) },
        id => html! { (told) (tokens(visit, id)?) h2 { "Another user" } (asking(id)) },
    };
    Ok(Outcome::Page(Page::new(
        NAME,
        html! {
            (content)
            p { a href=(SITE) { "Site administration" } }
        },
    )))
}

fn asking(id: &str) -> Markup {
    let help = "It begins with user-. The page of an organization's members shows it, and the one that follows the making of a user.";
    html! {
        form method="get" action=(PATH) {
            (input("id", "Identifier of the user", help, id))
            p { button { "Show the tokens" } }
        }
    }
}

fn tokens(visit: &Visit<'_>, id: &str) -> Result<Markup, ApiError> {
    let user = visit.api.read(&api_path(id))?;
    let path = format!("{}/authentication-tokens", api_path(id));
    let tokens = Turned::read(visit, &path)?;
    let place = address(id);
    let revoking = format!("{REVOKING}?id={}", encoded(id));
    Ok(html! {
        (facts([
            ("Username", at(&user, "/data/attributes/username")),
            ("Email", at(&user, "/data/attributes/email")),
            ("Identifier", at(&user, "/data/id")),
        ]))
        (list_of_tokens(visit, NAME, &tokens, &place, &revoking))
        h2 { "Make a token" }
        p { "It can do in organizations all that the user can do. Make one for a user who lost theirs, and give it only to that user." }
        (form(visit.session, &place, html! {
            (input("description", "Description", "What the token is for: the user sees it in their own list.", visit.typed(PATH, "description")))
            (end(visit, PATH))
        }, "Make a token"))
    })
}

/// Creates a token of the user, and shows it once.
pub(super) fn make_token(visit: &Visit<'_>, form: &Fields) -> Answer {
    let made = required("identifier", visit.query.text("id")).and_then(|id| {
        let path = format!("{}/authentication-tokens", api_path(id));
        visit.api.write(&path, &wanted(form))
    });
    let place = address(visit.query.text("id"));
    made_token(made, "A token of the user", MADE, place, |told| {
        page(visit, told)
    })
}

/// Revokes a token of the user.
pub(super) fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let id = required("token", form.text("id"))?;
    visit
        .api
        .delete(&format!("/api/v2/authentication-tokens/{}", encoded(id)))?;
    Ok(Outcome::Redirect(address(visit.query.text("id"))))
}
