//! The name of a request, by which logs and answers know it.

use std::cell::RefCell;
use std::fmt;

use gatehouse_ports::{OsRandom, Random};
use http::header::{HeaderName, HeaderValue};
use uuid::fmt::Hyphenated;

/// The field of every answer that tells the name. An answer that has it already keeps its own: `/api/v2` gives back the client's name.
pub(super) const FIELD: HeaderName = HeaderName::from_static("x-request-id");

/// How many names are drawn by one call of the system, which costs as much as several names.
const DRAWN_AT_ONCE: usize = 256;

/// Bytes of a name before it is a text.
const DRAWN_BYTES: usize = size_of::<uuid::Bytes>();

thread_local! {
    /// The bytes of names to come. Names are no secrets, so those of later requests may lie around.
    static DRAWN: RefCell<Vec<uuid::Bytes>> = const { RefCell::new(Vec::new()) };
}

tokio::task_local! {
    /// The request that the present task works for.
    static CURRENT: Option<RequestId>;
}

/// The server's own name for a request: a random UUID in lower case. A client's name is never taken for it, since it could be that of another
/// request. Handed to the handler among the request's extensions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestId([u8; Hyphenated::LENGTH]);

impl RequestId {
    /// A new name; `None` where there is no randomness.
    pub(crate) fn fresh() -> Option<Self> {
        let id = uuid::Builder::from_random_bytes(drawn()?).into_uuid();
        let mut text = [0; Hyphenated::LENGTH];
        id.hyphenated().encode_lower(&mut text);
        Some(Self(text))
    }

    /// The name of the request that the caller works for; `None` outside of [`in_request`].
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_get().ok().flatten()
    }

    /// The text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(super) fn to_value(self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(&self.0).ok()
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("RequestId")
            .field(&self.as_str())
            .finish()
    }
}

/// Does `work` for the request that is called `id`, so that the log names it in each line. A task that is spawned in `work` is another one, and
/// needs this of its own.
pub(crate) fn in_request<W: Future>(
    id: Option<RequestId>,
    work: W,
) -> impl Future<Output = W::Output> {
    CURRENT.scope(id, work)
}

/// The bytes of a name that no other request has; `None` where there is no randomness.
fn drawn() -> Option<uuid::Bytes> {
    let draw = |drawn: &RefCell<Vec<uuid::Bytes>>| {
        let mut drawn = drawn.borrow_mut();
        if drawn.is_empty() {
            let mut bytes = [0; DRAWN_AT_ONCE * DRAWN_BYTES];
            OsRandom.fill(&mut bytes).ok()?;
            drawn.extend_from_slice(bytes.as_chunks().0);
        }
        drawn.pop()
    };
    DRAWN.try_with(draw).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_a_name_of_its_own_which_is_a_uuid() {
        let names = [RequestId::fresh().unwrap(), RequestId::fresh().unwrap()];
        assert_ne!(names[0].as_str(), names[1].as_str());
        for name in &names {
            let text = name.as_str();
            assert_eq!(text.len(), 36);
            assert_eq!(text.as_bytes()[14], b'4', "a random one: {text}");
            assert_eq!(text, text.to_ascii_lowercase());
        }
    }

    #[test]
    fn names_that_are_drawn_together_and_by_other_threads_differ() {
        let names = || -> Vec<String> {
            let name = |_| RequestId::fresh().unwrap().as_str().to_owned();
            (0..3 * DRAWN_AT_ONCE).map(name).collect()
        };
        let other = std::thread::spawn(names);
        let mut all = names();
        all.extend(other.join().unwrap());
        let different: std::collections::HashSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
