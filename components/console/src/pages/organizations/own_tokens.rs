//! The visitor's own API tokens, where the visitor is a user.

use maud::{Markup, html};
use serde_json::Value;

use super::tokens::{MADE, end, list, told_apart, wanted};
use crate::api::{ApiError, at, encoded, time_at};
use crate::form::Fields;
use crate::layout::{Page, facts, form, input, refused, status_of, tick};
use crate::pages::places::ORGANIZATIONS;
use crate::pages::resources::{Turned, entries, made_token};
use crate::pages::{Answer, Outcome, Visit, required};

/// The address where the tokens are listed and created.
pub(super) const PATH: &str = "/ui/organizations/own-tokens";
/// The address of the form that revokes a token; it asks first.
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

/// The path of the visitor's own tokens.
///
/// # Errors
///
/// When the API does not tell to whom the token belongs, or it belongs to no user. The error then says what was `left_undone`.
fn own_path(visit: &Visit<'_>, left_undone: &str) -> Result<String, ApiError> {
    api_path(&account(visit)?).ok_or_else(|| {
        let told = format!("your token belongs to no user; {left_undone}");
        ApiError::new(403, told)
    })
}

/// The list, with a form that creates a token.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let account = account(visit)?;
    let content = match api_path(&account) {
        Some(path) => {
            let tokens = Turned::read(visit, &path)?;
            html! {
                (told)
                (facts([
                    ("User", at(&account, "/data/attributes/username")),
                    ("Email", at(&account, "/data/attributes/email")),
                ]))
                p { "Each of these tokens can do in organizations all that you can do. You signed in with one of them; the list does not say with which." }
                (list(visit, TITLE, &tokens, &format!("{PATH}?"), REVOKING))
                h2 { "Make a token" }
                (form(visit.session, PATH, html! {
                    (input("description", "Description", "What the token is for: the list shows it, so that you know which token to revoke.", visit.typed(PATH, "description")))
                    (end(visit, PATH))
                }, "Make a token"))
            }
        }
        None => html! {
            (told)
            p { "The token that you signed in with belongs to no user, so you have no API tokens here. Sign in with an API token of a user to see and make those of that user. A site administrator makes users, each with a first token, and further tokens for them." }
            p { "For the tokens of an organization and of its teams, open it under " a href=(ORGANIZATIONS) { "Organizations" } " and go to its page “Tokens”." }
        },
    };
    Ok(Outcome::Page(Page::new(TITLE, content)))
}

/// Creates a token of the user, and shows it once.
pub(super) fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let made =
        own_path(visit, "no token was made").and_then(|path| visit.api.write(&path, &wanted(form)));
    let title = "A token of yours";
    made_token(made, title, MADE, PATH.to_owned(), |told| page(visit, told))
}

/// Revokes a token of the user, once the user has confirmed it. The only token needs a second confirmation.
pub(super) fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let id = required("token", form.text("id"))?;
    let (is_confirmed, is_last_confirmed) = (form.is_ticked("confirmed"), form.is_ticked("last"));
    let meant = Meant::read(visit, id)?;
    let is_last = meant.consequence == Consequence::Last;
    // It may have become the only token after the page asked.
    if !is_confirmed || (is_last && !is_last_confirmed) {
        let told = is_confirmed.then(|| {
            ApiError::new(
                400,
                "this is your only API token; nothing was revoked, since the box is not ticked",
            )
        });
        return Ok(Outcome::Page(meant.asking(visit, id, told.as_ref())));
    }
    visit
        .api
        .delete(&format!("/api/v2/authentication-tokens/{}", encoded(id)))?;
    match account(visit) {
        Err(error) if error.status == 401 => Ok(Outcome::SignedOut(Some(match is_last {
            true => ENDED_WITH_ALL,
            false => ENDED,
        }))),
        _ => Ok(Outcome::Redirect(PATH.to_owned())),
    }
}

/// The message at the end of a session whose token was revoked.
const ENDED: &str = "You revoked the token that you had signed in with. Sign in with another one.";
/// The same where the token was the only one.
const ENDED_WITH_ALL: &str = "You revoked your only API token. A site administrator can make another one for you, under “Site administration”.";

/// The seconds for which a token counts as just used: the API records the last use of a token only once a minute. The visitor's own token has just
/// been used.
const JUST: u64 = 3 * 60;

/// The effect that revoking a token has on the visitor's session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consequence {
    /// The session ends, and no token is left to sign in with again.
    Last,
    /// The session ends.
    OfThisSession,
    /// The session ends if the visitor signed in with this token: it is one of several that have just been used.
    Unknown,
    /// The session continues.
    OfNoSession,
}

/// The token that is to be revoked.
struct Meant {
    /// `None` where it is not among the user's first tokens, or not a token of the user. The API then decides.
    shown: Option<Value>,
    consequence: Consequence,
}

impl Meant {
    /// Finds the token `id` among the visitor's tokens.
    ///
    /// # Errors
    ///
    /// When the API does not list the tokens.
    fn read(visit: &Visit<'_>, id: &str) -> Result<Self, ApiError> {
        let path = own_path(visit, "nothing was revoked")?;
        let answer = visit.api.read(&format!("{path}?page%5Bsize%5D=100"))?;
        // The list also contains tokens that have ended.
        let is_live = |token: &&Value| {
            time_at(token, "/attributes/expired-at").is_none_or(|end| end > visit.now)
        };
        let has_just_been_used = |token: &&Value| {
            time_at(token, "/attributes/last-used-at")
                .is_some_and(|used| used.saturating_add(JUST) >= visit.now)
        };
        let is_meant = |token: &Value| at(token, "/id") == id;
        let live: Vec<&Value> = entries(&answer).filter(is_live).collect();
        let just_used: Vec<&Value> = live.iter().copied().filter(has_just_been_used).collect();
        let consequence = match (live.as_slice(), just_used.as_slice()) {
            ([only], _) if is_meant(only) => Consequence::Last,
            (_, [own]) if is_meant(own) => Consequence::OfThisSession,
            (_, []) => Consequence::Unknown,
            (_, own) if own.iter().any(|token| is_meant(token)) => Consequence::Unknown,
            _ => Consequence::OfNoSession,
        };
        Ok(Self {
            shown: entries(&answer).find(|token| is_meant(token)).cloned(),
            consequence,
        })
    }

    /// The page that asks for confirmation, below the refusal `told`.
    fn asking(&self, visit: &Visit<'_>, id: &str, told: Option<&ApiError>) -> Page {
        let shown = self.shown.as_ref();
        let name = shown.map_or_else(|| id.to_owned(), told_apart);
        let fact = |attribute: &str| {
            let place = format!("/attributes/{attribute}");
            shown.map_or_else(String::new, |token| at(token, &place))
        };
        Page {
            status: told.map_or(200, status_of),
            title: format!("Revoke {name}"),
            content: html! {
                @if let Some(error) = told { (refused(error)) }
                (facts([
                    ("Made", fact("created-at")),
                    ("Last used", fact("last-used-at")),
                    ("End", fact("expired-at")),
                ]))
                p { "It ends at once, for every program that uses it. This cannot be undone." }
                @match self.consequence {
                    Consequence::Last => p { strong { "This is your only API token, and you signed in with it." }
                        " Your session ends with it, and you cannot sign in here again until a site administrator makes another one for you. To replace it, make the new one first." },
                    Consequence::OfThisSession => p { strong { "You signed in with this token." } " Your session ends with it; you can sign in again with another one." },
                    Consequence::Unknown => p { "You may have signed in with this token: the server does not say with which of those that have just been used. If so, your session ends with it, and you can sign in again with another one." },
                    Consequence::OfNoSession => p { "You did not sign in with this one: your session goes on." },
                }
                (form(visit.session, REVOKING, html! {
                    input type="hidden" name="id" value=(id);
                    input type="hidden" name="confirmed" value="yes";
                    @if self.consequence == Consequence::Last { (tick("last", "Revoke my only API token", "", false)) }
                }, "Revoke the token"))
                p { a href=(PATH) { "Leave it as it is" } }
            },
        }
    }
}
