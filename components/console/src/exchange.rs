//! The port through which the console reaches the API, in the form of `gatehouse:gateway/exchange`.

use gatehouse_ports::IpAddress;

/// A request, read completely.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The host's name for the request; `None` where it gives none. The calls of the API bear the name of the visitor's request.
    pub id: Option<String>,
    /// The method, as sent.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// The address of the client; `None` where it is not known.
    pub peer: Option<IpAddress>,
    /// True where the client connected by TLS.
    pub is_https: bool,
    /// Host and port, where they are not in the field `host`.
    pub authority: Option<String>,
    /// The header fields, with names in any case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of the only header field called `name`, in any case. `None` where there is none, more than one, or one that is not text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let (_, value) = values.next()?;
        match values.next() {
            Some(_) => None,
            None => str::from_utf8(value).ok(),
        }
    }

    /// True if a header field of that name was sent, whatever its value.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers
            .iter()
            .any(|(field, _)| field.eq_ignore_ascii_case(name))
    }

    /// The path, without the query.
    pub(crate) fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The query of the path; empty where there is none.
    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The host and port that the client asked for.
    pub(crate) fn host(&self) -> Option<&str> {
        self.authority.as_deref().or_else(|| self.header("host"))
    }
}

/// A response, complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields of a page, with names in lower case. Those of the API's responses are not read.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// Answers requests of the API.
pub trait Exchange {
    /// The response to `request`; there is always one.
    fn handle(&self, request: Request) -> Response;
}
