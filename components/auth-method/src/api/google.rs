//! What Google, or the way to it, can refuse (contract 4.7, 8).

use serde::{Deserialize, Serialize};

/// Google's refusal of a question. Its words are cut to 512 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiRefusal {
    /// HTTP status of the answer, of the class 4xx.
    pub status: u16,
    /// Google's message; empty when the answer had none.
    pub message: String,
    /// Google's short reason, such as `notFound`; empty when the answer had none.
    pub reason: String,
}

/// Google's refusal of a question about a service account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRefusal {
    /// What was asked for: an e-mail address or a unique id.
    pub account: String,
    /// What Google said.
    pub refusal: ApiRefusal,
}

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
    #[error("Google refused the credentials at the {step} with status {status}: {message}")]
    Refused {
        /// Which step.
        step: CredentialsStep,
        /// HTTP status of the answer.
        status: u16,
        /// Google's short error code, such as `invalid_grant`, cut to 512 bytes; empty when the answer had none.
        message: String,
    },
    /// The answer was not one that the protocol knows.
    #[error("Google's answer could not be read")]
    AnswerUnreadable,
}

/// A step on the way to an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CredentialsStep {
    /// The token endpoint, for a key or a refresh token.
    Token,
    /// The metadata server.
    Metadata,
    /// The exchange of an identity token.
    Exchange,
    /// Acting as the configured service account.
    Impersonation,
    /// An API that did not accept the access token.
    Use,
}

impl std::fmt::Display for CredentialsStep {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Token => "token endpoint",
            Self::Metadata => "metadata server",
            Self::Exchange => "token exchange",
            Self::Impersonation => "impersonation",
            Self::Use => "API",
        })
    }
}
