//! Failures of Google and of the way to it: error texts, which stand in the log and in answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ApiRefusal, CredentialsRefusal, CredentialsStep};

/// Why the mount's own credentials give no access to Google's APIs. It holds no part of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum CredentialsError {
    /// None are stored, and the server has no default ones.
    #[error("could not find default credentials")]
    NotFound,
    /// The stored private key cannot sign.
    #[error("the stored private key is not usable")]
    Unusable,
    /// The server's application default credentials are not of a kind that can be used.
    #[error("the application default credentials of the server are not usable")]
    DefaultUnusable,
    /// No identity token could be made for federation.
    #[error("no identity token could be made for federation")]
    NoIdentityToken,
    /// Google refused them at one of the steps to an access token.
    #[error("Google refused the credentials at the {} with status {}: {}", .0.step, .0.status, .0.message)]
    Refused(CredentialsRefusal),
    /// The answer was not one that the protocol knows.
    #[error("Google's answer could not be read")]
    AnswerUnreadable,
}

impl fmt::Display for CredentialsStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Token => "token endpoint",
            Self::Metadata => "metadata server",
            Self::Exchange => "token exchange",
            Self::Impersonation => "impersonation",
            Self::Use => "API",
        })
    }
}

/// Why a call to Google gave nothing to work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoogleCallError {
    /// Google refused.
    #[error("Google refused with status {}", .0.status)]
    Refused(ApiRefusal),
    /// The mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsError),
    /// The host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error("outgoing requests to the API {0:?} are not allowed")]
    EndpointDenied(String),
    /// Google's answer was not what the API promises; holds the name of the API.
    #[error("the API {0:?} of Google gave an answer of no use")]
    GoogleUnusable(String),
    /// Google did not answer in time, or said so; holds the name of the API.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyLookupError;

    /// The cache that instances share outlives an update of the components: both releases read what the other wrote.
    #[test]
    fn failures_keep_their_form_in_the_shared_cache() {
        let refused = CredentialsError::Refused(CredentialsRefusal {
            step: CredentialsStep::Use,
            status: 401,
            message: "m".to_owned(),
        });
        let form = r#"{"Refused":{"step":"Use","status":401,"message":"m"}}"#;
        assert_eq!(serde_json::to_string(&refused).unwrap(), form);
        let read: CredentialsError = serde_json::from_str(form).unwrap();
        assert_eq!(read, refused);
        let unusable = serde_json::to_string(&CredentialsError::Unusable).unwrap();
        assert_eq!(unusable, r#""Unusable""#);
        let refusal = ApiRefusal {
            status: 404,
            message: "m".to_owned(),
            reason: "r".to_owned(),
        };
        let refusal = serde_json::to_string(&refusal).unwrap();
        assert_eq!(refusal, r#"{"status":404,"message":"m","reason":"r"}"#);
        let refusal = serde_json::to_string(&KeyLookupError::NotGoogles).unwrap();
        assert_eq!(refusal, r#""NotGoogles""#);
    }

    #[test]
    fn a_refusal_of_credentials_names_the_step() {
        let refused = |step| {
            CredentialsError::Refused(CredentialsRefusal {
                step,
                status: 400,
                message: "invalid_grant".to_owned(),
            })
            .to_string()
        };
        for (step, name) in [
            (CredentialsStep::Token, "token endpoint"),
            (CredentialsStep::Metadata, "metadata server"),
            (CredentialsStep::Exchange, "token exchange"),
            (CredentialsStep::Impersonation, "impersonation"),
            (CredentialsStep::Use, "API"),
        ] {
            let text = format!(
                "Google refused the credentials at the {name} with status 400: invalid_grant"
            );
            assert_eq!(refused(step), text);
        }
    }
}
