//! A signed assertion in, an access token out (RFC 7523; contract 8.4).

use std::collections::HashMap;

use serde::Deserialize;

use crate::account::Account;
use crate::caller::Principal;
use crate::jwt::UnverifiedJwt;
use crate::oauth::{Grant, Refusal};
use crate::state::State;

/// Longest time between an assertion's `iat` and `exp`, in seconds.
const ASSERTION_LIFETIME: i64 = 3600;
/// Google's own name for the token endpoint. A client that a proxy leads to this fake names it as the audience.
const PUBLIC_TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// By how much the clocks of client and Google may differ, in seconds.
const CLOCK_LEEWAY: i64 = 60;

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
    /// The account that the assertion of this form speaks for; `token_url` is the audience that it has to name.
    pub(super) fn verify_assertion(
        &mut self,
        form: &HashMap<String, String>,
        token_url: &str,
        now: u64,
    ) -> Result<Grant, Refusal> {
        let assertion = form
            .get("assertion")
            .ok_or(Refusal::MissingParameter("assertion"))?;
        let assertion = UnverifiedJwt::<AssertionHeader, AssertionClaims>::parse(assertion)
            .ok_or(Refusal::Malformed)?;
        let claims = &assertion.payload;

        let proxied = self.proxied;
        let account = self
            .require_account(&claims.iss)
            .map_err(|_| Refusal::UnknownAccount)?;
        if account.disabled {
            return Err(Refusal::DisabledAccount);
        }
        verify_signature(&assertion, account)?;
        let is_audience = claims.aud == token_url || proxied && claims.aud == PUBLIC_TOKEN_URL;
        if !is_audience {
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
        Ok(Grant {
            principal: Principal::Account {
                unique_id: account.spec.unique_id.clone(),
            },
            scope: scope.to_owned(),
        })
    }
}

fn verify_signature(
    assertion: &UnverifiedJwt<'_, AssertionHeader, AssertionClaims>,
    account: &mut Account,
) -> Result<(), Refusal> {
    let key_id = assertion.header.kid.as_deref().ok_or(Refusal::Signature)?;
    let key = account
        .keys
        .iter()
        .find(|key| key.key_id() == key_id)
        .cloned()
        .ok_or(Refusal::Signature)?;
    if account.propagation.is_still_unknown(key_id) {
        return Err(Refusal::Signature);
    }
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
