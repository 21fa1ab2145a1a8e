//! The revocation of the token that a visitor signed in with.

use gatehouse_ports::organizations_api::TOKEN_MARK;
use maud::{Markup, html};
use serde_json::Value;
use zeroize::Zeroizing;

use super::resources::entries;
use super::{Answer, Outcome, Visit};
use crate::api::{ApiError, at, encoded};
use crate::layout::{Page, form, table};
use crate::session::Credential;

/// The message about a token of the organizations API that its bearer may not revoke.
const LEFT: &str = "The token was not revoked: it may not end tokens. An owner of its organization does that, on the page of tokens or on that of the team; until then it goes on to work.";

/// The message about a token of the server whose policies do not let it revoke itself.
const KEPT: &str = "The token was not revoked: its policies do not let it end itself (auth/token/revoke-self). It stays valid until its end, or until someone who may do so revokes it.";

/// The message about a token that cannot be revoked at all.
const BATCH: &str = "The token was not revoked: it is a batch token, which nothing can revoke. It stays valid until its end.";

/// The message about a token that may neither revoke itself nor look itself up.
const UNKNOWN: &str = "The server refused to revoke the token. Either it has ended before, or its policies do not let it end itself: then it stays valid until its end.";

/// Revokes the visitor's token, and then ends the session. Where the owner has several tokens, the visitor is asked which one to revoke; `chosen` is
/// the answer.
pub fn end(visit: &Visit<'_>, credential: &Credential, chosen: &str) -> Answer {
    let token = credential.token();
    if !token.contains(TOKEN_MARK) {
        // This is a token of the server, even where its bearer signed in for organizations alone.
        let credential = Credential::Server(Zeroizing::new(token.to_owned()));
        let api = visit.api.with(&credential);
        let refused = match api.write("/v1/auth/token/revoke-self", &Value::Null) {
            Err(error) if matches!(error.status, 400 | 403) => error,
            done => return ended(done),
        };
        // An expired token and one that may not revoke itself are refused alike. Only the latter can still be looked up.
        let own = api.read("/v1/auth/token/lookup-self");
        return match (refused.status, own) {
            (400, Ok(own)) if at(&own, "/data/type") != "batch" => Err(refused),
            (400, _) => Ok(Outcome::SignedOut(Some(BATCH))),
            (_, Ok(_)) => Ok(Outcome::SignedOut(Some(KEPT))),
            (_, Err(_)) => Ok(Outcome::SignedOut(Some(UNKNOWN))),
        };
    }
    let tokens = match tokens_of_owner(visit) {
        Err(error) if error.status == 401 => return Ok(Outcome::SignedOut(None)),
        tokens => tokens?,
    };
    let id = |token: &Value| at(token, "/id");
    let meant = match (tokens.as_slice(), chosen) {
        ([], _) => return Ok(Outcome::SignedOut(Some(LEFT))),
        ([only], _) => id(only),
        (_, chosen) if tokens.iter().any(|token| id(token) == chosen) => chosen.to_owned(),
        _ => return Ok(Outcome::Page(choice(visit, &tokens))),
    };
    let path = format!("/api/v2/authentication-tokens/{}", encoded(&meant));
    match visit.api.delete(&path) {
        // A token that may not be revoked and one that has ended are both hidden. Only the latter opens nothing any more.
        Err(error) if matches!(error.status, 403 | 404) && opens_something(visit) => {
            Ok(Outcome::SignedOut(Some(LEFT)))
        }
        done => ended(done),
    }
}

/// True unless the API no longer knows the visitor's token.
fn opens_something(visit: &Visit<'_>) -> bool {
    let account = visit.api.read("/api/v2/account/details");
    !matches!(account, Err(error) if error.status == 401)
}

/// Signs out after a revocation. A token that had ended before counts as revoked.
fn ended(done: Result<Value, ApiError>) -> Answer {
    match done {
        Err(error) if !matches!(error.status, 401 | 403 | 404) => Err(error),
        _ => Ok(Outcome::SignedOut(None)),
    }
}

/// The tokens of the owner of the visitor's token, as far as it may see them. The token itself is among them, but the API does not say which one it
/// is.
fn tokens_of_owner(visit: &Visit<'_>) -> Result<Vec<Value>, ApiError> {
    let account = visit.api.read("/api/v2/account/details")?;
    let owner = |member: &str| {
        let place = format!("/data/relationships/authenticated-resource/data/{member}");
        at(&account, &place)
    };
    let id = encoded(&owner("id"));
    let path = match owner("type").as_str() {
        "organizations" => format!("/api/v2/organizations/{id}/authentication-token"),
        "teams" => format!("/api/v2/teams/{id}/authentication-tokens?page%5Bsize%5D=100"),
        _ => format!("/api/v2/users/{id}/authentication-tokens?page%5Bsize%5D=100"),
    };
    let answer = match visit.api.read(&path) {
        // The API answers the same for a hidden token and one that does not exist.
        Err(error) if error.status == 404 => return Ok(Vec::new()),
        answer => answer?,
    };
    Ok(match answer.get("data") {
        Some(one @ Value::Object(_)) => vec![one.clone()],
        _ => entries(&answer).cloned().collect(),
    })
}

/// The page that asks which of the tokens to revoke.
fn choice(visit: &Visit<'_>, tokens: &[Value]) -> Page {
    let rows: Vec<Vec<Markup>> = tokens
        .iter()
        .map(|token| {
            let (id, about) = (at(token, "/id"), at(token, "/attributes/description"));
            let text = format!(
                "Revoke {} and sign out",
                if about.is_empty() { &id } else { &about }
            );
            let fields = html! {
                input type="hidden" name="revoke" value="yes";
                input type="hidden" name="token_id" value=(id);
            };
            vec![
                html! { (about) },
                html! { (at(token, "/attributes/created-at")) },
                html! { (at(token, "/attributes/last-used-at")) },
                form(visit.session, "/ui/sign-out", fields, &text),
            ]
        })
        .collect();
    Page::new(
        "Which of the tokens is it?",
        html! {
            p { "You are not signed out yet. There are several tokens, and the API does not say which of them you signed in with." }
            (table("Tokens", &["Description", "Made", "Last used", "Actions"], &rows, "There are none."))
            (form(visit.session, "/ui/sign-out", html! {}, "Sign out and revoke none"))
        },
    )
}
