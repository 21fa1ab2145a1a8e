//! People who logged in to a client program, and the refresh tokens that it keeps (RFC 6749, 6).

use std::collections::HashMap;

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::access_tokens::NoRandomness;
use crate::caller::Principal;
use crate::oauth::{Grant, Refusal};

/// The client of Google's own command line, with which people get application default credentials.
const CLIENT_ID: &str = "764086051850-fake.apps.googleusercontent.com";
const CLIENT_SECRET: &str = "d-fake-client-secret";
/// The scopes that the client asks people to agree to.
const SCOPES: &str = "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/cloud-platform";
/// Random bytes in a refresh token.
const ENTROPY: usize = 48;

/// The people with a live refresh token.
#[derive(Debug, Default)]
pub(crate) struct Users {
    /// Refresh token to email address.
    refresh_tokens: HashMap<String, String>,
}

impl Users {
    /// Logs a person in, and returns the file that the client program would write (contract 8.4).
    pub(crate) fn log_in(&mut self, email: &str) -> Result<Value, NoRandomness> {
        let mut entropy = [0; ENTROPY];
        rand::fill(&mut entropy).map_err(|_| NoRandomness)?;
        let refresh_token = format!("1//{}", BASE64_URL_SAFE_NO_PAD.encode(entropy));
        let file = json!({
            "account": email,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "refresh_token": refresh_token,
            "type": "authorized_user",
            "universe_domain": "googleapis.com",
        });
        self.refresh_tokens.insert(refresh_token, email.to_owned());
        Ok(file)
    }

    /// Revokes all refresh tokens of a person; false when there was none.
    pub(crate) fn revoke(&mut self, email: &str) -> bool {
        let before = self.refresh_tokens.len();
        self.refresh_tokens.retain(|_, owner| owner != email);
        self.refresh_tokens.len() < before
    }

    /// True if this person is logged in anywhere.
    pub(crate) fn contains(&self, email: &str) -> bool {
        self.refresh_tokens.values().any(|owner| owner == email)
    }

    /// The person that the refresh token of this form speaks for.
    pub(super) fn verify_refresh(&self, form: &HashMap<String, String>) -> Result<Grant, Refusal> {
        let field = |name: &'static str| form.get(name).ok_or(Refusal::MissingParameter(name));
        if field("client_id")? != CLIENT_ID {
            return Err(Refusal::UnknownClient);
        }
        if field("client_secret")? != CLIENT_SECRET {
            return Err(Refusal::ClientSecret);
        }
        let email = self
            .refresh_tokens
            .get(field("refresh_token")?)
            .ok_or(Refusal::RefreshToken)?;
        Ok(Grant {
            principal: Principal::User {
                email: email.clone(),
            },
            scope: SCOPES.to_owned(),
        })
    }
}
