//! Why a request is not served, and how that is told: error objects, with the texts that clients match (contract 1.8).

use gatehouse_access as access;
use gatehouse_orgs::{self as orgs, FieldFault};
use serde::Serialize;

use super::fields;
use super::transport::json_api;
use crate::gateway::MAXIMUM_BODY_BYTES;
use crate::host::AuditFailure;
use crate::http::Response;

/// Why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Unknown, or not for this caller: the two are told in the same bytes (SEC-A6).
    NotFound,
    /// No valid token.
    Unauthorized,
    /// A body of another media type than JSON:API or JSON.
    UnsupportedMediaType,
    /// A body in a content coding, such as a compressed one.
    EncodedBody,
    /// A body above the limit.
    TooLarge,
    /// A body that is not JSON; what the parser says, which is never what was sent.
    InvalidJson(String),
    /// A query that asks to include what cannot be included.
    InvalidInclude,
    /// A document that is not what JSON:API asks for.
    Document(Vec<DocumentFault>),
    /// Fields that are not as they must be.
    Fields(Vec<FieldFault>),
    /// Not now; worth trying again. The text is for the operator.
    Unavailable(String),
    /// The server failed. The text is for the operator.
    Internal(String),
}

/// What can be wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentFault {
    /// No `data`, or one that is no object.
    Data,
    /// A `type` other than `organizations`.
    Type,
    /// `attributes` that are no object.
    Attributes,
    /// `relationships` that are no object.
    Relationships,
}

#[derive(Serialize)]
struct Errors<'a> {
    errors: &'a [ErrorObject<'a>],
}

/// Members in the order in which the contract writes them. `status` is text: clients cannot read a number.
#[derive(Serialize)]
struct ErrorObject<'a> {
    status: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
}

#[derive(Serialize)]
struct Source {
    pointer: String,
}

impl Problem {
    /// What the operator should hear about it.
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
            Self::UnsupportedMediaType => {
                let detail = "content-type must be application/vnd.api+json";
                single(415, "invalid content type", Some(detail.to_owned()))
            }
            Self::EncodedBody => {
                let detail = "The body must be sent as it is, without a content-encoding";
                single(415, "invalid content encoding", Some(detail.to_owned()))
            }
            Self::TooLarge => {
                let detail = format!("The body must not be larger than {MAXIMUM_BODY_BYTES} bytes");
                single(413, "payload too large", Some(detail))
            }
            Self::InvalidJson(text) => single(400, "JSON body is invalid", Some(text.clone())),
            Self::InvalidInclude => {
                let detail = "Invalid include parameter";
                single(400, "bad request", Some(detail.to_owned()))
            }
            Self::Document(faults) => unprocessable("unprocessable entity", faults, |fault| {
                let (pointer, detail) = fault.pointer_and_detail();
                (pointer.to_owned(), detail.to_owned())
            }),
            Self::Fields(faults) => unprocessable("invalid attribute", faults, |fault| {
                (fields::pointer(fault.field), fields::detail(fault))
            }),
            Self::Unavailable(_) => {
                single(503, "service unavailable", None).with_header("retry-after", "1")
            }
            Self::Internal(_) => single(500, "internal server error", None),
        }
    }
}

impl DocumentFault {
    const fn pointer_and_detail(self) -> (&'static str, &'static str) {
        match self {
            Self::Data => ("/data", "Data must be an object"),
            Self::Type => ("/data/type", "Type must be organizations"),
            Self::Attributes => ("/data/attributes", "Attributes must be an object"),
            Self::Relationships => ("/data/relationships", "Relationships must be an object"),
        }
    }
}

fn single(status: u16, title: &str, detail: Option<String>) -> Response {
    let object = ErrorObject {
        status: &status.to_string(),
        title,
        detail,
        source: None,
    };
    rendered(status, &[object])
}

fn unprocessable<F>(title: &str, faults: &[F], text: impl Fn(&F) -> (String, String)) -> Response {
    let objects: Vec<_> = faults
        .iter()
        .map(text)
        .map(|(pointer, detail)| ErrorObject {
            status: "422",
            title,
            detail: Some(detail),
            source: Some(Source { pointer }),
        })
        .collect();
    rendered(422, &objects)
}

fn rendered(status: u16, errors: &[ErrorObject<'_>]) -> Response {
    json_api(status, &Errors { errors })
}

impl From<AuditFailure> for Problem {
    fn from(failure: AuditFailure) -> Self {
        Self::Internal(failure.to_string())
    }
}

impl From<orgs::Failure> for Problem {
    fn from(failure: orgs::Failure) -> Self {
        match failure {
            orgs::Failure::Damaged(_) | orgs::Failure::NoRandomness => {
                Self::Internal(failure.to_string())
            }
            _ => Self::Unavailable(failure.to_string()),
        }
    }
}

impl From<access::Failure> for Problem {
    fn from(failure: access::Failure) -> Self {
        match failure {
            access::Failure::Damaged(_) | access::Failure::NoRandomness => {
                Self::Internal(failure.to_string())
            }
            _ => Self::Unavailable(failure.to_string()),
        }
    }
}

impl From<orgs::CreateError> for Problem {
    fn from(error: orgs::CreateError) -> Self {
        match error {
            orgs::CreateError::Invalid(faults) => Self::Fields(faults),
            orgs::CreateError::Failed(failure) => failure.into(),
        }
    }
}

impl From<orgs::UpdateError> for Problem {
    fn from(error: orgs::UpdateError) -> Self {
        match error {
            orgs::UpdateError::NotFound => Self::NotFound,
            orgs::UpdateError::Invalid(faults) => Self::Fields(faults),
            orgs::UpdateError::Failed(failure) => failure.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendering(problem: &Problem) -> (u16, String) {
        let response = problem.response();
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
            rendering(&Problem::Unauthorized),
            (401, unauthorized.to_owned())
        );
        let not_found = r#"{"errors":[{"status":"404","title":"not found"}]}"#;
        assert_eq!(rendering(&Problem::NotFound), (404, not_found.to_owned()));
    }

    #[test]
    fn contract_1_8_every_other_row() {
        for (problem, status, fragment) in [
            (
                Problem::InvalidJson("expected value at line 1 column 1".to_owned()),
                400,
                r#""title":"JSON body is invalid","detail":"expected value at line 1 column 1""#,
            ),
            (
                Problem::InvalidInclude,
                400,
                r#""title":"bad request","detail":"Invalid include parameter""#,
            ),
            (
                Problem::UnsupportedMediaType,
                415,
                r#""title":"invalid content type","detail":"content-type must be application/vnd.api+json""#,
            ),
            (
                Problem::EncodedBody,
                415,
                r#""title":"invalid content encoding","detail":"The body must be sent as it is, without a content-encoding""#,
            ),
            (Problem::TooLarge, 413, r#""status":"413""#),
            (
                Problem::Document(vec![DocumentFault::Type]),
                422,
                r#""title":"unprocessable entity","detail":"Type must be organizations","source":{"pointer":"/data/type"}"#,
            ),
            (
                Problem::Internal("secret detail".to_owned()),
                500,
                r#"{"errors":[{"status":"500","title":"internal server error"}]}"#,
            ),
        ] {
            let (found, body) = rendering(&problem);
            assert_eq!(found, status);
            assert!(body.contains(fragment), "{body}");
        }
    }

    #[test]
    fn a_failed_store_is_worth_trying_again_and_keeps_its_details_for_the_operator() {
        for failure in [
            orgs::Failure::Sealed,
            orgs::Failure::Contended,
            orgs::Failure::Unavailable("disk 7 is gone".to_owned()),
        ] {
            let problem = Problem::from(failure);
            let response = problem.response();
            assert_eq!(response.status, 503);
            assert_eq!(response.header("retry-after"), Some("1"));
            assert!(!String::from_utf8(response.body).unwrap().contains("disk"));
            assert!(problem.for_operator().is_some());
        }
        let damaged = Problem::from(orgs::Failure::Damaged("x".to_owned()));
        assert_eq!(damaged.response().status, 500);
    }
}
