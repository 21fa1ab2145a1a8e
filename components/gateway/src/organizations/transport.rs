//! The media types and headers of all exchanges (contract 1.3, 1.4, section 7).

use std::borrow::Cow;

use gatehouse_orgs_api::Edition;
use gatehouse_ports::organizations_api::MEDIA_TYPE;

use crate::http::{Request, Response};
use crate::json_writer::WriteJson;

/// The version of the API, which clients compare with the version that they need.
const API_VERSION: &str = "2.6";

/// The release that a self-hosted server claims to be, in its monthly and its numeric form. Clients prefer the numeric form: the Terraform provider
/// refuses token lifetime policies below 2.0.1, and from 2.1.0 on expects site auditors and certificates of identity providers, which do not exist
/// here.
const SELF_HOSTED_RELEASE: (&str, &str) = ("v202507-1", "2.0.1");

/// The room that a document begins with: that of an organization.
const USUAL_BYTES: usize = 4096;

/// An answer with a JSON:API document.
pub(super) fn json_api(status: u16, document: &impl WriteJson) -> Response {
    let mut body = Vec::with_capacity(USUAL_BYTES);
    document.write_json(&mut body);
    json_api_of(status, body)
}

/// An answer with a serialized JSON:API document, or with its first part.
pub(super) fn json_api_of(status: u16, document: Vec<u8>) -> Response {
    Response::new(status, MEDIA_TYPE, document)
}

/// An answer without a body, and so without a media type.
pub(super) fn no_content() -> Response {
    let mut response = Response::new(204, MEDIA_TYPE, Vec::new());
    response.headers.retain(|(name, _)| name != "content-type");
    response
}

/// Adds the headers about the server that every answer of this protocol has.
pub(super) fn with_metadata(response: Response, edition: Edition) -> Response {
    let response = response.with_header("tfp-api-version", API_VERSION);
    match edition {
        Edition::Hosted => response.with_header("tfp-appname", "HCP Terraform"),
        Edition::SelfHosted => {
            let (monthly, numeric) = SELF_HOSTED_RELEASE;
            response
                .with_header("tfp-appname", "Terraform Enterprise")
                .with_header("x-tfe-version", monthly)
                .with_header("x-tfe-current-version", numeric)
        }
    }
}

/// The scheme and host of this server as the client sees them, such as `https://gatehouse.example`. Empty if they are unknown; links then begin with
/// the path.
///
/// The forwarding headers of a proxy take precedence: the host passes on only those of trusted proxies (SEC-H9).
pub(super) fn origin(request: &Request) -> Cow<'static, str> {
    let safe = |character: char| character.is_ascii_alphanumeric() || "-._:[]".contains(character);
    let forwarded = request.headers.get("x-forwarded-host").map(|hosts| {
        // Each proxy appends the host that it was asked for. The first one was asked for by the client.
        let first = hosts.split(',').next().unwrap_or_default();
        first.trim()
    });
    let host = forwarded.or_else(|| request.headers.get("host"));
    let host = host.unwrap_or_default();
    if host.is_empty() || !host.chars().all(safe) {
        return Cow::Borrowed("");
    }
    let scheme = match request.headers.get("x-forwarded-proto") {
        Some("https") => "https",
        _ => "http",
    };
    Cow::Owned(format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    fn request(headers: &[(&str, &str)], body: &str) -> Request {
        let mut request = Request::new(Method::Post, "/api/v2/organizations");
        request.headers = headers.iter().copied().collect();
        request.body = body.as_bytes().to_vec();
        request
    }

    #[test]
    fn contract_1_3_each_edition_names_itself() {
        let hosted = with_metadata(no_content(), Edition::Hosted);
        assert_eq!(hosted.header("tfp-api-version"), Some("2.6"));
        assert_eq!(hosted.header("tfp-appname"), Some("HCP Terraform"));
        assert_eq!(hosted.header("x-tfe-version"), None);
        let own = with_metadata(no_content(), Edition::SelfHosted);
        assert_eq!(own.header("tfp-appname"), Some("Terraform Enterprise"));
        assert_eq!(own.header("x-tfe-version"), Some("v202507-1"));
        assert_eq!(own.header("x-tfe-current-version"), Some("2.0.1"));
        assert_eq!(own.header("content-type"), None);
    }

    #[test]
    fn only_safe_request_ids_are_echoed() {
        let id = |value: &str| {
            let request = request(&[("x-request-id", value)], "");
            request.client_request_id().map(str::to_owned)
        };
        assert_eq!(id("a-1_B.2"), Some("a-1_B.2".to_owned()));
        assert_eq!(id(&"x".repeat(64)), Some("x".repeat(64)));
        for refused in [&"x".repeat(65), "", "a b", "a\"b", "é"] {
            assert_eq!(id(refused), None, "{refused}");
        }
    }

    #[test]
    fn links_stand_under_the_host_that_the_client_named() {
        let of = |headers: &[(&str, &str)]| origin(&request(headers, "")).into_owned();
        assert_eq!(of(&[("host", "127.0.0.1:8200")]), "http://127.0.0.1:8200");
        let secure = [("host", "g.example"), ("x-forwarded-proto", "https")];
        assert_eq!(of(&secure), "https://g.example");
        assert_eq!(of(&[("host", "[::1]:8200")]), "http://[::1]:8200");
        let behind = |forwarded| {
            of(&[
                ("host", "10.0.0.7"),
                ("x-forwarded-host", forwarded),
                ("x-forwarded-proto", "https"),
            ])
        };
        assert_eq!(behind("g.example:8443"), "https://g.example:8443");
        assert_eq!(behind("g.example, proxy.internal"), "https://g.example");
        assert_eq!(behind("evil.example/x"), "");
        for odd in ["", "a/b", "a@b", "a b", "a\"b"] {
            assert_eq!(of(&[("host", odd)]), "", "{odd}");
        }
    }
}
