//! The media types of request bodies.

use gatehouse_ports::organizations_api::MEDIA_TYPE;

use super::api_error::ApiError;
use crate::http::{Method, Request};

/// Refuses a compressed body, and one of another media type than JSON:API or JSON. A request without a body needs no media type, and the body of a
/// read is ignored.
///
/// If `strict`, JSON:API is the only accepted type, and every write must name it (contract 1.4).
///
/// # Errors
///
/// [`ApiError::UnsupportedMediaType`], [`ApiError::EncodedBody`].
pub(super) fn check_media_type(request: &Request, strict: bool) -> Result<(), ApiError> {
    let is_read = matches!(request.method, Method::Get | Method::Head);
    if is_read || request.body.is_empty() && !strict {
        return Ok(());
    }
    if request.has_encoded_body() {
        return Err(ApiError::EncodedBody);
    }
    let accepted = request.media_type().is_some_and(|found| {
        found.eq_ignore_ascii_case(MEDIA_TYPE)
            || !strict && found.eq_ignore_ascii_case("application/json")
    });
    if accepted {
        Ok(())
    } else {
        Err(ApiError::UnsupportedMediaType)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)], body: &str) -> Request {
        let mut request = Request::new(Method::Post, "/api/v2/organizations");
        request.headers = headers.iter().copied().collect();
        request.body = body.as_bytes().to_vec();
        request
    }

    #[test]
    fn h10_contract_1_4_media_types_of_a_body() {
        for accepted in [
            "application/vnd.api+json",
            "application/vnd.api+json; charset=utf-8",
            "Application/JSON",
        ] {
            let request = request(&[("content-type", accepted)], "{}");
            assert_eq!(check_media_type(&request, false), Ok(()), "{accepted}");
        }
        for refused in [
            "text/plain",
            "",
            "application/x-www-form-urlencoded",
            "application",
        ] {
            let request = request(&[("content-type", refused)], "{}");
            let refusal = Err(ApiError::UnsupportedMediaType);
            assert_eq!(check_media_type(&request, false), refusal, "{refused}");
        }
        assert!(check_media_type(&request(&[], "{}"), false).is_err());
    }

    #[test]
    fn h10_compressed_bodies_are_refused() {
        let json = ("content-type", "application/json");
        let of = |coding| {
            let encoded = request(&[json, ("content-encoding", coding)], "{}");
            check_media_type(&encoded, false)
        };
        assert_eq!(of("gzip"), Err(ApiError::EncodedBody));
        assert_eq!(of("identity"), Ok(()));
    }

    #[test]
    fn contract_1_4_no_body_needs_no_media_type() {
        assert_eq!(check_media_type(&request(&[], ""), false), Ok(()));
    }

    #[test]
    fn contract_1_4_strictly_there_is_one_media_type_and_every_write_names_it() {
        for (media_type, accepted) in [
            (Some("application/vnd.api+json"), true),
            (Some("application/vnd.api+json; charset=utf-8"), true),
            (Some("application/json"), false),
            (Some("text/plain"), false),
            (None, false),
        ] {
            for body in ["", "{}"] {
                let header = media_type.map(|media_type| ("content-type", media_type));
                let headers: Vec<_> = header.into_iter().collect();
                let checked = check_media_type(&request(&headers, body), true);
                assert_eq!(checked.is_ok(), accepted, "{media_type:?} {body:?}");
            }
        }
    }
}
