//! The claims of a token, and the rules that need no key (contract 4.2, step 9).

use std::fmt;

use serde_json::{Map, Number, Value};

use super::audience::AudienceRule;
use super::instance::InstanceClaims;
use crate::LoginError;
use crate::excerpt::excerpt;

/// Seconds by which clocks may differ, in every comparison of times.
pub(crate) const CLOCK_SKEW: u64 = 60;
/// Most of an `iss` that is shown, in bytes.
const SHOWN_ISSUER_BYTES: usize = 320;
/// Seconds that any token may be valid at most.
const MAXIMUM_LIFETIME: u64 = 3600;
/// The last second of the year 9999; no valid token needs a later time.
const LATEST_TIME: u64 = 253_402_300_799;

/// The claims that logins read.
#[derive(Debug, Clone)]
pub(crate) struct Claims {
    expires: Time,
    not_before: Time,
    issued: Time,
    subject: Option<String>,
    issuer: Issuer,
    audience: Option<Value>,
    email: Option<String>,
    instance: Option<InstanceClaims>,
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

/// The party that a token names as its issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Issuer {
    /// The token does not say.
    Absent,
    /// This text.
    Named(String),
    /// Something that is not a text.
    Unusable,
}

impl fmt::Display for Issuer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("(absent)"),
            Self::Named(issuer) => formatter.write_str(&excerpt(issuer, SHOWN_ISSUER_BYTES)),
            Self::Unusable => formatter.write_str("(not a text)"),
        }
    }
}

impl Time {
    fn from_claim(claim: Option<&Value>) -> Self {
        match claim {
            None => Self::Absent,
            Some(Value::Number(number)) => whole_seconds(number).map_or(Self::Unusable, Self::At),
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
    pub(super) fn from_members(members: &Map<String, Value>) -> Self {
        let text = |claim: &Value| match claim {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        Self {
            expires: Time::from_claim(members.get("exp")),
            not_before: Time::from_claim(members.get("nbf")),
            issued: Time::from_claim(members.get("iat")),
            subject: members.get("sub").and_then(text),
            issuer: match members.get("iss") {
                None => Issuer::Absent,
                Some(Value::String(text)) => Issuer::Named(text.clone()),
                Some(_) => Issuer::Unusable,
            },
            audience: members.get("aud").cloned(),
            email: members
                .get("email")
                .and_then(text)
                .filter(|_| members.get("email_verified") == Some(&Value::Bool(true))),
            instance: InstanceClaims::from_members(members),
        }
    }

    pub(crate) const fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// The e-mail address, if the issuer vouches for it.
    pub(crate) fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// The claims about an instance, complete and of the right shape. They mean nothing unless Google signed the token (SEC-G2, G3).
    pub(crate) const fn instance(&self) -> Option<&InstanceClaims> {
        self.instance.as_ref()
    }

    /// Checks 9a and 9b: the token's end, in seconds since 1970.
    pub(crate) fn expiry(&self, now: u64) -> Result<u64, LoginError> {
        let expires = match self.expires {
            Time::At(expires) if now < expires.saturating_add(CLOCK_SKEW) => expires,
            _ => return Err(LoginError::Expired),
        };
        let latest = now
            .saturating_add(CLOCK_SKEW)
            .saturating_add(MAXIMUM_LIFETIME);
        if expires > latest {
            return Err(LoginError::ExpiresTooLate(expires.saturating_sub(now)));
        }
        Ok(expires)
    }

    /// Check 9c: the token is valid already.
    pub(crate) fn beginning(&self, now: u64) -> Result<(), LoginError> {
        let latest = now.saturating_add(CLOCK_SKEW);
        let has_begun = |time| match time {
            Time::Absent => true,
            Time::At(time) => time <= latest,
            Time::Unusable => false,
        };
        let issued_after_end = match (self.issued, self.expires) {
            (Time::At(issued), Time::At(expires)) => issued > expires,
            _ => false,
        };
        if has_begun(self.not_before) && has_begun(self.issued) && !issued_after_end {
            Ok(())
        } else {
            Err(LoginError::NotYetValid)
        }
    }

    /// Check 9d: the subject of the token. Its shape has not been checked.
    pub(crate) fn subject(&self) -> Result<&str, LoginError> {
        self.subject.as_deref().ok_or(LoginError::SubjectMissing)
    }

    /// Check 9e: the token is made for the role.
    pub(crate) fn audience(&self, rule: AudienceRule<'_>) -> Result<(), LoginError> {
        if rule.accepts(self.audience.as_ref()) {
            Ok(())
        } else {
            Err(LoginError::AudienceNotForRole(rule.role.to_owned()))
        }
    }

    /// The times as they were read, for the explanation of a login.
    pub(crate) fn times(&self) -> [(&'static str, Option<u64>); 3] {
        let seconds = |time| match time {
            Time::At(seconds) => Some(seconds),
            Time::Absent | Time::Unusable => None,
        };
        [
            ("exp", seconds(self.expires)),
            ("nbf", seconds(self.not_before)),
            ("iat", seconds(self.issued)),
        ]
    }

    /// The audiences that are texts.
    pub(crate) fn audiences(&self) -> Vec<&str> {
        match &self.audience {
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            Some(value) => value.as_str().into_iter().collect(),
            None => Vec::new(),
        }
    }
}
