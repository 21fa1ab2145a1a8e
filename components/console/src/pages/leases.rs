//! Leases, by the beginnings of their paths.

use maud::{Markup, html};
use serde_json::Value;

use super::{Answer, Outcome, Visit};
use crate::api::{encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, form, input, table};

/// Entries on one page.
const PAGE_SIZE: usize = 100;

/// The leases below a prefix.
pub fn list(visit: &Visit<'_>) -> Answer {
    let prefix = visit.query.text("prefix").trim_matches('/');
    let after = visit.query.text("after");
    let below = match prefix {
        "" => String::new(),
        prefix => format!("/{}", encoded_path(prefix)),
    };
    let entries = visit.api.list(&format!(
        "/v1/sys/leases/lookup{below}?limit={PAGE_SIZE}&after={}",
        encoded(after)
    ))?;
    let rows: Vec<Vec<Markup>> = entries
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
    let next = entries.last().filter(|_| entries.len() == PAGE_SIZE);
    Ok(Outcome::Page(Page::new(
        match prefix {
            "" => "Leases".to_owned(),
            prefix => format!("Leases below {prefix}"),
        },
        html! {
            (table(&["Entry"], &rows))
            @if let Some(last) = next {
                p { a href={ "/ui/leases?prefix=" (encoded(prefix)) "&after=" (encoded(last)) } { "Next page" } }
            }
            @if !prefix.is_empty() {
                h2 { "Revoke all of them" }
                (form(visit.session, "/ui/leases/revoke", html! {
                    input type="hidden" name="prefix" value=(prefix);
                    p { "Every token whose lease lies below " code { (prefix) } " ends at once." }
                    (input("typed", "Prefix", "Type the prefix once more.", ""))
                }, "Revoke"))
            }
        },
    )))
}

/// Revokes what is below a prefix, once that was typed.
pub fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    let prefix = form.text("prefix");
    let address = format!("/ui/leases?prefix={}", encoded(prefix));
    if prefix.is_empty() || form.text("typed").trim_matches('/') != prefix {
        return Ok(Outcome::Redirect(address));
    }
    let path = format!("/v1/sys/leases/revoke-prefix/{}", encoded_path(prefix));
    visit
        .api
        .write(&path, &Value::Object(serde_json::Map::new()))?;
    Ok(Outcome::Redirect("/ui/leases".to_owned()))
}
