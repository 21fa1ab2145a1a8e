//! Leases, by the beginnings of their paths.

use maud::{Markup, html};
use serde_json::Value;

use super::listing::listed;
use super::{Answer, Outcome, Visit, required};
use crate::api::{ApiError, encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, form, input, refused, table};

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
                    a href={ "/ui/leases?prefix=" (encoded(deeper.trim_start_matches('/'))) } { (entry) }
                } @else { code { (entry) } }
            }]
        })
        .collect();
    Ok(Outcome::Page(Page::new(
        match prefix {
            "" => "Leases".to_owned(),
            prefix => format!("Leases below {prefix}"),
        },
        html! {
            (table(&["Entry"], &rows))
            @if let Some(last) = &listed.next {
                p { a href={ "/ui/leases?prefix=" (encoded(prefix)) "&after=" (encoded(last)) } { "Next page" } }
            }
            @if !prefix.is_empty() {
                h2 { "Revoke all of them" }
                (revoking(visit, prefix))
            }
        },
    )))
}

fn revoking(visit: &Visit<'_>, prefix: &str) -> Markup {
    form(
        visit.session,
        "/ui/leases/revoke",
        html! {
            input type="hidden" name="prefix" value=(prefix);
            p { "Every token whose lease lies below " code { (prefix) } " ends at once." }
            (input("typed", "Prefix", "Type the prefix once more.", ""))
        },
        "Revoke",
    )
}

/// Revokes what is below a prefix, once that was typed.
pub fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let prefix = required("prefix", form.text("prefix"))?;
    if form.text("typed").trim_matches('/') != prefix {
        let error = ApiError {
            status: 400,
            messages: vec!["the typed prefix is a different one; nothing was revoked".to_owned()],
        };
        return Ok(Outcome::Page(Page {
            status: error.status,
            title: format!("Revoke all leases below {prefix}"),
            content: html! {
                (refused(&error))
                (revoking(visit, prefix))
                p { a href={ "/ui/leases?prefix=" (encoded(prefix)) } { "Leave them as they are" } }
            },
        }));
    }
    let path = format!("/v1/sys/leases/revoke-prefix/{}", encoded_path(prefix));
    visit
        .api
        .write(&path, &Value::Object(serde_json::Map::new()))?;
    Ok(Outcome::Redirect("/ui/leases".to_owned()))
}
