//! The OAuth 2.0 token endpoint: a signed assertion in, an access token out (RFC 7523; contract 8.4).

use std::collections::HashMap;
use std::time::Duration;

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::account::Account;
use crate::answer::{self, Answer};
use crate::jwt::UnverifiedJwt;
use crate::state::State;

/// The only grant that the fake knows.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Longest time between an assertion's `iat` and `exp`, in seconds.
const ASSERTION_LIFETIME: i64 = 3600;
/// By how much the clocks of client and Google may differ, in seconds.
const CLOCK_LEEWAY: i64 = 60;
/// Random bytes in an access token.
const ACCESS_TOKEN_ENTROPY: usize = 32;

/// The access tokens that were issued and have not expired.
#[derive(Debug)]
pub(crate) struct AccessTokens {
    issued: HashMap<String, AccessToken>,
    lifetime: Duration,
}

/// What an access token stands for.
#[derive(Debug)]
pub(crate) struct AccessToken {
    /// Unique ID of the account that it was issued to.
    account: String,
    /// Scopes, separated by spaces.
    scope: String,
    /// First second, since the Unix epoch, at which it is no longer accepted.
    expires_at: u64,
}

impl AccessTokens {
    /// No tokens; those to come live for `lifetime`.
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self {
            issued: HashMap::new(),
            lifetime,
        }
    }

    /// Forgets all tokens, so that they are refused from now on.
    pub(crate) fn revoke_all(&mut self) {
        self.issued.clear();
    }

    /// Changes how long tokens live that are issued from now on.
    pub(crate) fn set_lifetime(&mut self, lifetime: Duration) {
        self.lifetime = lifetime;
    }

    /// The live token of this text.
    pub(crate) fn find(&self, text: &str, now: u64) -> Option<&AccessToken> {
        self.issued.get(text).filter(|token| now < token.expires_at)
    }

    fn issue(&mut self, account: &str, scope: &str, now: u64) -> Result<String, Refusal> {
        self.issued.retain(|_, token| now < token.expires_at);
        let mut entropy = [0; ACCESS_TOKEN_ENTROPY];
        rand::fill(&mut entropy).map_err(|_| Refusal::NoRandomness)?;
        let text = format!("ya29.{}", BASE64_URL_SAFE_NO_PAD.encode(entropy));
        let token = AccessToken {
            account: account.to_owned(),
            scope: scope.to_owned(),
            expires_at: now.saturating_add(self.lifetime.as_secs()),
        };
        self.issued.insert(text.clone(), token);
        Ok(text)
    }
}

impl AccessToken {
    /// Unique ID of the account that it was issued to.
    pub(crate) fn account(&self) -> &str {
        &self.account
    }

    /// Whether it was asked for with this scope.
    pub(crate) fn has_scope(&self, wanted: &str) -> bool {
        self.scope.split(' ').any(|scope| scope == wanted)
    }
}

/// Why no access token is issued. The texts are Google's.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("Missing parameter: grant_type")]
    NoGrantType,
    #[error("Invalid grant_type: {0}")]
    GrantType(String),
    #[error("Missing parameter: assertion")]
    NoAssertion,
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
    #[error("no randomness")]
    NoRandomness,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::DisabledAccount | Self::Delegation => StatusCode::UNAUTHORIZED,
            Self::NoRandomness => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The error code of RFC 6749, 5.2.
    fn code(&self) -> &'static str {
        match self {
            Self::NoGrantType | Self::NoAssertion => "invalid_request",
            Self::GrantType(_) => "unsupported_grant_type",
            Self::DisabledAccount => "disabled_client",
            Self::Scope => "invalid_scope",
            Self::Delegation => "unauthorized_client",
            Self::NoRandomness => "server_error",
            Self::Malformed
            | Self::UnknownAccount
            | Self::Signature
            | Self::Audience { .. }
            | Self::Timeframe => "invalid_grant",
        }
    }
}

#[derive(Deserialize)]
struct AssertionHeader {
    alg: String,
    kid: Option<String>,
}

#[derive(Deserialize)]
struct AssertionClaims {
    iss: String,
    aud: String,
    scope: Option<String>,
    sub: Option<String>,
    iat: i64,
    exp: i64,
}

impl State {
    /// Answers a request to the token endpoint, whose own address is `token_url`; `form` is the request's body.
    pub(crate) fn exchange_assertion(&mut self, form: &[u8], token_url: &str, now: u64) -> Answer {
        match self.grant(form, token_url, now) {
            Ok(access_token) => {
                let expires_in = self.access_tokens.lifetime.as_secs();
                let body = json!({ "access_token": access_token, "expires_in": expires_in, "token_type": "Bearer" });
                answer::json(StatusCode::OK, &body)
            }
            Err(refusal) => {
                answer::oauth_error(refusal.status(), refusal.code(), &refusal.to_string())
            }
        }
    }

    fn grant(&mut self, form: &[u8], token_url: &str, now: u64) -> Result<String, Refusal> {
        let form: HashMap<_, _> = form_urlencoded::parse(form).into_owned().collect();
        match form.get("grant_type").map(String::as_str) {
            Some(JWT_BEARER) => {}
            Some(other) => return Err(Refusal::GrantType(other.to_owned())),
            None => return Err(Refusal::NoGrantType),
        }
        let assertion = form.get("assertion").ok_or(Refusal::NoAssertion)?;
        let assertion = UnverifiedJwt::<AssertionHeader, AssertionClaims>::parse(assertion)
            .ok_or(Refusal::Malformed)?;
        let claims = &assertion.payload;

        let account = self.account(&claims.iss).ok_or(Refusal::UnknownAccount)?;
        if account.disabled {
            return Err(Refusal::DisabledAccount);
        }
        verify_signature(&assertion, account)?;
        if claims.aud != token_url {
            return Err(Refusal::Audience {
                expected: token_url.to_owned(),
            });
        }
        verify_timeframe(claims, i64::try_from(now).unwrap_or(i64::MAX))?;
        let scope = claims
            .scope
            .as_deref()
            .map(str::trim)
            .filter(|scope| !scope.is_empty())
            .ok_or(Refusal::Scope)?;
        if claims
            .sub
            .as_deref()
            .is_some_and(|sub| !account.is_named(sub))
        {
            return Err(Refusal::Delegation);
        }

        let account = account.spec.unique_id.clone();
        self.access_tokens.issue(&account, scope, now)
    }
}

fn verify_signature(
    assertion: &UnverifiedJwt<'_, AssertionHeader, AssertionClaims>,
    account: &Account,
) -> Result<(), Refusal> {
    let key_id = assertion.header.kid.as_deref().ok_or(Refusal::Signature)?;
    let key = account
        .keys
        .iter()
        .find(|key| key.key_id() == key_id)
        .ok_or(Refusal::Signature)?;
    if assertion.header.alg == "RS256"
        && key.verifies(assertion.signing_input.as_bytes(), &assertion.signature)
    {
        Ok(())
    } else {
        Err(Refusal::Signature)
    }
}

fn verify_timeframe(claims: &AssertionClaims, now: i64) -> Result<(), Refusal> {
    let AssertionClaims { iat, exp, .. } = *claims;
    let short_lived = exp > iat && exp.saturating_sub(iat) <= ASSERTION_LIFETIME;
    let begun = iat <= now.saturating_add(CLOCK_LEEWAY);
    let ended = exp <= now.saturating_sub(CLOCK_LEEWAY);
    if short_lived && begun && !ended {
        Ok(())
    } else {
        Err(Refusal::Timeframe)
    }
}
