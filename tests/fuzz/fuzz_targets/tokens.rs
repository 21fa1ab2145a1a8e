//! Tokens that were signed at the start, and what an input does to one of them.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::SigningKey as _;
use serde_json::{Value, json};

use crate::google::{EMAIL, Key, NOW, UNIQUE_ID};

/// The roles that tokens are tried at.
const ROLES: [&str; 2] = ["dev", "vm"];

/// Signed tokens, good and bad.
pub struct Tokens(Vec<String>);

impl Tokens {
    pub fn new(google: &Key, account: &Key, stranger: &Key) -> Self {
        let of_account = || {
            (
                json!({"alg": "RS256", "kid": "account-key", "typ": "JWT"}),
                account,
            )
        };
        let of_google = || (json!({"alg": "RS256", "kid": "google-key"}), google);
        let mut tokens = Vec::new();
        for role in ROLES {
            let own = json!({"sub": EMAIL, "aud": format!("vault/{role}"), "exp": NOW + 600});
            let from_google = json!({
                "iss": "https://accounts.google.com", "sub": UNIQUE_ID, "aud": [format!("https://x/vault/{role}")],
                "iat": NOW, "exp": NOW + 3600, "email": EMAIL, "email_verified": true,
                "google": {"compute_engine": {
                    "project_id": "p1", "project_number": 7, "zone": "us-central1-a", "instance_id": "42",
                    "instance_name": "web-1", "instance_creation_timestamp": NOW - 100,
                }},
            });
            for ((header, key), claims) in [(of_account(), &own), (of_google(), &from_google)] {
                tokens.push(sign(&header, claims, key));
                tokens.push(sign(&header, claims, stranger));
                for (name, value) in changes() {
                    let mut claims = claims.clone();
                    match value {
                        Some(value) => claims[name] = value,
                        None => drop(
                            claims
                                .as_object_mut()
                                .and_then(|members| members.remove(name)),
                        ),
                    }
                    tokens.push(sign(&header, &claims, key));
                }
                for (name, value) in [
                    ("alg", json!("HS256")),
                    ("alg", json!("none")),
                    ("crit", json!([])),
                    ("typ", json!("at+jwt")),
                ] {
                    let mut header = header.clone();
                    header[name] = value;
                    tokens.push(sign(&header, claims, key));
                }
            }
            // Instance claims under an account's own key (CVE-2020-16251).
            tokens.push(sign(&of_account().0, &from_google, account));
        }
        Self(tokens)
    }

    /// The role and the token that `input` stands for.
    pub fn token_in(&self, input: &[u8]) -> (&'static str, String) {
        let [_, choice, edits @ ..] = input else {
            return (ROLES[0], String::from_utf8_lossy(input).into_owned());
        };
        let role = ROLES[usize::from(choice & 1)];
        let raw = usize::from(choice >> 1);
        let Some(token) = self.0.get(raw % (self.0.len() + 1)) else {
            return (role, String::from_utf8_lossy(edits).into_owned());
        };
        (role, self.edited(token, edits))
    }

    /// Applies edits of four bytes: what, where (two bytes), with what.
    fn edited(&self, token: &str, edits: &[u8]) -> String {
        let mut bytes = token.as_bytes().to_vec();
        for edit in edits.chunks_exact(4).take(16) {
            let [what, high, low, with] = *edit else {
                break;
            };
            let place = usize::from(u16::from_be_bytes([high, low])) % (bytes.len() + 1);
            match what % 6 {
                0 if place < bytes.len() => bytes[place] = with,
                1 => bytes.insert(place, with),
                2 if place < bytes.len() => drop(bytes.remove(place)),
                3 => bytes.truncate(place),
                4 => {
                    // The signature, claims or header of another token.
                    let other = &self.0[usize::from(with) % self.0.len()];
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    bytes = joined(&text, other, usize::from(high) % 3).into_bytes();
                }
                _ => {
                    // Another text in the claims, properly encoded: the signature no longer fits.
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    bytes = reworded(&text, place, with).into_bytes();
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn changes() -> Vec<(&'static str, Option<Value>)> {
    let mut changes = vec![
        ("exp", None),
        ("aud", None),
        ("sub", None),
        ("iss", None),
        ("google", None),
        ("exp", Some(json!(NOW - 61))),
        ("exp", Some(json!(NOW + 3661))),
        ("exp", Some(json!("x"))),
        ("exp", Some(json!(1e300))),
        ("nbf", Some(json!(NOW + 61))),
        ("iat", Some(json!(NOW + 61))),
        ("aud", Some(json!("vault/other"))),
        ("aud", Some(json!("notvault/dev"))),
        ("aud", Some(json!([]))),
        ("aud", Some(json!(["vault/dev", "vault/vm"]))),
        ("sub", Some(json!("../x"))),
        ("sub", Some(json!("222@other"))),
        ("iss", Some(json!("https://evil.example"))),
        ("google", Some(json!({"compute_engine": {}}))),
    ];
    changes.push((
        "google",
        Some(json!({"compute_engine": {
            "project_id": "p1", "project_number": 7, "zone": "us-central1-a", "instance_id": "43",
            "instance_name": "web-1", "instance_creation_timestamp": NOW - 100,
        }})),
    ));
    changes
}

fn sign(header: &Value, claims: &Value, key: &Key) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let mut token = format!("{}.{}", encode(header), encode(claims));
    let signature = key.pair.sign(token.as_bytes()).expect("a key signs");
    write!(token, ".{}", URL_SAFE_NO_PAD.encode(signature)).expect("a text takes text");
    token
}

fn joined(one: &str, other: &str, part: usize) -> String {
    let mut parts: Vec<&str> = one.split('.').collect();
    if let (Some(place), Some(new)) = (parts.get_mut(part), other.split('.').nth(part)) {
        *place = new;
    }
    parts.join(".")
}

fn reworded(token: &str, place: usize, with: u8) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    if let Some(claims) = parts.get_mut(1)
        && let Ok(mut text) = URL_SAFE_NO_PAD.decode(claims.as_bytes())
        && !text.is_empty()
    {
        let place = place % text.len();
        text[place] = with;
        *claims = URL_SAFE_NO_PAD.encode(text);
    }
    parts.join(".")
}
