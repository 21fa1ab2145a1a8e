//! The port through which the console reaches the API, in the form of `gatehouse:gateway/exchange`.

use gatehouse_ports::IpAddress;

/// A request, read to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The host's name for the request; `None` where it gives none. What the console asks of the API bears that of its visitor's request.
    pub id: Option<String>,
    /// As sent.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// Where the client is; `None` where that is not known.
    pub peer: Option<IpAddress>,
    /// True where the client came by TLS.
    pub is_https: bool,
    /// Host and port where they do not stand in the field `host`.
    pub authority: Option<String>,
    /// The fields, names in any case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Empty for none.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of the only field of that name, in lower case. `None` where there is none, more than one, or one that is no text.
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

    /// True if a field of that name was sent, in whatever form.
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

    /// Host and port that the client asked for.
    pub(crate) fn host(&self) -> Option<&str> {
        self.authority.as_deref().or_else(|| self.header("host"))
    }
}

/// An answer, whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The fields of a page, names in lower case. Those of the API's answers are not read.
    pub headers: Vec<(&'static str, String)>,
    /// Empty for none.
    pub body: Vec<u8>,
}

/// Answers requests of the API.
pub trait Exchange {
    /// The answer to `request`; there is always one.
    fn handle(&self, request: Request) -> Response;
}
