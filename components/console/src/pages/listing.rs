//! Lists of the API under `/v1`, in pages: each begins after the last name of the one before.

use super::Visit;
use crate::api::{ApiError, encoded};

/// Names on one page.
const PAGE_SIZE: usize = 100;

/// A page of a list.
pub struct Listed {
    /// The names on it.
    pub names: Vec<String>,
    /// The name after which the next page begins. `None` on the last page.
    pub next: Option<String>,
}

/// The page of the list at `path` that begins after the name `after`.
///
/// # Errors
///
/// When the answer is not a success.
pub fn listed(visit: &Visit<'_>, path: &str, after: &str) -> Result<Listed, ApiError> {
    // One more than is shown: only it tells whether the list goes on.
    let limit = PAGE_SIZE.saturating_add(1);
    let mut names = visit
        .api
        .list(&format!("{path}?limit={limit}&after={}", encoded(after)))?;
    let goes_on = names.len() > PAGE_SIZE;
    names.truncate(PAGE_SIZE);
    let next = names.last().filter(|_| goes_on).cloned();
    Ok(Listed { names, next })
}
