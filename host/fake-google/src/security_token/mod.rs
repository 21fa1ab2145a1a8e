//! The Security Token Service: the token of another issuer in, a federated access token out (RFC 8693; contract 8.4).

mod issuer;
mod provider;
mod subject_token;

use std::collections::HashMap;

use http::StatusCode;
use serde_json::json;

use self::issuer::DiscoveryError;
pub use self::provider::{IssuerKeys, WorkloadIdentityProvider};
use self::subject_token::SubjectTokenError;
use crate::access_tokens::NoRandomness;
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::caller::Principal;
use crate::jwk::KeySet;
use crate::state::SharedState;

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const SUBJECT_TOKEN_TYPES: [&str; 2] = [
    "urn:ietf:params:oauth:token-type:jwt",
    "urn:ietf:params:oauth:token-type:id_token",
];

/// Why no federated token is issued. The texts are Google's where they are known.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    Request(&'static str),
    #[error("Invalid value for \"{0}\".")]
    Parameter(&'static str),
    #[error("Invalid grant_type.")]
    GrantType,
    #[error(
        "The target service indicated by the \"audience\" parameters is invalid. This might either be because the pool \
         or provider is disabled or deleted or because it doesn't exist."
    )]
    Target,
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    #[error(transparent)]
    SubjectToken(#[from] SubjectTokenError),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoRandomness(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::SubjectToken(SubjectTokenError::Condition) => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The error code of RFC 6749, 5.2 and RFC 8693, 2.2.2.
    fn code(&self) -> &'static str {
        match self {
            Self::Request(_) | Self::Parameter(_) => "invalid_request",
            Self::GrantType => "unsupported_grant_type",
            Self::Target => "invalid_target",
            Self::SubjectToken(SubjectTokenError::Condition) => "unauthorized_client",
            Self::Discovery(_) | Self::SubjectToken(_) => "invalid_grant",
            Self::NoRandomness(_) => "server_error",
        }
    }
}

/// Answers a request to the Security Token Service.
pub(crate) async fn exchange(state: &SharedState, call: &Call<'_>) -> Answer {
    match grant(state, call).await {
        Ok((token, lifetime)) => {
            let body = json!({
                "access_token": token,
                "issued_token_type": ACCESS_TOKEN,
                "token_type": "Bearer",
                "expires_in": lifetime,
            });
            answer::json(StatusCode::OK, &body)
        }
        Err(refusal) => answer::oauth_error(refusal.status(), refusal.code(), &refusal.to_string()),
    }
}

/// A fresh federated token, and its lifetime in seconds.
async fn grant(state: &SharedState, call: &Call<'_>) -> Result<(String, u64), Refusal> {
    let form = call.form().map_err(Refusal::Request)?;
    verify_fixed_fields(&form)?;
    let scope = field(&form, "scope")?;
    let audience = field(&form, "audience")?;
    let token = field(&form, "subject_token")?;
    let provider = state
        .lock()
        .providers
        .get(audience)
        .cloned()
        .ok_or(Refusal::Target)?;
    // The lock is free meanwhile: the issuer may be waiting for this fake elsewhere.
    let keys = match &provider.keys {
        IssuerKeys::Uploaded(keys) => {
            serde_json::from_value::<KeySet>(keys.clone()).map_err(|_| DiscoveryError::Malformed)?
        }
        IssuerKeys::Discovered => issuer::discover(&provider.issuer, None).await?,
        IssuerKeys::DiscoveredAt(origin) => {
            issuer::discover(&provider.issuer, Some(origin)).await?
        }
    };
    subject_token::verify(token, &provider, &keys, call.now)?;

    let mut state = state.lock();
    let lifetime = state.access_tokens.lifetime();
    let principal = Principal::Federated {
        provider: audience.to_owned(),
    };
    let token = state
        .access_tokens
        .issue(principal, scope, lifetime, call.now)?;
    Ok((token, lifetime))
}

fn verify_fixed_fields(form: &HashMap<String, String>) -> Result<(), Refusal> {
    if field(form, "grant_type")? != TOKEN_EXCHANGE {
        return Err(Refusal::GrantType);
    }
    if field(form, "requested_token_type")? != ACCESS_TOKEN {
        return Err(Refusal::Parameter("requested_token_type"));
    }
    if !SUBJECT_TOKEN_TYPES.contains(&field(form, "subject_token_type")?) {
        return Err(Refusal::Parameter("subject_token_type"));
    }
    Ok(())
}

fn field<'a>(form: &'a HashMap<String, String>, name: &'static str) -> Result<&'a str, Refusal> {
    form.get(name)
        .map(String::as_str)
        .filter(|value| !value.is_empty())
        .ok_or(Refusal::Parameter(name))
}
