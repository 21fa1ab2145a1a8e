//! Access tokens for Google's APIs, from the mount's service-account key (contract 8.1, rule 6; 8.4).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_ports::{Clock, Http, HttpResponse, Random};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::answers::token_refusal;
use super::authorized::ApiError;
use super::exchange::Question;
use super::flight::Topic;
use super::known::Found;
use super::{Api, Google};
use crate::config::CredentialsRecord;
use crate::rs256::SigningKey;
use crate::{CredentialsFailure, CredentialsStep};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Seconds that an assertion is valid.
const ASSERTION_LIFETIME: u64 = 3600;
/// Seconds before its end at which an access token is not used any more.
const RENEWED_BEFORE_END: u64 = 300;
/// Seconds that an access token is remembered at most, whatever the answer says.
const LONGEST_LIFETIME: u64 = 12 * 3600;

/// An access token in memory.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct AccessToken {
    #[serde(serialize_with = "shown", deserialize_with = "hidden")]
    text: Zeroizing<String>,
    /// Seconds since 1970.
    usable_until: u64,
}

impl AccessToken {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Only the memory that instances share sees it.
fn shown<S: Serializer>(text: &Zeroizing<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn hidden<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(deserializer).map(Zeroizing::new)
}

#[derive(Serialize)]
struct AssertionHeader<'a> {
    alg: &'static str,
    typ: &'static str,
    kid: &'a str,
}

#[derive(Serialize)]
struct AssertionClaims<'a> {
    iss: &'a str,
    scope: &'static str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    expires_in: u64,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// A token that is good for some minutes at least.
    pub(super) fn access_token(&self) -> Result<Found<AccessToken, ApiError>, ApiError> {
        self.consult(
            &self.token_topic(),
            |_| true,
            || {
                let credentials = (self.credentials)()
                    .map_err(ApiError::Storage)?
                    .ok_or(ApiError::Credentials(CredentialsFailure::NotFound))?;
                let now = self.now();
                let token = self.fetch_access_token(&credentials, now)?;
                let lifetime = token.usable_until.saturating_sub(now);
                Ok((token, lifetime.saturating_mul(1000)))
            },
        )
    }

    /// Forgets a token that an API did not accept.
    pub(super) fn forget_access_token(&self, refused: &AccessToken) {
        self.forget(&self.token_topic(), |token| token.text == refused.text);
    }

    const fn token_topic(&self) -> Topic<'_, AccessToken, ApiError> {
        Topic {
            api: Api::OAuth,
            kind: "access-token",
            name: "",
            shelf: &self.memory.access_token,
            stale_for: 0,
        }
    }

    fn fetch_access_token(
        &self,
        credentials: &CredentialsRecord,
        now: u64,
    ) -> Result<AccessToken, ApiError> {
        let audience = self.settings.token_url();
        let assertion = assertion(credentials, &audience, now)
            .ok_or(ApiError::Credentials(CredentialsFailure::Unusable))?;
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", JWT_BEARER)
            .append_pair("assertion", &assertion)
            .finish();
        let answer = self.ask(Question::post(
            Api::OAuth,
            self.endpoints.url(Api::OAuth, &[]),
            "application/x-www-form-urlencoded",
            form.into_bytes(),
        ))?;
        token_in(&answer, now).map_err(ApiError::Credentials)
    }
}

/// A signed statement that the account asks for a token; `None` when its key cannot sign.
fn assertion(
    credentials: &CredentialsRecord,
    audience: &str,
    now: u64,
) -> Option<Zeroizing<String>> {
    let header = AssertionHeader {
        alg: "RS256",
        typ: "JWT",
        kid: &credentials.private_key_id,
    };
    let claims = AssertionClaims {
        iss: &credentials.client_email,
        scope: SCOPE,
        aud: audience,
        iat: now,
        exp: now.saturating_add(ASSERTION_LIFETIME),
    };
    let key = SigningKey::from_pem(&credentials.private_key).ok()?;
    let mut assertion = String::with_capacity(1024);
    URL_SAFE_NO_PAD.encode_string(serde_json::to_vec(&header).ok()?, &mut assertion);
    assertion.push('.');
    URL_SAFE_NO_PAD.encode_string(serde_json::to_vec(&claims).ok()?, &mut assertion);
    let signature = key.sign(assertion.as_bytes()).ok()?;
    assertion.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut assertion);
    Some(Zeroizing::new(assertion))
}

fn token_in(answer: &HttpResponse, now: u64) -> Result<AccessToken, CredentialsFailure> {
    match answer.status {
        200 => {}
        status @ 400..500 => {
            return Err(CredentialsFailure::Refused {
                step: CredentialsStep::Token,
                status,
                message: token_refusal(&answer.body),
            });
        }
        _ => return Err(CredentialsFailure::AnswerUnreadable),
    }
    let token: TokenAnswer =
        serde_json::from_slice(&answer.body).map_err(|_| CredentialsFailure::AnswerUnreadable)?;
    let text = Zeroizing::new(token.access_token);
    // It becomes part of a header line.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(CredentialsFailure::AnswerUnreadable);
    }
    let lifetime = token.expires_in.min(LONGEST_LIFETIME);
    Ok(AccessToken {
        text,
        usable_until: now.saturating_add(lifetime.saturating_sub(RENEWED_BEFORE_END)),
    })
}
