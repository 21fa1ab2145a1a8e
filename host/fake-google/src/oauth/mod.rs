//! The OAuth 2.0 token endpoint (RFC 6749; contract 8.4).

mod assertion;
mod refresh;

use http::StatusCode;
use serde_json::json;

pub(crate) use self::refresh::Users;
use crate::access_tokens::NoRandomness;
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::caller::Principal;
use crate::google::token_url_of;
use crate::state::State;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const REFRESH_TOKEN: &str = "refresh_token";

/// The proof that a request brought: its principal and scopes.
struct Grant {
    principal: Principal,
    /// Scopes, separated by spaces.
    scope: String,
}

/// Why no access token is issued. The texts are Google's.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    Request(&'static str),
    #[error("Missing parameter: {0}")]
    MissingParameter(&'static str),
    #[error("Invalid grant_type: {0}")]
    GrantType(String),
    #[error("Bad Request")]
    Malformed,
    #[error("Invalid grant: account not found")]
    UnknownAccount,
    #[error("The OAuth client was disabled.")]
    DisabledAccount,
    #[error("Invalid JWT Signature.")]
    Signature,
    #[error("Invalid JWT: Failed audience check. The right audience is {expected}")]
    Audience { expected: String },
    #[error(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. \
         Check your iat and exp values in the JWT claim."
    )]
    Timeframe,
    #[error("Invalid OAuth scope or ID token audience provided.")]
    Scope,
    #[error(
        "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested."
    )]
    Delegation,
    #[error("The OAuth client was not found.")]
    UnknownClient,
    #[error("The provided client secret is invalid.")]
    ClientSecret,
    #[error("Token has been expired or revoked.")]
    RefreshToken,
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::DisabledAccount | Self::Delegation | Self::UnknownClient | Self::ClientSecret => {
                StatusCode::UNAUTHORIZED
            }
            Self::NoRandomness(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The error code of RFC 6749, 5.2.
    fn code(&self) -> &'static str {
        match self {
            Self::Request(_) | Self::MissingParameter(_) => "invalid_request",
            Self::GrantType(_) => "unsupported_grant_type",
            Self::DisabledAccount => "disabled_client",
            Self::UnknownClient | Self::ClientSecret => "invalid_client",
            Self::Scope => "invalid_scope",
            Self::Delegation => "unauthorized_client",
            Self::NoRandomness(_) => "server_error",
            Self::Malformed
            | Self::UnknownAccount
            | Self::Signature
            | Self::Audience { .. }
            | Self::Timeframe
            | Self::RefreshToken => "invalid_grant",
        }
    }
}

impl State {
    /// Answers a request to the token endpoint.
    pub(crate) fn grant_token(&mut self, call: &Call<'_>) -> Answer {
        match self.grant(call) {
            Ok((access_token, scope)) => {
                let body = json!({
                    "access_token": access_token,
                    "expires_in": self.access_tokens.lifetime(),
                    "scope": scope,
                    "token_type": "Bearer",
                });
                answer::json(StatusCode::OK, &body)
            }
            Err(refusal) => {
                answer::oauth_error(refusal.status(), refusal.code(), &refusal.to_string())
            }
        }
    }

    /// A fresh access token and its scopes.
    fn grant(&mut self, call: &Call<'_>) -> Result<(String, String), Refusal> {
        let form = call.form().map_err(Refusal::Request)?;
        let grant = match form.get("grant_type").map(String::as_str) {
            Some(JWT_BEARER) => {
                self.verify_assertion(&form, &token_url_of(call.base_url), call.now)?
            }
            Some(REFRESH_TOKEN) => self.users.verify_refresh(&form)?,
            Some(other) => return Err(Refusal::GrantType(other.to_owned())),
            None => return Err(Refusal::MissingParameter("grant_type")),
        };
        let lifetime = self.access_tokens.lifetime();
        let token = self
            .access_tokens
            .issue(grant.principal, &grant.scope, lifetime, call.now)?;
        Ok((token, grant.scope))
    }
}
