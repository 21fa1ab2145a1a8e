//! Long lists, a page at a time.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::answer::Answer;
use crate::call::Call;
use crate::compute::invalid_field;

/// Elements of a page whose client and test ask for nothing else; no client gets more.
pub(crate) const LARGEST_PAGE: usize = 500;

/// How long pages are, whatever clients ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageSizes {
    /// Groups on a page of a project's groups.
    pub(crate) groups: usize,
    /// Instances on a page of a group's members.
    pub(crate) members: usize,
}

/// A part of a list, and where the next one starts.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) elements: Vec<T>,
    /// Opaque to clients; none on the last page.
    pub(super) next_token: Option<String>,
}

/// The page of `all` that the query asks for; `list` names the list, so that tokens of another are refused.
pub(super) fn page<T>(
    all: impl Iterator<Item = T>,
    list: &str,
    limit: usize,
    call: &Call<'_>,
) -> Result<Page<T>, Box<Answer>> {
    let start = match call.parameter("pageToken") {
        Some(token) if !token.is_empty() => {
            position_in(&token, list).ok_or_else(|| invalid_field("pageToken", &token))?
        }
        _ => 0,
    };
    let asked = match call.parameter("maxResults") {
        None => LARGEST_PAGE,
        Some(text) => text
            .parse()
            .ok()
            .filter(|size| *size <= LARGEST_PAGE)
            .ok_or_else(|| invalid_field("maxResults", &text))?,
    };
    // Google takes no results for no wish.
    let size = if asked == 0 { limit } else { asked.min(limit) };
    let mut rest = all.skip(start);
    let elements: Vec<T> = rest.by_ref().take(size).collect();
    let next_token = rest.next().map(|_| token(list, start + size));
    Ok(Page {
        elements,
        next_token,
    })
}

/// Longer than a name and with characters that need escaping in a query, as Google's are.
fn token(list: &str, position: usize) -> String {
    format!(
        "C+/={}",
        BASE64_URL_SAFE_NO_PAD.encode(format!("{position}@{list}"))
    )
}

fn position_in(token: &str, list: &str) -> Option<usize> {
    let decoded = BASE64_URL_SAFE_NO_PAD
        .decode(token.strip_prefix("C+/=")?)
        .ok()?;
    let (position, of) = std::str::from_utf8(&decoded).ok()?.split_once('@')?;
    (of == list).then(|| position.parse().ok())?
}
