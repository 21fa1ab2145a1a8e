//! Acting in the name of a service account: the IAM Credentials API (contract 8.4).

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::account::Account;
use crate::answer::{self, Answer, Outcome};
use crate::call::Call;
use crate::caller::Principal;
use crate::iam::IamRequest;
use crate::jwt::Claims;
use crate::state::State;
use crate::timestamp;

const GET_ACCESS_TOKEN: &str = "iam.serviceAccounts.getAccessToken";
const SIGN_JWT: &str = "iam.serviceAccounts.signJwt";
/// Lifetime of a token whose caller asked for none, in seconds.
const DEFAULT_LIFETIME: u64 = 3600;
/// Longest lifetime of a token, in seconds: what Google allows where an organization permits longer ones.
const MAXIMUM_LIFETIME: u64 = 43_200;
/// Longest time from now to a signed JWT's `exp`, in seconds.
const MAXIMUM_JWT_LIFETIME: u64 = 43_200;

#[derive(Deserialize)]
struct TokenOrder {
    lifetime: Option<String>,
    #[serde(default)]
    scope: Vec<String>,
}

#[derive(Deserialize)]
struct JwtOrder {
    /// The claims, as JSON in a string.
    #[serde(default)]
    payload: String,
}

impl State {
    /// Answers `serviceAccounts.generateAccessToken`.
    pub(super) fn generate_access_token(
        &mut self,
        request: &IamRequest<'_>,
        call: &Call<'_>,
    ) -> Outcome {
        let account = self.impersonated(request, GET_ACCESS_TOKEN, call)?;
        let unique_id = account.spec.unique_id.clone();
        let order: TokenOrder = call.json()?;
        let lifetime = match &order.lifetime {
            None => DEFAULT_LIFETIME,
            Some(text) => seconds(text).ok_or_else(|| {
                bad_request(
                    "Invalid value at 'lifetime' (type.googleapis.com/google.protobuf.Duration)",
                )
            })?,
        };
        if lifetime == 0 || lifetime > MAXIMUM_LIFETIME {
            return Err(bad_request("Invalid value for token lifetime."));
        }
        if order.scope.is_empty() {
            return Err(bad_request("Scope required."));
        }
        let token = self
            .access_tokens
            .issue(
                Principal::Account { unique_id },
                &order.scope.join(" "),
                lifetime,
                call.now,
            )
            .map_err(|problem| {
                answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, &problem.to_string())
            })?;
        let expires_at = call.now.saturating_add(lifetime);
        Ok(json!({ "accessToken": token, "expireTime": timestamp::utc(expires_at) }))
    }

    /// Answers `serviceAccounts.signJwt`.
    pub(super) fn sign_jwt(&self, request: &IamRequest<'_>, call: &Call<'_>) -> Outcome {
        let account = self.impersonated(request, SIGN_JWT, call)?;
        let order: JwtOrder = call.json()?;
        let claims: Claims = serde_json::from_str(&order.payload)
            .map_err(|_| bad_request("Invalid JWT payload: not a JSON object."))?;
        let latest = call.now.saturating_add(MAXIMUM_JWT_LIFETIME);
        if let Some(expiry) = claims.get("exp")
            && !expiry
                .as_u64()
                .is_some_and(|expiry| call.now < expiry && expiry <= latest)
        {
            return Err(bad_request(
                "The exp in the JWT payload must lie in the next 12 hours.",
            ));
        }
        let no_key = || answer::failed_precondition("Precondition check failed.");
        let key = account.signing_key().map_err(|_| no_key())?;
        let signed = key.sign_jwt(&claims).map_err(|_| no_key())?;
        Ok(json!({ "keyId": key.key_id(), "signedJwt": signed }))
    }

    /// The account in whose name the caller may act, while it is enabled.
    fn impersonated(
        &self,
        request: &IamRequest<'_>,
        permission: &str,
        call: &Call<'_>,
    ) -> Result<&Account, Box<Answer>> {
        let account = self.permitted_account(request, permission, call)?;
        if account.disabled {
            return Err(answer::failed_precondition(
                "Service account is disabled and cannot be impersonated.",
            ));
        }
        Ok(account)
    }
}

/// A duration as protobuf's JSON writes it, of whole seconds.
fn seconds(text: &str) -> Option<u64> {
    text.strip_suffix('s')?.parse().ok()
}

fn bad_request(message: &str) -> Box<Answer> {
    answer::refusal(StatusCode::BAD_REQUEST, message)
}
