//! Google's error bodies, which are not trusted to be what they should be (contract 8.1, rule 5).

use serde::Deserialize;

use super::strict::{Object, object_in};
use crate::ApiRefusal;
use crate::excerpt::excerpt;

/// Most of Google's own words that are passed on, in bytes.
const MAXIMUM_MESSAGE_BYTES: usize = 512;

#[derive(Deserialize)]
struct ApiBody {
    error: Object<ApiError>,
}

#[derive(Deserialize)]
struct ApiError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<Object<ApiErrorDetail>>,
}

#[derive(Deserialize)]
struct ApiErrorDetail {
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
struct TokenBody {
    error: String,
}

/// The refusal of an API with this status; its texts are empty where they cannot be read.
pub(super) fn api_refusal(status: u16, body: &[u8]) -> ApiRefusal {
    let Ok(ApiBody {
        error: Object(error),
    }) = object_in(body)
    else {
        return ApiRefusal {
            status,
            message: String::new(),
            reason: String::new(),
        };
    };
    let reason = error
        .errors
        .into_iter()
        .next()
        .map(|Object(detail)| detail.reason);
    ApiRefusal {
        status,
        message: excerpt(&error.message, MAXIMUM_MESSAGE_BYTES),
        reason: excerpt(&reason.unwrap_or_default(), MAXIMUM_MESSAGE_BYTES),
    }
}

/// The short code of a token endpoint's refusal. Its description may name the account, so it is not passed on.
pub(super) fn token_refusal(body: &[u8]) -> String {
    object_in(body).map_or_else(
        |_| String::new(),
        |TokenBody { error }| excerpt(&error, MAXIMUM_MESSAGE_BYTES),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_8_1_the_message_and_the_first_reason_are_read() {
        let body = br#"{"error":{"code":404,"message":"gone","status":"NOT_FOUND","errors":[{"reason":"notFound"}]}}"#;
        let refusal = api_refusal(404, body);
        assert_eq!(
            (refusal.message.as_str(), refusal.reason.as_str()),
            ("gone", "notFound")
        );
        assert_eq!(
            token_refusal(br#"{"error":"invalid_grant","error_description":"x"}"#),
            "invalid_grant"
        );
    }

    #[test]
    fn contract_8_1_a_body_of_another_kind_says_nothing() {
        for body in [
            &b"<html>"[..],
            b"",
            b"{}",
            br#"{"error":7}"#,
            b"\xff",
            b"[]",
            br#"["invalid_grant"]"#,
            br#"[["gone",[["notFound"]]]]"#,
            br#"{"error":["gone",[["notFound"]]]}"#,
            br#"{"error":{"message":"gone","errors":[["notFound"]]}}"#,
        ] {
            let refusal = api_refusal(403, body);
            assert_eq!(
                (refusal.message, refusal.reason),
                (String::new(), String::new())
            );
            assert_eq!(token_refusal(body), "");
        }
    }

    #[test]
    fn j20_messages_are_cut_to_512_bytes_at_a_character() {
        let body = format!(r#"{{"error":{{"message":"a{}"}}}}"#, "é".repeat(600));
        assert_eq!(api_refusal(400, body.as_bytes()).message.len(), 511);
    }
}
