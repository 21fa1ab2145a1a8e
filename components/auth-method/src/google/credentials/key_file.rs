//! Tokens for a service-account key.

use gatehouse_ports::{Clock, Http, Random};
use serde::Serialize;
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::{FetchedToken, SCOPE};
use crate::CredentialsError;
use crate::config::CredentialsRecord;
use crate::google::Google;
use crate::google::api_error::ApiError;
use crate::jwt::sign;
use crate::rs256::SigningKey;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Seconds that an assertion is valid.
const ASSERTION_LIFETIME: u64 = 3600;

#[derive(Serialize)]
struct AssertionClaims<'a> {
    iss: &'a str,
    scope: &'static str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// A token for this very key, whatever source is in force.
    pub(in crate::google) fn token_for_key(
        &self,
        key: &CredentialsRecord,
    ) -> Result<FetchedToken, ApiError> {
        let audience = self.settings.token_url();
        let assertion = assertion(key, &audience, self.now())
            .ok_or(ApiError::Credentials(CredentialsError::Unusable))?;
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", JWT_BEARER)
            .append_pair("assertion", &assertion)
            .finish();
        self.token_for_form(form)
    }
}

/// A signed statement that the account asks for a token; `None` when its key cannot sign.
fn assertion(key: &CredentialsRecord, audience: &str, now: u64) -> Option<Zeroizing<String>> {
    let claims = AssertionClaims {
        iss: &key.client_email,
        scope: SCOPE,
        aud: audience,
        iat: now,
        exp: now.saturating_add(ASSERTION_LIFETIME),
    };
    let signing_key = SigningKey::from_pem(&key.private_key).ok()?;
    sign(&signing_key, &key.private_key_id, &claims)
}
