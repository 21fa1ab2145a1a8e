//! The pages of a list: the requested part, and the warning about a list that was cut (SEC-S14).

use gatehouse_access_api::KeyPage;
use serde::Serialize;

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;

/// The maximum number of keys in one answer.
const MAXIMUM_KEYS: u32 = 10_000;

/// The part of a list that a request asks for in its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paging {
    /// The key after which the part begins; `None` for the beginning of the list.
    pub(crate) after: Option<String>,
    /// The maximum number of keys to show; at least 1.
    pub(crate) limit: u32,
    /// True if the request may want more than `limit` keys.
    cut: bool,
}

#[derive(Serialize)]
struct Keys<'a> {
    keys: &'a [String],
}

impl Paging {
    /// Reads `after` and `limit` from the query of `call`. A limit that is missing, not positive, or above 10000 becomes 10000.
    ///
    /// # Errors
    ///
    /// When `limit` is not an integer.
    pub(crate) fn from_query(call: &Call<'_>) -> Result<Self, ApiError> {
        let fields = call.query_fields()?;
        let asked = fields.integer("limit")?.filter(|limit| *limit > 0);
        let within = asked
            .and_then(|limit| u32::try_from(limit).ok())
            .filter(|limit| *limit <= MAXIMUM_KEYS);
        Ok(Self {
            after: fields.string("after")?.filter(|after| !after.is_empty()),
            limit: within.unwrap_or(MAXIMUM_KEYS),
            cut: within.is_none(),
        })
    }

    /// The warnings about a part of a list. `next` is the key after which the list continues, if it does.
    pub(crate) fn warnings(self, next: Option<&str>) -> impl Iterator<Item = String> {
        let next = next.filter(|_| self.cut);
        let cut = next.map(|next| {
            format!(
                "This list goes on: ask for the keys that follow with the query parameter after={next}"
            )
        });
        cut.into_iter()
    }

    /// The part of a list that is read as a whole, and whose keys are sorted by `rank`.
    pub(crate) fn part_of<R: Ord>(
        &self,
        mut keys: Vec<String>,
        rank: impl Fn(&str) -> R,
    ) -> KeyPage {
        if let Some(after) = self.after.as_deref().map(&rank) {
            keys.retain(|key| rank(key) > after);
        }
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let goes_on = keys.len() > limit;
        keys.truncate(limit);
        let next = keys.last().filter(|_| goes_on).cloned();
        KeyPage { keys, next }
    }

    /// Answers `call` with `data.keys`. `list` returns the keys after a key, up to a limit.
    ///
    /// # Errors
    ///
    /// When `limit` is not an integer, the errors of `list`, and 404 for an empty list.
    pub(crate) fn keys<E: Into<ApiError>>(
        call: &Call<'_>,
        list: impl FnOnce(Option<&str>, u32) -> Result<KeyPage, E>,
    ) -> Answer {
        let paging = Self::from_query(call)?;
        let page = list(paging.after.as_deref(), paging.limit).map_err(Into::into)?;
        paging.reply(&page)
    }

    /// The answer with `data.keys`.
    ///
    /// # Errors
    ///
    /// 404 for an empty list.
    pub(crate) fn reply(self, page: &KeyPage) -> Answer {
        if page.keys.is_empty() && page.next.is_none() {
            return Err(ApiError::absent());
        }
        let reply = Reply::data(&Keys { keys: &page.keys })?;
        Ok(Some(reply.warned(self.warnings(page.next.as_deref()))))
    }
}
