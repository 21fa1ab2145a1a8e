//! Lists of the API under `/v1`, in pages: each begins after the last name of the one before.

use maud::{Markup, html};

use super::Visit;
use crate::api::{ApiError, encoded};

/// The number of names on one page.
const PAGE_SIZE: usize = 100;

/// A page of a list.
pub struct Listed {
    /// The names on it.
    pub names: Vec<String>,
    /// True if it begins after a name.
    is_later: bool,
    /// The name after which the next page begins. `None` on the last page.
    next: Option<String>,
}

impl Listed {
    /// The links to the first page and to the next one, where they exist. `address` is that of the page with the list `name`; it ends in the query
    /// parameter that takes the name after which a page begins, without its value.
    pub fn turning(&self, name: &str, address: &str) -> Markup {
        html! {
            @if self.is_later || self.next.is_some() {
                nav aria-label={ "Pages: " (name) } { p {
                    @if self.is_later { a href={ (address) "=" } { "First page" } " " }
                    @if let Some(last) = &self.next { a href={ (address) "=" (encoded(last)) } { "Next page" } }
                } }
            }
        }
    }
}

/// The page of the list at `path` that begins after the name `after`.
///
/// # Errors
///
/// When the answer is not a success.
pub fn listed(visit: &Visit<'_>, path: &str, after: &str) -> Result<Listed, ApiError> {
    // One name more than the page shows tells whether the list continues.
    let limit = PAGE_SIZE.saturating_add(1);
    let mut names = visit
        .api
        .list(&format!("{path}?limit={limit}&after={}", encoded(after)))?;
    let goes_on = names.len() > PAGE_SIZE;
    names.truncate(PAGE_SIZE);
    let next = names.last().filter(|_| goes_on).cloned();
    Ok(Listed {
        names,
        is_later: !after.is_empty(),
        next,
    })
}
