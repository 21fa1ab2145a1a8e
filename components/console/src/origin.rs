//! The origin of a form: only pages of this server may send forms.

use crate::exchange::Request;

/// True if no header field says that a page of another origin sent the request. Browsers name the origin in two header fields; either is enough to
/// refuse. Where the browser sends neither, the key of the form decides.
pub fn is_own(request: &Request) -> bool {
    let site = !request.has_header("sec-fetch-site")
        || request.header("sec-fetch-site") == Some("same-origin");
    let origin = !request.has_header("origin")
        || request
            .header("origin")
            .and_then(|origin| origin.split_once("://"))
            .is_some_and(|(_, authority)| {
                request
                    .host()
                    .is_some_and(|host| host.eq_ignore_ascii_case(authority))
            });
    site && origin
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(fields: &[(&str, &str)]) -> bool {
        let headers = fields
            .iter()
            .chain(&[("host", "gate.example:8200")])
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        is_own(&Request {
            headers: headers.collect(),
            ..Request::default()
        })
    }

    #[test]
    fn a_form_of_this_server_is_its_own() {
        assert!(sent(&[]));
        assert!(sent(&[("sec-fetch-site", "same-origin")]));
        assert!(sent(&[("Origin", "https://gate.example:8200")]));
        assert!(sent(&[
            ("origin", "http://GATE.example:8200"),
            ("sec-fetch-site", "same-origin")
        ]));
    }

    #[test]
    fn h16_a_form_of_another_origin_is_not() {
        for fields in [
            [("origin", "https://evil.example")],
            [("origin", "https://gate.example:8200.evil.example")],
            [("origin", "https://gate.example")],
            [("origin", "null")],
            [("sec-fetch-site", "cross-site")],
            [("sec-fetch-site", "same-site")],
            [("sec-fetch-site", "")],
        ] {
            assert!(!sent(&fields), "{fields:?}");
        }
        assert!(!sent(&[
            ("origin", "http://gate.example:8200"),
            ("origin", "http://evil.example")
        ]));
    }
}
