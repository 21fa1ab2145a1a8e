//! The issuer of identity tokens: its two public documents, and its address (contract 7.4).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gatehouse_auth_method_api::{IdentityTokenError, IssuerError, PublicKey};
use serde::Serialize;

use super::call::{Answer, Call, Unadmitted};
use super::envelope::{self, Reply};
use super::errors::ApiError;
use crate::http::Response;

/// The number of seconds for which clients may cache the key set.
const KEY_SET_FRESHNESS: u32 = 3600;

/// The warning after an issuer was set.
const EXPLICIT_ISSUER: &str = "tokens name this issuer from now on: those who verify them must trust this very address, and get the keys from it; set issuer to \"\" for the server's advertised address";

#[derive(Serialize)]
struct Discovery<'a> {
    issuer: &'a str,
    jwks_uri: String,
    response_types_supported: [&'static str; 1],
    subject_types_supported: [&'static str; 1],
    id_token_signing_alg_values_supported: [&'static str; 1],
}

#[derive(Serialize)]
struct KeySet<'a> {
    keys: Vec<Key<'a>>,
}

#[derive(Serialize)]
struct Key<'a> {
    #[serde(rename = "use")]
    purpose: &'static str,
    kty: &'static str,
    kid: &'a str,
    alg: &'static str,
    n: String,
    e: String,
}

#[derive(Serialize)]
struct Configuration {
    issuer: String,
}

/// GET `.well-known/openid-configuration`
pub(super) fn discovery(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let issuer = asked.server.auth_method.issuer().map_err(no_tokens)?;
    envelope::bare(
        200,
        &Discovery {
            jwks_uri: format!("{issuer}/.well-known/keys"),
            issuer: &issuer,
            response_types_supported: ["id_token"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: ["RS256"],
        },
    )
}

/// GET `.well-known/keys`
pub(super) fn key_set(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let keys = asked.server.auth_method.public_keys().map_err(no_tokens)?;
    let keys = keys.iter().map(Key::from).collect();
    Ok(envelope::bare(200, &KeySet { keys })?.cacheable(KEY_SET_FRESHNESS))
}

/// Any other method at the two documents.
pub(super) fn otherwise(_: &Unadmitted<'_>) -> Result<Response, ApiError> {
    Err(ApiError::plain(405, "unsupported operation"))
}

impl<'a> From<&'a PublicKey> for Key<'a> {
    fn from(key: &'a PublicKey) -> Self {
        Self {
            purpose: "sig",
            kty: "RSA",
            kid: &key.key_id,
            alg: "RS256",
            n: BASE64_URL_SAFE_NO_PAD.encode(&key.modulus),
            e: BASE64_URL_SAFE_NO_PAD.encode(&key.exponent),
        }
    }
}

/// The refusal without an issuer, or the failure of the server.
fn no_tokens(error: IdentityTokenError) -> ApiError {
    match error {
        IdentityTokenError::NoIssuer => ApiError::plain(404, error.to_string()),
        IdentityTokenError::Random => ApiError::internal(error.to_string()),
        IdentityTokenError::Storage(error) => error.into(),
    }
}

/// GET `identity/oidc/config`
pub(super) fn read_config(call: &Call<'_>) -> Answer {
    let issuer = call.server.auth_method.read_issuer()?;
    Reply::data(&Configuration { issuer }).map(Some)
}

/// POST `identity/oidc/config`
pub(super) fn write_config(call: &Call<'_>) -> Answer {
    // As with every field, an absent value stays unchanged.
    if let Some(issuer) = call.fields()?.string("issuer")? {
        let auth_method = call.server.auth_method;
        auth_method.write_issuer(&issuer).map_err(not_stored)?;
        if !issuer.is_empty() {
            return Ok(Some(Reply::empty().warned([EXPLICIT_ISSUER.to_owned()])));
        }
    }
    Ok(None)
}

fn not_stored(error: IssuerError) -> ApiError {
    match error {
        IssuerError::Storage(error) => error.into(),
        IssuerError::NotUrl => ApiError::plain(
            400,
            "invalid issuer, which must include only a scheme, host, and optional port (e.g. https://example.com:8200)",
        ),
    }
}
