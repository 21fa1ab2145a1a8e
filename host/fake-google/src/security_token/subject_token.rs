//! The token of another issuer, and what Google checks in it.

use serde::Deserialize;

use crate::jwk::KeySet;
use crate::jwt::UnverifiedJwt;
use crate::security_token::provider::WorkloadIdentityProvider;

/// Longest time between `iat` and `exp`, in seconds.
const LONGEST_LIFETIME: i64 = 24 * 60 * 60;
/// By how much the clocks of issuer and Google may differ, in seconds.
const CLOCK_LEEWAY: i64 = 60;

/// Why a subject token is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum SubjectTokenError {
    #[error("Unable to parse the ID Token.")]
    Malformed,
    #[error("Invalid JWT signature.")]
    Signature,
    #[error("The issuer in ID Token {issuer} does not match the expected ones.")]
    Issuer { issuer: String },
    #[error("The audience in ID Token {audience:?} does not match the expected audience.")]
    Audience { audience: Vec<String> },
    #[error("ID Token issued at {issued_at} is stale to sign-in.")]
    Stale { issued_at: i64 },
    #[error("ID Token is not valid yet.")]
    Early,
    #[error("ID Token lives longer than 24 hours.")]
    LongLived,
    #[error("The given credential is rejected by the attribute condition.")]
    Condition,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

#[derive(Deserialize)]
struct SubjectClaims {
    iss: String,
    sub: String,
    aud: Audience,
    iat: i64,
    exp: i64,
    nbf: Option<i64>,
}

/// One audience or several (RFC 7519, 4.1.3).
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn into_list(self) -> Vec<String> {
        match self {
            Self::One(audience) => vec![audience],
            Self::Several(audiences) => audiences,
        }
    }
}

/// Checks a token against its provider and the keys of the provider's issuer.
pub(super) fn verify(
    token: &str,
    provider: &WorkloadIdentityProvider,
    keys: &KeySet,
    now: u64,
) -> Result<(), SubjectTokenError> {
    let token =
        UnverifiedJwt::<Header, SubjectClaims>::parse(token).ok_or(SubjectTokenError::Malformed)?;
    let signed = token.signing_input.as_bytes();
    if token.header.alg != "RS256" || !keys.verifies(&token.header.kid, signed, &token.signature) {
        return Err(SubjectTokenError::Signature);
    }
    let claims = token.payload;
    verify_timeframe(&claims, i64::try_from(now).unwrap_or(i64::MAX))?;
    if claims.iss != provider.issuer {
        return Err(SubjectTokenError::Issuer { issuer: claims.iss });
    }
    if !provider.admits_subject(&claims.sub) {
        return Err(SubjectTokenError::Condition);
    }
    let audience = claims.aud.into_list();
    if !audience.iter().any(|one| provider.admits_audience(one)) {
        return Err(SubjectTokenError::Audience { audience });
    }
    Ok(())
}

fn verify_timeframe(claims: &SubjectClaims, now: i64) -> Result<(), SubjectTokenError> {
    let SubjectClaims { iat, exp, nbf, .. } = *claims;
    let soon = now.saturating_add(CLOCK_LEEWAY);
    if exp <= now.saturating_sub(CLOCK_LEEWAY) {
        return Err(SubjectTokenError::Stale { issued_at: iat });
    }
    if iat > soon || nbf.is_some_and(|nbf| nbf > soon) {
        return Err(SubjectTokenError::Early);
    }
    if exp <= iat || exp.saturating_sub(iat) > LONGEST_LIFETIME {
        return Err(SubjectTokenError::LongLived);
    }
    Ok(())
}
