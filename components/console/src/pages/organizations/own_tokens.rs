//! The API tokens of the user that the visitor is.

use maud::{Markup, html};
use serde_json::Value;

use super::tokens::{MADE, end, list, wanted};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, facts, form, input};
use crate::pages::resources::{made_token, turned_to, turning};
use crate::pages::{Answer, Outcome, Visit};

/// Where the tokens are listed and made.
pub(super) const PATH: &str = "/ui/organizations/own-tokens";
/// Where the form goes that revokes one.
pub(super) const REVOKING: &str = "/ui/organizations/own-tokens/revoke";

const TITLE: &str = "Your API tokens";

/// The account behind the visitor's token.
fn account(visit: &Visit<'_>) -> Result<Value, ApiError> {
    visit.api.read("/api/v2/account/details")
}

/// The path of the tokens of a user. `None` for the account of a team, an organization or a workload, which has none.
fn api_path(account: &Value) -> Option<String> {
    let right = "/data/attributes/permissions/can-manage-user-tokens";
    let is_person = account.pointer(right) == Some(&Value::Bool(true));
    is_person.then(|| {
        let id = encoded(&at(account, "/data/id"));
        format!("/api/v2/users/{id}/authentication-tokens")
    })
}

/// The list, with a form that makes one.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let account = account(visit)?;
    let content = match api_path(&account) {
        Some(path) => {
            let answer = turned_to(visit, &path)?;
            html! {
                (told)
                (facts(&[
                    ("User", at(&account, "/data/attributes/username")),
                    ("Email", at(&account, "/data/attributes/email")),
                ]))
                p { "Each of these tokens can do in organizations all that you can do. You signed in with one of them, and the list does not say with which: after you revoke that one, sign out, and sign in with another. Make another token before you revoke your only one: without one you cannot sign in here." }
                (list(visit, REVOKING, &answer))
                (turning(visit, &answer, &format!("{PATH}?")))
                h2 { "Make a token" }
                (form(visit.session, PATH, html! {
                    (input("description", "Description", "What the token is for: the list shows it, so that you know which token to revoke.", visit.typed(PATH, "description")))
                    (end(visit, PATH))
                }, "Make a token"))
            }
        }
        None => html! {
            (told)
            p { "The token that you signed in with belongs to no user, so you have no API tokens here. Sign in with an API token of a user to see and make those of that user. A site administrator makes users, each with a first token." }
            p { "For the tokens of an organization and of its teams, open it under " a href=(super::PATH) { "Organizations" } " and go to its page “Tokens”." }
        },
    };
    Ok(Outcome::Page(Page::new(TITLE, content)))
}

/// Makes a token of the user, and shows it this once.
pub(super) fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = account(visit).and_then(|account| {
        api_path(&account).ok_or_else(|| ApiError {
            status: 403,
            messages: vec!["your token belongs to no user; no token was made".to_owned()],
        })
    });
    let made = path.and_then(|path| visit.api.write(&path, &wanted(form)));
    let title = "A token of yours";
    made_token(made, title, MADE, PATH.to_owned(), |told| page(visit, told))
}

/// Revokes a token of the user.
pub(super) fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let id = encoded(form.text("id"));
    visit
        .api
        .delete(&format!("/api/v2/authentication-tokens/{id}"))?;
    Ok(Outcome::Redirect(PATH.to_owned()))
}
