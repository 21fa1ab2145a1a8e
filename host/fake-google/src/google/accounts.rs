//! Changing which accounts exist, and with which keys.

use std::sync::Arc;
use std::time::Duration;

use crate::account::{Account, AccountSpec};
use crate::error::FakeGoogleError;
use crate::google::FakeGoogle;
use crate::signing_key::SigningKey;
use crate::start::GOOGLE_KEY_OWNER;

/// Changing who exists, and with which keys.
impl FakeGoogle {
    /// Creates an account with one key.
    ///
    /// # Errors
    ///
    /// When its email or unique ID is taken, or no key can be made.
    pub fn add_account(&self, spec: AccountSpec) -> Result<(), FakeGoogleError> {
        let key = SigningKey::generate(&spec.unique_id)?;
        self.state.lock().add_account(Account::new(spec, key))
    }

    /// Disables or enables an account.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn set_disabled(&self, account: &str, disabled: bool) -> Result<(), FakeGoogleError> {
        self.state.lock().require_account(account)?.disabled = disabled;
        Ok(())
    }

    /// Refuses (403) or allows reading an account's record in IAM.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn set_hidden(&self, account: &str, hidden: bool) -> Result<(), FakeGoogleError> {
        self.state.lock().require_account(account)?.hidden = hidden;
        Ok(())
    }

    /// Deletes an account with its keys.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn delete_account(&self, account: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let unique_id = state.require_account(account)?.spec.unique_id.clone();
        state
            .accounts
            .retain(|account| account.spec.unique_id != unique_id);
        Ok(())
    }

    /// Gives an account a further key, which signs from now on, and returns its identifier. Older keys stay published.
    ///
    /// # Errors
    ///
    /// When there is no such account, or no key can be made.
    pub fn rotate_keys(&self, account: &str) -> Result<String, FakeGoogleError> {
        let unique_id = self
            .state
            .lock()
            .require_account(account)?
            .spec
            .unique_id
            .clone();
        let key = Arc::new(SigningKey::generate(&unique_id)?);
        self.state
            .lock()
            .require_account(&unique_id)?
            .keys
            .push(Arc::clone(&key));
        Ok(key.key_id().to_owned())
    }

    /// Removes an account's key; nothing happens when it has no such key.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn remove_key(&self, account: &str, key_id: &str) -> Result<(), FakeGoogleError> {
        self.state
            .lock()
            .require_account(account)?
            .keys
            .retain(|key| key.key_id() != key_id);
        Ok(())
    }

    /// Publishes, in an account's X.509 document, a text that claims to be a certificate.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn publish_certificate(
        &self,
        account: &str,
        key_id: &str,
        pem: &str,
    ) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        state
            .require_account(account)?
            .foreign_certificates
            .insert(key_id.to_owned(), pem.to_owned());
        Ok(())
    }

    /// Gives Google itself a further key, which signs from now on, and returns its identifier. Older keys stay published.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn rotate_google_keys(&self) -> Result<String, FakeGoogleError> {
        let key = Arc::new(SigningKey::generate(GOOGLE_KEY_OWNER)?);
        self.state.lock().google_keys.push(Arc::clone(&key));
        Ok(key.key_id().to_owned())
    }

    /// Removes one of Google's own keys; nothing happens when there is no such key.
    pub fn remove_google_key(&self, key_id: &str) {
        self.state
            .lock()
            .google_keys
            .retain(|key| key.key_id() != key_id);
    }

    /// Refuses, from now on, every access token issued so far.
    pub fn revoke_access_tokens(&self) {
        self.state.lock().access_tokens.revoke_all();
    }

    /// Changes how long access tokens live that are issued from now on, cut to whole seconds.
    pub fn set_access_token_lifetime(&self, lifetime: Duration) {
        self.state.lock().access_tokens.set_lifetime(lifetime);
    }
}
