//! Documents of the organizations API: their lists in pages, and the bodies of writes.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Answer, Outcome, Visit, then};
use crate::api::{ApiError, at};
use crate::layout::{Page, notice};

/// Entries on one page of a list.
const PAGE_SIZE: usize = 50;

/// The resources in an answer.
pub fn entries(answer: &Value) -> impl Iterator<Item = &Value> {
    let data = answer.get("data").and_then(Value::as_array);
    data.into_iter().flatten()
}

/// The body that writes `attributes` of a resource.
pub fn document(kind: &str, attributes: impl Into<Value>) -> Value {
    json!({ "data": { "type": kind, "attributes": attributes.into() } })
}

/// The field of a query that names the page of a list, where a page shows one list.
const PAGE: &str = "page";

/// The page of the list at `path` that the visitor turned to.
///
/// # Errors
///
/// When the answer is not a success.
pub fn turned_to(visit: &Visit<'_>, path: &str) -> Result<Value, ApiError> {
    turned_to_by(visit, PAGE, path)
}

/// The same where a page shows several lists, each of which is turned by a `field` of its own.
///
/// # Errors
///
/// When the answer is not a success.
pub fn turned_to_by(visit: &Visit<'_>, field: &str, path: &str) -> Result<Value, ApiError> {
    let mark = if path.contains('?') { '&' } else { '?' };
    visit.api.read(&format!(
        "{path}{mark}page%5Bsize%5D={PAGE_SIZE}&page%5Bnumber%5D={}",
        number(visit, field)
    ))
}

fn number(visit: &Visit<'_>, field: &str) -> u32 {
    visit.query.text(field).parse().unwrap_or(1).max(1)
}

/// The links to the pages before and after. `address` is that of the list, with a query.
pub fn turning(visit: &Visit<'_>, answer: &Value, address: &str) -> Markup {
    turning_by(visit, PAGE, answer, address)
}

/// The same where a page shows several lists, each of which is turned by a `field` of its own.
pub fn turning_by(visit: &Visit<'_>, field: &str, answer: &Value, address: &str) -> Markup {
    let page = number(visit, field);
    let pages = answer
        .pointer("/meta/pagination/total-pages")
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let turned = |page: u32| format!("{address}&{field}={page}");
    html! {
        nav aria-label="Pages" { p {
            @if page > 1 { a href=(turned(page.saturating_sub(1))) { "Previous page" } " " }
            "Page " (page) " of " (pages.max(1))
            @if u64::from(page) < pages { " " a href=(turned(page.saturating_add(1))) { "Next page" } }
        } }
    }
}

/// The page that shows a token this once, which is at `pointer` of the answer and leads on to `place`; where none was made, the page `again`
/// with the refusal.
pub fn made_token(
    made: Result<Value, ApiError>,
    title: &str,
    pointer: &str,
    place: String,
    again: impl FnOnce(Markup) -> Answer,
) -> Answer {
    let made = match made {
        Ok(made) => made,
        refusal => return then(refusal, place, again),
    };
    Ok(Outcome::Made(Page::new(
        title,
        html! {
            (notice("Copy the token now: it is not shown again."))
            pre { (at(&made, pointer)) }
            p { a href=(place) { "Go on" } }
        },
    )))
}
