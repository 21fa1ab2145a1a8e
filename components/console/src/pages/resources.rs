//! Documents of the organizations API: pages of lists, and the bodies of writes.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Answer, Outcome, Visit, then};
use crate::api::{ApiError, at};
use crate::layout::{Page, notice};

/// The number of entries on one page of a list.
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

/// A page of a list, as the visitor selected it.
pub struct Turned {
    answer: Value,
    /// The query parameter that names the page. Where a page of the console shows several lists, each has a parameter of its own.
    field: &'static str,
    number: u32,
}

impl Turned {
    /// The selected page of the list at `path`, which is the only list on its page of the console.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn read(visit: &Visit<'_>, path: &str) -> Result<Self, ApiError> {
        Self::read_by(visit, "page", path)
    }

    /// The selected page of one of several lists. The query parameter `field` selects it.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn read_by(visit: &Visit<'_>, field: &'static str, path: &str) -> Result<Self, ApiError> {
        let number = visit.query.text(field).parse().unwrap_or(1).max(1);
        let mark = if path.contains('?') { '&' } else { '?' };
        let answer = visit.api.read(&format!(
            "{path}{mark}page%5Bsize%5D={PAGE_SIZE}&page%5Bnumber%5D={number}"
        ))?;
        Ok(Self {
            answer,
            field,
            number,
        })
    }

    /// The resources on the page.
    pub fn entries(&self) -> impl Iterator<Item = &Value> {
        entries(&self.answer)
    }

    /// The links to the previous and next pages, where they exist. `address` is that of the console's page with the list `name`, with a query.
    pub fn turning(&self, name: &str, address: &str) -> Markup {
        let pages = self
            .answer
            .pointer("/meta/pagination/total-pages")
            .and_then(Value::as_u64)
            .unwrap_or(1)
            .max(1);
        let turned = |number: u32| format!("{address}&{}={number}", self.field);
        html! {
            @if pages > 1 || self.number > 1 {
                nav aria-label={ "Pages: " (name) } { p {
                    @if self.number > 1 { a href=(turned(self.number.saturating_sub(1))) { "Previous page" } " " }
                    "Page " (self.number) " of " (pages)
                    @if u64::from(self.number) < pages { " " a href=(turned(self.number.saturating_add(1))) { "Next page" } }
                } }
            }
        }
    }
}

/// The text in place of the rows of an empty list: `without_any`, unless a search found nothing.
pub fn empty_text<'t>(searched: &str, without_any: &'t str) -> &'t str {
    match searched {
        "" => without_any,
        _ => "Nothing matches the search. Search for less, or for nothing to see all.",
    }
}

/// The page that shows a new token once; the token is at `pointer` of the response, and the page leads on to `place`. Where no token was created, the
/// page `again` with the refusal.
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
