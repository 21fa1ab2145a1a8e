//! A request in the form that a host passes on, that of `gatehouse:gateway/exchange`, and its conversion.

use gatehouse_ports::IpAddress;

use crate::http::{Headers, Method, Request, Response};
use crate::vault::error_response;

/// A request as a host passes it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The host's name for the request.
    pub id: Option<String>,
    /// The method, as sent.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// The address of the client; `None` if it is not known.
    pub peer: Option<IpAddress>,
    /// True if the client connected by TLS.
    pub is_https: bool,
    /// The authority, where it is not among the header fields.
    pub authority: Option<String>,
    /// The header fields in the order received, names in any case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The whole body. Of a body that is too large, enough bytes to show that.
    pub body: Vec<u8>,
}

impl Received {
    /// Removes every field called `name`, and returns the value of the last one.
    pub fn take_header(&mut self, name: &str) -> Option<Vec<u8>> {
        let taken = self
            .headers
            .extract_if(.., |(found, _)| found.eq_ignore_ascii_case(name));
        taken.last().map(|(_, value)| value)
    }

    /// The request in the gateway's own form.
    ///
    /// # Errors
    ///
    /// The answer to a request that cannot be read: 400.
    pub fn into_request(self) -> Result<Request, Response> {
        let (path, query) = match self.target.split_once('?') {
            Some((path, query)) => (path.to_owned(), query.to_owned()),
            None => (self.target, String::new()),
        };
        let mut headers = Headers::new();
        for (name, value) in self.headers {
            let value = String::from_utf8(value)
                .map_err(|_| error_response(400, "header values must be UTF-8"))?;
            headers.push(&name, value);
        }
        // Absolute links are made from these two fields.
        if headers.get("host").is_none()
            && let Some(authority) = self.authority
        {
            headers.push("host", authority);
        }
        if self.is_https && headers.get("x-forwarded-proto").is_none() {
            headers.push("x-forwarded-proto", "https");
        }
        Ok(Request {
            id: self.id,
            method: Method::named(&self.method),
            path,
            query,
            headers,
            body: self.body,
            peer: self.peer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(target: &str) -> Received {
        Received {
            id: None,
            method: "GET".to_owned(),
            target: target.to_owned(),
            peer: None,
            is_https: false,
            authority: None,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    fn field(name: &str, value: &[u8]) -> (String, Vec<u8>) {
        (name.to_owned(), value.to_vec())
    }

    #[test]
    fn the_last_of_several_fields_is_taken_and_none_is_left() {
        let mut received = received("/");
        received.headers = vec![
            field("X-Peer", b"first"),
            field("other", b"kept"),
            field("x-peer", b"last"),
        ];
        assert_eq!(received.take_header("x-peer"), Some(b"last".to_vec()));
        assert_eq!(received.headers, [field("other", b"kept")]);
        assert_eq!(received.take_header("x-peer"), None);
    }

    #[test]
    fn path_and_query_part_at_the_first_question_mark() {
        let request = received("/v1/x?a=b?c").into_request().unwrap();
        assert_eq!((&*request.path, &*request.query), ("/v1/x", "a=b?c"));
    }

    #[test]
    fn the_host_is_the_field_or_else_the_authority() {
        let mut both = received("/");
        both.authority = Some("beside.example".to_owned());
        let mut request = both.clone().into_request().unwrap();
        assert_eq!(request.headers.get("host"), Some("beside.example"));
        both.headers = vec![field("host", b"field.example")];
        request = both.into_request().unwrap();
        assert_eq!(
            request.headers.all("host").collect::<Vec<_>>(),
            ["field.example"]
        );
    }

    #[test]
    fn a_value_that_is_not_utf8_is_refused() {
        let mut received = received("/");
        received.headers = vec![field("x-odd", b"\xff")];
        assert_eq!(received.into_request().unwrap_err().status, 400);
    }
}
