//! The second verifier: the library jsonwebtoken over AWS-LC, and the claims read from plain JSON.

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::Value;

use crate::google::{EMAIL, Key, NOW, UNIQUE_ID, World};

const SKEW: f64 = 60.0;

/// True if a token may log in under `role`, by a reading of its own.
pub fn accepts(world: &World, role: &str, token: &str) -> bool {
    let token = token.trim_ascii();
    let Ok(header) = decode_header(token) else {
        return false;
    };
    let key_id = header.kid.unwrap_or_default();
    let by_google = key_id == "google-key";
    let key = match key_id.as_str() {
        "google-key" => &world.google,
        "account-key" => &world.account,
        _ => return false,
    };
    let Some(claims) = verified(token, key) else {
        return false;
    };
    let time = |name: &str| claims.get(name).map(Value::as_f64);
    let now = NOW as f64;
    let Some(Some(expires)) = time("exp") else {
        return false;
    };
    let longest = if by_google { 3600.0 } else { 900.0 };
    let in_time = expires > now - SKEW && expires.floor() <= now + longest + SKEW;
    let begun = ["nbf", "iat"].iter().all(|name| match time(name) {
        None => true,
        Some(Some(time)) => time.floor() <= now + SKEW,
        Some(None) => false,
    });
    let names_role = |value: &Value| {
        let wanted = format!("vault/{role}");
        value
            .as_str()
            .is_some_and(|value| value == wanted || value.ends_with(&format!("/{wanted}")))
    };
    let for_role = match claims.get("aud") {
        Some(Value::Array(values)) => !values.is_empty() && values.iter().all(names_role),
        Some(value) => names_role(value),
        None => false,
    };
    let subject = claims
        .get("sub")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let issuer = claims.get("iss").and_then(Value::as_str);
    let issued = if by_google {
        matches!(
            issuer,
            Some("https://accounts.google.com" | "accounts.google.com")
        )
    } else {
        claims.get("iss").is_none() || matches!(issuer, Some(EMAIL | UNIQUE_ID))
    };
    let on_instance = role != "vm"
        || by_google
            && claims
                .pointer("/google/compute_engine/instance_id")
                .and_then(Value::as_str)
                == Some("42");
    in_time && begun && for_role && issued && on_instance && [EMAIL, UNIQUE_ID].contains(&subject)
}

fn verified(token: &str, key: &Key) -> Option<Value> {
    let mut validation = Validation::new(Algorithm::RS256);
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    let key = DecodingKey::from_rsa_pem(key.pair.public_key_pem().as_bytes()).ok()?;
    let decoded = decode::<Value>(token, &key, &validation).ok()?;
    Some(decoded.claims)
}
