//! Signing as an account or as Google.

use std::sync::Arc;

use serde_json::Map;

use crate::error::FakeGoogleError;
use crate::google::FakeGoogle;
use crate::instance::IdentityFormat;
use crate::jwt::Claims;
use crate::signing_key::SigningKey;
use crate::state;

/// How long a login JWT of [`FakeGoogle::sign_login_jwt`] is valid, in seconds: what command lines ask for.
const LOGIN_JWT_LIFETIME: u64 = 15 * 60;

/// Signing as an account or as Google.
impl FakeGoogle {
    /// The key with which an account signs now; use it for JWTs that no honest client would send.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn account_key(&self, account: &str) -> Result<Arc<SigningKey>, FakeGoogleError> {
        self.state
            .lock()
            .require_account(account)?
            .signing_key()
            .cloned()
    }

    /// The key with which Google itself signs now.
    ///
    /// # Errors
    ///
    /// When Google's own keys were all removed.
    pub fn google_key(&self) -> Result<Arc<SigningKey>, FakeGoogleError> {
        self.state.lock().google_signing_key().cloned()
    }

    /// A JWT with these claims, signed by an account.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn sign_jwt(&self, account: &str, claims: &Claims) -> Result<String, FakeGoogleError> {
        self.account_key(account)?.sign_jwt(claims)
    }

    /// The claims of an honest login JWT: `sub` the account's email, `aud` `vault/<role>`, valid for 15 minutes.
    #[must_use]
    pub fn login_claims(email: &str, role: &str) -> Claims {
        let now = state::now();
        Map::from_iter([
            ("sub".to_owned(), email.into()),
            ("aud".to_owned(), format!("vault/{role}").into()),
            ("iat".to_owned(), now.into()),
            ("exp".to_owned(), (now + LOGIN_JWT_LIFETIME).into()),
        ])
    }

    /// An honest login JWT for a role, signed by the account with this email.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn sign_login_jwt(&self, email: &str, role: &str) -> Result<String, FakeGoogleError> {
        self.sign_jwt(email, &Self::login_claims(email, role))
    }

    /// A JWT with these claims, signed by Google.
    ///
    /// # Errors
    ///
    /// When Google's own keys were all removed.
    pub fn sign_as_google(&self, claims: &Claims) -> Result<String, FakeGoogleError> {
        self.google_key()?.sign_jwt(claims)
    }

    /// The claims of the identity token that an instance would get from its metadata server.
    ///
    /// # Errors
    ///
    /// When there is no such instance, or its account is gone.
    pub fn identity_claims(
        &self,
        instance: &str,
        audience: &str,
        format: IdentityFormat,
    ) -> Result<Claims, FakeGoogleError> {
        let mut state = self.state.lock();
        let instance = state.require_instance(instance)?.clone();
        let account = state.require_account(&instance.service_account)?;
        Ok(instance.identity_claims(&account.spec, audience, format, state::now()))
    }

    /// The identity token that an instance would get from its metadata server.
    ///
    /// # Errors
    ///
    /// As [`FakeGoogle::identity_claims`], and when Google's own keys were all removed.
    pub fn identity_token(
        &self,
        instance: &str,
        audience: &str,
        format: IdentityFormat,
    ) -> Result<String, FakeGoogleError> {
        self.sign_as_google(&self.identity_claims(instance, audience, format)?)
    }
}
