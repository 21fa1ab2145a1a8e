//! Leases, by the beginnings of their paths.

use maud::{Markup, html};
use serde_json::json;

use super::confirmation::{require_typed, typing};
use super::listing::listed;
use super::{Answer, Outcome, Visit, once_more, required};
use crate::api::{encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, form, table};

/// The address of the list of leases.
pub const PATH: &str = "/ui/leases";
/// The address of the form that revokes the leases below a prefix.
pub const REVOKING: &str = "/ui/leases/revoke";

/// The leases below a prefix.
pub fn list(visit: &Visit<'_>) -> Answer {
    let prefix = visit.query.text("prefix").trim_matches('/');
    let after = visit.query.text("after");
    let below = match prefix {
        "" => String::new(),
        prefix => format!("/{}", encoded_path(prefix)),
    };
    let listed = listed(visit, &format!("/v1/sys/leases/lookup{below}"), after)?;
    let rows: Vec<Vec<Markup>> = listed
        .names
        .iter()
        .map(|entry| {
            vec![html! {
                @if let Some(folder) = entry.strip_suffix('/') {
                    @let deeper = format!("{prefix}/{folder}");
                    a href={ (PATH) "?prefix=" (encoded(deeper.trim_start_matches('/'))) } { (entry) }
                } @else { code { (entry) } }
            }]
        })
        .collect();
    let title = match prefix {
        "" => "Leases".to_owned(),
        prefix => format!("Leases below {prefix}"),
    };
    let empty = "There are no leases here: no login has made a token that is still valid.";
    let here = format!("{PATH}?prefix={}", encoded(prefix));
    Ok(Outcome::Page(Page::new(
        title.as_str(),
        html! {
            (table(&title, &["Entry"], &rows, empty))
            (listed.turning(&title, &format!("{here}&after")))
            @if !prefix.is_empty() {
                p { a href=(PATH) { "All leases" } }
                h2 { "Revoke all of them" }
                (revoking(visit, prefix))
            }
        },
    )))
}

fn revoking(visit: &Visit<'_>, prefix: &str) -> Markup {
    form(
        visit.session,
        REVOKING,
        html! {
            input type="hidden" name="prefix" value=(prefix);
            p { "Every token whose lease lies below " code { (prefix) } " ends at once." }
            (typing("Prefix", "Type the prefix once more."))
        },
        "Revoke",
    )
}

/// Revokes the leases below a prefix, once the prefix was typed.
pub fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let prefix = required("prefix", form.text("prefix"))?;
    if let Err(error) = require_typed(form, prefix, "prefix", "revoked") {
        return once_more(error, |told| {
            Ok(Outcome::Page(Page::new(
                format!("Revoke all leases below {prefix}"),
                html! {
                    (told)
                    (revoking(visit, prefix))
                    p { a href={ (PATH) "?prefix=" (encoded(prefix)) } { "Leave them as they are" } }
                },
            )))
        });
    }
    let path = format!("/v1/sys/leases/revoke-prefix/{}", encoded_path(prefix));
    visit.api.write(&path, &json!({}))?;
    Ok(Outcome::Redirect(PATH.to_owned()))
}
