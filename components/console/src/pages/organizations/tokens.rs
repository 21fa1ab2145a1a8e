//! The tokens of an organization and of its teams, and their maximum lifetimes.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::organization::{Organization, part};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{button, form, input, select, table};
use crate::pages::resources::{Turned, document, entries, made_token};
use crate::pages::{Answer, Outcome, Visit, then};

/// Milliseconds of a day.
const DAY: u64 = 24 * 60 * 60 * 1_000;
/// The pointer to a new token in a response.
pub const MADE: &str = "/data/attributes/token";
const MAKING: &str = "/ui/organizations/token";
const BOUNDING: &str = "/ui/organizations/token/lifetime";
const KINDS: &[&str] = &["organization", "team", "user", "audit_trails"];

/// The page.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let path = &organization.path;
    let mut kinds = vec!["organization"];
    if !organization.is_self_hosted() {
        kinds.push("audit-trails");
    }
    organization.page(
        "Tokens",
        html! {
            (told)
            h2 { "Of the organization" }
            (part(own(visit, &organization)))
            (form(visit.session, &organization.address("token"), html! {
                p { "A token of the organization is shown once. It replaces the one before, which ends at once." }
                (select("kind", "Kind", "audit-trails can only read the audit trail.", &kinds, visit.typed(MAKING, "kind")))
                (end(visit, MAKING))
            }, "Make a token"))
            h2 { "Of its teams" }
            (part(of_teams(visit, &organization, path)))
            h2 { "Longest lives" }
            p { "They are in force while “Tokens have a maximum lifetime” is set." }
            (part(lifetimes(visit, path)))
            (form(visit.session, &organization.address("token/lifetime"), html! {
                (select("token-type", "Kind of token", "For user it is stored and has no effect: the tokens of users belong to no organization.", KINDS, visit.typed(BOUNDING, "token-type")))
                (input("days", "Days", "The maximum lifetime of a new token.", visit.typed(BOUNDING, "days")))
            }, "Set"))
        },
    )
}

/// The field for the expiry of a token, in the form at `path`.
pub fn end(visit: &Visit<'_>, path: &str) -> Markup {
    let help = "As 2030-01-31T00:00:00Z. Empty for two years from now.";
    input("expired-at", "End", help, visit.typed(path, "expired-at"))
}

/// The path of the organization's token of this kind.
fn path_of(organization: &Organization, kind: &str) -> String {
    let query = match kind {
        "audit-trails" => "?token=audit-trails",
        _ => "",
    };
    format!("{}/authentication-token{query}", organization.path)
}

fn own(visit: &Visit<'_>, organization: &Organization) -> Result<Markup, ApiError> {
    let mut rows = Vec::new();
    let kinds: &[&str] = match organization.is_self_hosted() {
        true => &["organization"],
        false => &["organization", "audit-trails"],
    };
    for kind in kinds {
        let token = match visit.api.read(&path_of(organization, kind)) {
            // The API answers the same for a token that does not exist and one that the visitor may not see.
            Err(error) if error.status == 404 => continue,
            token => token?,
        };
        let value = |attribute: &str| at(&token, &format!("/data/attributes/{attribute}"));
        let action = organization.address("token/revoke");
        rows.push(vec![
            html! { (kind) },
            html! { (value("created-at")) },
            html! { (value("last-used-at")) },
            html! { (value("expired-at")) },
            button(
                visit.session,
                &action,
                &[("kind", kind)],
                &format!("Revoke the token: {kind}"),
            ),
        ]);
    }
    Ok(table(
        "Tokens of the organization",
        &["Kind", "Made", "Last used", "End", "Actions"],
        &rows,
        "There is none, or you may not see it.",
    ))
}

fn of_teams(
    visit: &Visit<'_>,
    organization: &Organization,
    path: &str,
) -> Result<Markup, ApiError> {
    let tokens = Turned::read(visit, &format!("{path}/team-tokens"))?;
    let place = organization.address("token");
    let revoking = organization.address("token/revoke");
    Ok(list(
        visit,
        "Tokens of its teams",
        &tokens,
        &place,
        &revoking,
    ))
}

/// The list `name` of tokens on the page `place`. Each token has a button that revokes it by a form sent to `revoking`.
pub fn list(visit: &Visit<'_>, name: &str, tokens: &Turned, place: &str, revoking: &str) -> Markup {
    let rows: Vec<Vec<Markup>> = tokens
        .entries()
        .map(|token| {
            let id = at(token, "/id");
            vec![
                html! { (told_apart(token)) },
                html! { (at(token, "/attributes/created-at")) },
                html! { (at(token, "/attributes/last-used-at")) },
                html! { (at(token, "/attributes/expired-at")) },
                button(
                    visit.session,
                    revoking,
                    &[("id", &id)],
                    &format!("Revoke {}", told_apart(token)),
                ),
            ]
        })
        .collect();
    html! {
        (table(name, &["Description", "Made", "Last used", "End", "Actions"], &rows, "There are none yet."))
        (tokens.turning(name, place))
    }
}

/// The text that distinguishes a token from others: its description, or else its identifier.
pub fn told_apart(token: &Value) -> String {
    match at(token, "/attributes/description").as_str() {
        "" => at(token, "/id"),
        about => about.to_owned(),
    }
}

fn lifetimes(visit: &Visit<'_>, path: &str) -> Result<Markup, ApiError> {
    let answer = visit.api.read(&format!("{path}/token-ttl-policies"))?;
    let rows: Vec<Vec<Markup>> = entries(&answer)
        .map(|policy| {
            let longest = policy
                .pointer("/attributes/max-ttl-ms")
                .and_then(Value::as_u64)
                .unwrap_or(0);
            vec![
                html! { (at(policy, "/attributes/token-type")) },
                html! { (longest / DAY) },
            ]
        })
        .collect();
    Ok(table(
        "Longest lives",
        &["Kind of token", "Days at most"],
        &rows,
        "None is set.",
    ))
}

/// The body that asks for a token.
pub fn wanted(form: &Fields) -> Value {
    let mut attributes = Map::new();
    for name in ["description", "expired-at"] {
        if !form.text(name).is_empty() {
            attributes.insert(name.to_owned(), form.text(name).into());
        }
    }
    document("authentication-tokens", attributes)
}

/// Creates a token of an organization, and shows it once.
pub(super) fn make(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = path_of(&organization, form.text("kind"));
    let made = visit.api.write(&path, &wanted(form));
    let title = format!("A token of {}", organization.name);
    let place = organization.address("token");
    made_token(made, &title, MADE, place, |told| page(visit, told))
}

/// Revokes a token: one by its identifier, or the organization's own token of a kind.
pub(super) fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let path = match form.text("id") {
        "" => path_of(&organization, form.text("kind")),
        id => format!("/api/v2/authentication-tokens/{}", encoded(id)),
    };
    visit.api.delete(&path)?;
    Ok(Outcome::Redirect(organization.address("token")))
}

/// Sets the maximum lifetime of a kind of token.
pub(super) fn bound(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let days: Result<u64, _> = form.text("days").parse();
    let done = match days.ok().and_then(|days| days.checked_mul(DAY)) {
        Some(longest) => visit.api.patch(
            &format!("{}/token-ttl-policies", organization.path),
            &document(
                "organization-token-ttl-policies",
                json!({ "token-ttl-policies": [
                    { "token-type": form.text("token-type"), "max-ttl-ms": longest }
                ] }),
            ),
        ),
        None => Err(ApiError::new(400, "the days are not a number")),
    };
    let place = organization.address("token");
    then(done, place, |told| page(visit, told))
}
