//! The header fields that tell clients how long they may keep a key document.

use std::time::Duration;

use http::HeaderMap;
use http::header::{AGE, CACHE_CONTROL, HeaderValue};

/// The caching headers of a key document's answer.
///
/// Texts rather than numbers, so that a test can also send what no sane server would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheHeaders {
    /// Value of `Cache-Control`; none leaves the header out.
    pub cache_control: Option<String>,
    /// Value of `Age`; none leaves the header out.
    pub age: Option<String>,
}

impl CacheHeaders {
    /// Headers as Google sends them, with this lifetime (cut to whole seconds).
    #[must_use]
    pub fn max_age(lifetime: Duration) -> Self {
        Self {
            cache_control: Some(format!(
                "public, max-age={}, must-revalidate, no-transform",
                lifetime.as_secs()
            )),
            age: None,
        }
    }

    /// Adds the headers to an answer; a value that no header can carry is left out.
    pub(crate) fn apply(&self, headers: &mut HeaderMap) {
        for (name, value) in [(CACHE_CONTROL, &self.cache_control), (AGE, &self.age)] {
            if let Some(value) = value
                .as_deref()
                .and_then(|text| HeaderValue::from_str(text).ok())
            {
                headers.insert(name, value);
            }
        }
    }
}
