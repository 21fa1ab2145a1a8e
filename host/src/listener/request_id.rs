//! The name of a request, by which logs and answers know it.

use gatehouse_ports::{OsRandom, Random};
use http::header::{HeaderName, HeaderValue};

/// The field of every answer that tells the name. An answer that has it already keeps its own: `/api/v2` gives back the client's name.
pub(super) const FIELD: HeaderName = HeaderName::from_static("x-request-id");

/// The span of a request, whose field `id` is its name.
pub(crate) const REQUEST_SPAN: &str = "request";

/// The server's own name for a request: a random UUID in lower case. A client's name is never taken for it, since it could be that of another
/// request. Handed to the handler among the request's extensions.
#[derive(Debug, Clone)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// A new name; `None` where there is no randomness.
    pub(super) fn fresh() -> Option<Self> {
        let mut bytes = [0; 16];
        OsRandom.fill(&mut bytes).ok()?;
        let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let text = id.hyphenated().encode_lower(&mut text);
        HeaderValue::from_str(text).ok().map(Self)
    }

    /// The text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    pub(super) fn as_value(&self) -> HeaderValue {
        self.0.clone()
    }
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
}
