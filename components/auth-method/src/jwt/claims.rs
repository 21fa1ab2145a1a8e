//! What a token says, and the rules that need no key (contract 4.2, step 9).

use serde_json::Number;

use super::audience;
use super::strict_json::{Json, Members};
use crate::LoginError;

/// Seconds by which clocks may differ, in every comparison of times.
pub(crate) const CLOCK_SKEW: u64 = 60;
/// Seconds that any token may be valid at most.
const MAXIMUM_LIFETIME: u64 = 3600;
/// The last second of the year 9999; no token has business beyond it.
const LATEST_TIME: u64 = 253_402_300_799;

/// The claims that logins read. Instance claims are not among them.
#[derive(Debug, Clone)]
pub(crate) struct Claims {
    expires: Time,
    not_before: Time,
    issued: Time,
    subject: Option<String>,
    issuer: Issuer,
    audience: Option<Json>,
}

/// A claim that is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    Absent,
    /// Seconds since 1970, rounded down.
    At(u64),
    /// Not a number, or out of range.
    Unusable,
}

/// Who says to have issued a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Issuer {
    /// The token does not say.
    Absent,
    /// This text.
    Named(String),
    /// Something that is not a text.
    Unusable,
}

impl Time {
    fn of(claim: Option<&Json>) -> Self {
        match claim {
            None => Self::Absent,
            Some(Json::Number(number)) => whole_seconds(number).map_or(Self::Unusable, Self::At),
            Some(_) => Self::Unusable,
        }
    }
}

fn whole_seconds(number: &Number) -> Option<u64> {
    let seconds = match (number.as_u64(), number.as_f64()) {
        (Some(seconds), _) => seconds,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the range has been checked, and fractions are dropped"
        )]
        (None, Some(seconds)) if (0.0..=LATEST_TIME as f64).contains(&seconds) => seconds as u64,
        _ => return None,
    };
    (seconds <= LATEST_TIME).then_some(seconds)
}

impl Claims {
    pub(super) fn from_members(members: &Members) -> Self {
        let text = |claim: &Json| match claim {
            Json::Text(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        Self {
            expires: Time::of(members.get("exp")),
            not_before: Time::of(members.get("nbf")),
            issued: Time::of(members.get("iat")),
            subject: members.get("sub").and_then(text),
            issuer: match members.get("iss") {
                None => Issuer::Absent,
                Some(Json::Text(text)) => Issuer::Named(text.clone()),
                Some(_) => Issuer::Unusable,
            },
            audience: members.get("aud").cloned(),
        }
    }

    pub(crate) const fn issuer(&self) -> &Issuer {
        &self.issuer
    }
}

/// What the checks have made sure of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckedClaims<'a> {
    /// Seconds since 1970.
    pub(crate) expires: u64,
    /// Not empty; its shape has not been looked at.
    pub(crate) subject: &'a str,
}

/// Checks 9a to 9e: times, subject and audience. `role` is the name as the caller sent it.
pub(crate) fn check_claims<'a>(
    claims: &'a Claims,
    role: &str,
    now: u64,
) -> Result<CheckedClaims<'a>, LoginError> {
    let latest_now = now.saturating_add(CLOCK_SKEW);
    let expires = match claims.expires {
        Time::At(expires) if now < expires.saturating_add(CLOCK_SKEW) => expires,
        _ => return Err(LoginError::Expired),
    };
    if expires > latest_now.saturating_add(MAXIMUM_LIFETIME) {
        return Err(LoginError::ExpiresTooLate {
            expires_in: expires.saturating_sub(now),
        });
    }
    let has_begun = |time| match time {
        Time::Absent => true,
        Time::At(time) => time <= latest_now,
        Time::Unusable => false,
    };
    let issued_after_end = matches!(claims.issued, Time::At(issued) if issued > expires);
    if !has_begun(claims.not_before) || !has_begun(claims.issued) || issued_after_end {
        return Err(LoginError::NotYetValid);
    }
    let subject = claims
        .subject
        .as_deref()
        .ok_or(LoginError::SubjectMissing)?;
    if !audience::is_for_role(claims.audience.as_ref(), role) {
        return Err(LoginError::AudienceNotForRole(role.to_owned()));
    }
    Ok(CheckedClaims { expires, subject })
}
