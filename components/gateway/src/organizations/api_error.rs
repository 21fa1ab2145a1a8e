//! Refusals of requests as error objects, with the texts that clients match (contract 1.8).

use std::borrow::Cow;

use gatehouse_access_api as access;
use gatehouse_orgs_api::{self as orgs, Decision};
use serde::Serialize;

use super::attribute_error::AttributeError;
use super::fields;
use super::transport::json_api_of;
use crate::host::AuditError;
use crate::http::Response;
use crate::request_body::{BodyError, MAXIMUM_BODY_BYTES};

/// The reason why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApiError {
    /// The resource does not exist, or not for this caller: both give the same bytes (SEC-A6).
    NotFound,
    /// There is no valid token.
    Unauthorized,
    /// A body of another media type than JSON:API or JSON.
    UnsupportedMediaType,
    /// A body in a content coding, such as a compressed one.
    EncodedBody,
    /// A body above the limit.
    TooLarge,
    /// A body that could not be read to its end.
    Unread(BodyError),
    /// A body that is not JSON, with the message of the parser, which never contains what was sent.
    InvalidJson(String),
    /// A query that asks to include an unknown resource.
    InvalidInclude,
    /// A document that is not valid JSON:API, in its shape or its type.
    Unprocessable(Vec<AttributeError>),
    /// Invalid attributes and relationships, all of them together.
    Invalid(Vec<AttributeError>),
    /// The same for a token whose description another token of its team has, in the words that clients know for it.
    DescriptionTaken(Vec<AttributeError>),
    /// The caller may see the resource but not do this; the text says why. Used only where the contract names it: elsewhere, a forbidden resource
    /// does not exist for the caller.
    Forbidden(Cow<'static, str>),
    /// The caller has made too many requests.
    RateLimited {
        /// The seconds after which a retry is worthwhile.
        seconds: u32,
    },
    /// The server cannot serve the request now; a retry is worthwhile. The text is for the operator.
    Unavailable(String),
    /// The server failed. The text is for the operator.
    Internal(String),
}

impl ApiError {
    /// A document whose data is invalid as a whole.
    pub(super) fn unprocessable(detail: &str) -> Self {
        Self::Unprocessable(vec![AttributeError {
            pointer: "/data".to_owned(),
            detail: detail.to_owned(),
        }])
    }

    /// The refusal that follows from a decision about an organization; `None` if the request is allowed.
    pub(super) fn refusing(decision: Decision) -> Option<Self> {
        match decision {
            Decision::Allowed => None,
            Decision::Hidden => Some(Self::NotFound),
            Decision::Forbidden => Some(Self::Forbidden(
                "Only owners of the organization may do this.".into(),
            )),
            Decision::UserTokensOff => Some(Self::Unauthorized),
        }
    }

    /// The refusal to remove the last owner of an organization.
    pub(super) fn last_owner() -> Self {
        Self::unprocessable("The last owner cannot leave the organization; add another owner first")
    }
}

#[derive(Serialize)]
struct Errors<'a> {
    errors: &'a [ErrorObject<'a>],
}

/// An error object, with its members in the order of the contract. `status` is a text: clients cannot read a number.
#[derive(Serialize)]
struct ErrorObject<'a> {
    status: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source<'a>>,
}

#[derive(Serialize)]
struct Source<'a> {
    pointer: &'a str,
}

impl ApiError {
    /// The refusal to exceed a maximum number.
    pub(super) fn too_many(what: &str, most: u32) -> Self {
        Self::Unprocessable(vec![AttributeError {
            pointer: "/data".to_owned(),
            detail: format!("There can be at most {most} {what}"),
        }])
    }

    /// The text for the operator.
    pub(crate) fn for_operator(&self) -> Option<&str> {
        match self {
            Self::Unavailable(text) | Self::Internal(text) => Some(text),
            _ => None,
        }
    }

    /// The answer.
    pub(crate) fn response(&self) -> Response {
        match self {
            Self::NotFound => single(404, "not found", None),
            Self::Unauthorized => single(401, "unauthorized", None),
            Self::Forbidden(detail) => single(403, "forbidden", Some(detail)),
            Self::UnsupportedMediaType => {
                let detail = "content-type must be application/vnd.api+json";
                single(415, "invalid content type", Some(detail))
            }
            Self::EncodedBody => {
                let detail = "The body must be sent as it is, without a content-encoding";
                single(415, "invalid content encoding", Some(detail))
            }
            Self::TooLarge => {
                let detail = format!("The body must not be larger than {MAXIMUM_BODY_BYTES} bytes");
                single(413, "payload too large", Some(&detail))
            }
            Self::Unread(error) => {
                let title = match error {
                    BodyError::Broken => "bad request",
                    BodyError::Late => "request timeout",
                };
                single(error.status(), title, Some(&error.to_string()))
            }
            Self::InvalidJson(text) => single(400, "JSON body is invalid", Some(text)),
            Self::InvalidInclude => single(400, "bad request", Some("Invalid include parameter")),
            Self::Unprocessable(faults) => faulty("unprocessable entity", faults),
            Self::Invalid(faults) => faulty("invalid attribute", faults),
            Self::DescriptionTaken(faults) => {
                let in_full = |fault: &AttributeError| AttributeError {
                    pointer: fault.pointer.clone(),
                    detail: format!("Validation failed: {}", fault.detail),
                };
                let faults: Vec<_> = faults.iter().map(in_full).collect();
                faulty("invalid attributes", &faults)
            }
            Self::RateLimited { seconds } => {
                let detail = "You have exceeded the API's rate limit.";
                single(429, "Too many requests", Some(detail))
                    .with_header("retry-after", seconds.to_string())
            }
            Self::Unavailable(_) => {
                single(503, "service unavailable", None).with_header("retry-after", "1")
            }
            Self::Internal(_) => single(500, "internal server error", None),
        }
    }
}

fn single(status: u16, title: &str, detail: Option<&str>) -> Response {
    let object = ErrorObject {
        status: &status.to_string(),
        title,
        detail,
        source: None,
    };
    rendered(status, &[object])
}

fn faulty(title: &str, faults: &[AttributeError]) -> Response {
    let objects: Vec<_> = faults
        .iter()
        .map(|fault| ErrorObject {
            status: "422",
            title,
            detail: Some(&fault.detail),
            source: Some(Source {
                pointer: &fault.pointer,
            }),
        })
        .collect();
    rendered(422, &objects)
}

fn rendered(status: u16, errors: &[ErrorObject<'_>]) -> Response {
    // Texts and numbers always serialize.
    let document = serde_json::to_vec(&Errors { errors }).unwrap_or_default();
    json_api_of(status, document)
}

impl From<AuditError> for ApiError {
    fn from(failure: AuditError) -> Self {
        Self::Internal(failure.to_string())
    }
}

impl From<orgs::ServiceError> for ApiError {
    fn from(failure: orgs::ServiceError) -> Self {
        match failure {
            orgs::ServiceError::Damaged(_) | orgs::ServiceError::NoRandomness => {
                Self::Internal(failure.to_string())
            }
            _ => Self::Unavailable(failure.to_string()),
        }
    }
}

impl From<access::ServiceError> for ApiError {
    fn from(failure: access::ServiceError) -> Self {
        match failure {
            access::ServiceError::Damaged(_) | access::ServiceError::NoRandomness => {
                Self::Internal(failure.to_string())
            }
            _ => Self::Unavailable(failure.to_string()),
        }
    }
}

impl From<orgs::ChangeError> for ApiError {
    fn from(error: orgs::ChangeError) -> Self {
        match error {
            orgs::ChangeError::NotFound => Self::NotFound,
            orgs::ChangeError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::attribute_error).collect())
            }
            orgs::ChangeError::Failed(failure) => failure.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendering(error: &ApiError) -> (u16, String) {
        let response = error.response();
        assert_eq!(
            response.header("content-type"),
            Some("application/vnd.api+json")
        );
        (response.status, String::from_utf8(response.body).unwrap())
    }

    #[test]
    fn contract_1_8_the_two_bodies_that_are_exact() {
        let unauthorized = r#"{"errors":[{"status":"401","title":"unauthorized"}]}"#;
        assert_eq!(
            rendering(&ApiError::Unauthorized),
            (401, unauthorized.to_owned())
        );
        let not_found = r#"{"errors":[{"status":"404","title":"not found"}]}"#;
        assert_eq!(rendering(&ApiError::NotFound), (404, not_found.to_owned()));
    }

    #[test]
    fn contract_1_8_every_other_row() {
        for (error, status, fragment) in [
            (
                ApiError::InvalidJson("expected value at line 1 column 1".to_owned()),
                400,
                r#""title":"JSON body is invalid","detail":"expected value at line 1 column 1""#,
            ),
            (
                ApiError::InvalidInclude,
                400,
                r#""title":"bad request","detail":"Invalid include parameter""#,
            ),
            (
                ApiError::UnsupportedMediaType,
                415,
                r#""title":"invalid content type","detail":"content-type must be application/vnd.api+json""#,
            ),
            (
                ApiError::EncodedBody,
                415,
                r#""title":"invalid content encoding","detail":"The body must be sent as it is, without a content-encoding""#,
            ),
            (ApiError::TooLarge, 413, r#""status":"413""#),
            (
                ApiError::Unprocessable(vec![AttributeError {
                    pointer: "/data/type".to_owned(),
                    detail: "Type must be organizations".to_owned(),
                }]),
                422,
                r#""title":"unprocessable entity","detail":"Type must be organizations","source":{"pointer":"/data/type"}"#,
            ),
            (
                ApiError::Invalid(vec![
                    AttributeError::attribute("name", "has already been taken"),
                    AttributeError::relationship("default-agent-pool", "is invalid"),
                ]),
                422,
                concat!(
                    r#"[{"status":"422","title":"invalid attribute","detail":"Name has already been taken","source":{"pointer":"/data/attributes/name"}},"#,
                    r#"{"status":"422","title":"invalid attribute","detail":"Default agent pool is invalid","source":{"pointer":"/data/relationships/default-agent-pool"}}]"#,
                ),
            ),
            (
                ApiError::Forbidden("Not here.".into()),
                403,
                r#"{"errors":[{"status":"403","title":"forbidden","detail":"Not here."}]}"#,
            ),
            (
                ApiError::RateLimited { seconds: 1 },
                429,
                r#"{"errors":[{"status":"429","title":"Too many requests","detail":"You have exceeded the API's rate limit."}]}"#,
            ),
            (
                ApiError::Internal("secret detail".to_owned()),
                500,
                r#"{"errors":[{"status":"500","title":"internal server error"}]}"#,
            ),
        ] {
            let (found, body) = rendering(&error);
            assert_eq!(found, status);
            assert!(body.contains(fragment), "{body}");
        }
    }

    #[test]
    fn a_failed_store_is_worth_trying_again_and_keeps_its_details_for_the_operator() {
        for failure in [
            orgs::ServiceError::Sealed,
            orgs::ServiceError::Contended,
            orgs::ServiceError::Unavailable("disk 7 is gone".to_owned()),
        ] {
            let error = ApiError::from(failure);
            let response = error.response();
            assert_eq!(response.status, 503);
            assert_eq!(response.header("retry-after"), Some("1"));
            assert!(!String::from_utf8(response.body).unwrap().contains("disk"));
            assert!(error.for_operator().is_some());
        }
        let damaged = ApiError::from(orgs::ServiceError::Damaged("x".to_owned()));
        assert_eq!(damaged.response().status, 500);
    }
}
