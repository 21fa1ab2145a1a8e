//! The end of the token that a visitor signed in with.

use gatehouse_ports::organizations_api::TOKEN_MARK;
use maud::{Markup, html};
use serde_json::Value;
use zeroize::Zeroizing;

use super::resources::entries;
use super::{Answer, Outcome, Visit};
use crate::api::{ApiError, at, encoded};
use crate::layout::{Page, form, table};
use crate::session::Credential;

/// Why a token was not revoked that the API does not let its bearer revoke.
const LEFT: &str = "The token was not revoked: it may not end tokens. An owner of its organization does that, on the page of tokens or on that of the team; until then it goes on to work.";

/// Why a token of the server was not revoked that its policies do not let end itself.
const KEPT: &str = "The token was not revoked: its policies do not let it end itself (auth/token/revoke-self). It stays valid until its end, or until someone who may do so revokes it.";

/// Why a token was not revoked that nothing revokes.
const BATCH: &str = "The token was not revoked: it is a batch token, which nothing can revoke. It stays valid until its end.";

/// The text about a token that may neither end itself nor ask about itself.
const UNKNOWN: &str = "The server refused to revoke the token. Either it has ended before, or its policies do not let it end itself: then it stays valid until its end.";

/// Ends the visitor's token, and then the session. `chosen` names the token where the visitor was asked which of several it is.
pub fn end(visit: &Visit<'_>, credential: &Credential, chosen: &str) -> Answer {
    let token = credential.token();
    if !token.contains(TOKEN_MARK) {
        // One of the server's, even where its bearer wanted the pages of organizations alone.
        let credential = Credential::Server(Zeroizing::new(token.to_owned()));
        let api = visit.api.with(&credential);
        let refused = match api.write("/v1/auth/token/revoke-self", &Value::Null) {
            Err(error) if matches!(error.status, 400 | 403) => error,
            done => return ended(done),
        };
        // A token that has ended is refused as one that may not end itself: only the latter is still known.
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
        // What may not be ended is as hidden as what has ended: only the latter opens nothing any more.
        Err(error) if matches!(error.status, 403 | 404) && opens_something(visit) => {
            Ok(Outcome::SignedOut(Some(LEFT)))
        }
        done => ended(done),
    }
}

/// True unless the API knows the visitor's token no more.
fn opens_something(visit: &Visit<'_>) -> bool {
    let account = visit.api.read("/api/v2/account/details");
    !matches!(account, Err(error) if error.status == 401)
}

/// A token that has ended before is as good as revoked.
fn ended(done: Result<Value, ApiError>) -> Answer {
    match done {
        Err(error) if !matches!(error.status, 401 | 403 | 404) => Err(error),
        _ => Ok(Outcome::SignedOut(None)),
    }
}

/// The tokens of whom the visitor's token stands for, as far as it may see them; its own is among them. The API does not say which.
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
        // The API does not tell what is hidden from what is not there.
        Err(error) if error.status == 404 => return Ok(Vec::new()),
        answer => answer?,
    };
    Ok(match answer.get("data") {
        Some(one @ Value::Object(_)) => vec![one.clone()],
        _ => entries(&answer).cloned().collect(),
    })
}

/// The page that asks which token it is.
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
