//! What Google, or the way to it, can refuse: error texts, which stand in the log and in answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ApiRefusal, CredentialsRefusal, CredentialsStep};

/// Why the mount's own credentials give no access to Google's APIs. It holds no part of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum CredentialsFailure {
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
pub enum CallFailure {
    /// Google refused.
    #[error("Google refused with status {}", .0.status)]
    Refused(ApiRefusal),
    /// The mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsFailure),
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
