//! Requests and responses as plain data, without any framework's types.

use gatehouse_ports::IpAddress;

use crate::parts::Rest;

/// The method of a request, with the LIST verb that many clients of this protocol send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Read without a body in the answer.
    Head,
    /// Write.
    Post,
    /// Write, as POST.
    Put,
    /// Partial write.
    Patch,
    /// Delete.
    Delete,
    /// List; not a standard verb.
    List,
    /// Ask for the allowed methods.
    Options,
    /// Any other verb; none is served.
    Other,
}

impl Method {
    /// The method with this name, which is case-sensitive as in HTTP.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            "LIST" => Self::List,
            "OPTIONS" => Self::Options,
            _ => Self::Other,
        }
    }
}

/// Header fields in the order received, names in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a field; the name is put in lower case.
    pub fn push(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_ascii_lowercase(), value.into()));
    }

    /// The first field with this name, which is given in lower case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Every field with this name, which is given in lower case.
    pub fn all<'h, 'n>(&'h self, name: &'n str) -> impl Iterator<Item = &'h str> + use<'h, 'n> {
        self.0
            .iter()
            .filter(move |(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }
}

impl<N: AsRef<str>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut headers = Self::new();
        for (name, value) in fields {
            headers.push(name.as_ref(), value);
        }
        headers
    }
}

/// The maximum length of a client's name for an exchange, in bytes.
const MAXIMUM_REQUEST_ID: usize = 64;

/// One request, read completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The host's name for the exchange; `None` where it gives none.
    pub id: Option<String>,
    /// The method of the request.
    pub method: Method,
    /// The path of the request target as sent: still percent-encoded, without the query.
    pub path: String,
    /// The part of the request target that follows the `?`, as sent; empty when there is none.
    pub query: String,
    /// The header fields.
    pub headers: Headers,
    /// The whole body; empty when there is none.
    pub body: Vec<u8>,
    /// The address of the connection's peer, as determined by the host; `None` when the host did not say.
    pub peer: Option<IpAddress>,
}

impl Request {
    /// A request without query, headers and body, and with an unknown peer.
    #[must_use]
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            id: None,
            method,
            path: path.into(),
            query: String::new(),
            headers: Headers::new(),
            body: Vec::new(),
            peer: None,
        }
    }

    /// The address of the peer, as records and answers show it.
    pub(crate) fn peer_text(&self) -> Option<String> {
        self.peer.map(|peer| peer.to_string())
    }

    /// The media type of the body, without its parameters, as sent; `None` when the request names none.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        let field = self.headers.get("content-type")?;
        Some(field.split_once(';').map_or(field, |(kind, _)| kind).trim())
    }

    /// True if the body is compressed, or otherwise not in the plain form of its media type. The gateway decodes no such bodies: a small one could
    /// expand beyond every limit (SEC-H10).
    #[must_use]
    pub fn has_encoded_body(&self) -> bool {
        let mut codings = self.headers.all("content-encoding");
        !self.body.is_empty()
            && codings.any(|coding| !coding.trim().eq_ignore_ascii_case("identity"))
    }

    /// The client's name for this exchange, if it is short and has only safe characters.
    #[must_use]
    pub fn client_request_id(&self) -> Option<&str> {
        let safe = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        let id = self.headers.get("x-request-id")?;
        let fits = (1..=MAXIMUM_REQUEST_ID).contains(&id.len()) && id.chars().all(safe);
        fits.then_some(id)
    }

    /// The token of an `Authorization: Bearer` field. The scheme word may have any case; other schemes are ignored.
    #[must_use]
    pub fn bearer_token(&self) -> Option<&str> {
        self.headers.all("authorization").find_map(|field| {
            let (scheme, token) = field.trim().split_once(' ')?;
            let token = token.trim();
            (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
        })
    }
}

/// One answer, in the form that a host takes: that of `gatehouse:gateway/exchange`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields, names in lower case. The length of the body is not among them.
    pub headers: Vec<(String, String)>,
    /// The body, or its first part; empty for none.
    pub body: Vec<u8>,
    /// The rest of the body; `None` where `body` is all of it.
    pub rest: Option<Rest>,
    /// The path of the route that served the request, with `{name}` in place of each segment that callers choose; `None` where no route did.
    pub route: Option<String>,
}

impl Response {
    /// An answer whose body is of the given type, with the fields that every answer carries (SEC-H12).
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        let fields = [
            ("content-type", content_type),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
        ];
        Self {
            status,
            headers: fields
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            body,
            rest: None,
            route: None,
        }
    }

    /// Adds a header field; the name is given in lower case.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Lets caches keep the answer for so many seconds. Without this call, no cache may keep it.
    #[must_use]
    pub fn cacheable(mut self, seconds: u32) -> Self {
        self.headers.retain(|(name, _)| name != "cache-control");
        self.with_header("cache-control", format!("max-age={seconds}"))
    }

    /// The same without its body if the request is a HEAD.
    pub(crate) fn without_body_for_head(mut self, request: &Request) -> Self {
        if request.method == Method::Head {
            self.body.clear();
            self.rest = None;
        }
        self
    }

    /// The header fields, with the length of the body unless further parts follow.
    #[must_use]
    pub fn fields(&self) -> Vec<(String, Vec<u8>)> {
        let fields = self.headers.iter();
        let mut fields: Vec<_> = fields
            .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
            .collect();
        if !self.body.is_empty() && self.rest.is_none() {
            let length = self.body.len().to_string();
            fields.push(("content-length".to_owned(), length.into_bytes()));
        }
        fields
    }

    /// The first header field with this name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|(found, _)| found == name);
        field.map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_authorization(value: &str) -> Request {
        let mut request = Request::new(Method::Get, "/v1/x");
        request.headers.push("Authorization", value);
        request
    }

    #[test]
    fn bearer_scheme_is_accepted_in_any_case() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc "] {
            assert_eq!(with_authorization(value).bearer_token(), Some("abc"));
        }
    }

    #[test]
    fn other_schemes_and_empty_tokens_are_no_token() {
        for value in ["Basic abc", "Bearer", "Bearer ", "abc"] {
            assert_eq!(with_authorization(value).bearer_token(), None);
        }
    }

    #[test]
    fn media_type_is_read_without_parameters() {
        let mut request = Request::new(Method::Post, "/");
        assert_eq!(request.media_type(), None);
        request
            .headers
            .push("Content-Type", "application/json; charset=utf-8");
        assert_eq!(request.media_type(), Some("application/json"));
    }

    #[test]
    fn h10_a_body_with_any_coding_but_identity_is_encoded() {
        for (codings, encoded) in [
            (&[][..], false),
            (&["identity"], false),
            (&[" Identity "], false),
            (&["gzip"], true),
            (&["identity, br"], true),
            (&["identity", "zstd"], true),
        ] {
            let mut request = Request::new(Method::Post, "/");
            for coding in codings {
                request.headers.push("Content-Encoding", *coding);
            }
            assert!(!request.has_encoded_body(), "no body: {codings:?}");
            request.body = b"{}".to_vec();
            assert_eq!(request.has_encoded_body(), encoded, "{codings:?}");
        }
    }

    #[test]
    fn unknown_and_lower_case_verbs_are_other() {
        assert_eq!(Method::named("LIST"), Method::List);
        assert_eq!(Method::named("get"), Method::Other);
        assert_eq!(Method::named("TRACE"), Method::Other);
    }
}
