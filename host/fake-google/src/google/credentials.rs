//! Credentials that get a program an access token: key files, a person's login, the metadata server.

use crate::error::FakeGoogleError;
use crate::google::FakeGoogle;
use crate::key_file::key_file;

/// Credentials of every kind.
impl FakeGoogle {
    /// A service-account key file as Google hands it out, with this fake's addresses in it. Holds a private key.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn credentials_json(&self, account: &str) -> Result<String, FakeGoogleError> {
        let base = self.base_url();
        let mut state = self.state.lock();
        let account = state.require_account(account)?;
        let file = key_file(&account.spec, account.signing_key()?, &base);
        Ok(format!("{file:#}"))
    }

    /// Logs a person in with Google's command line, and returns the file of application default credentials that it
    /// writes (`authorized_user`). Holds a refresh token.
    ///
    /// # Errors
    ///
    /// When there is no randomness to be had.
    pub fn authorized_user_json(&self, email: &str) -> Result<String, FakeGoogleError> {
        let file = self
            .state
            .lock()
            .users
            .log_in(email)
            .map_err(|_| FakeGoogleError::NoRandomness)?;
        Ok(format!("{file:#}"))
    }

    /// Revokes a person's refresh tokens, and with them the access tokens; nothing happens when there are none.
    pub fn revoke_user(&self, email: &str) {
        self.state.lock().users.revoke(email);
    }

    /// Refuses the first `assertions` assertions by each key that is created over HTTP from now on, as if the news of
    /// the key had not reached the token endpoint yet.
    pub fn set_key_propagation(&self, assertions: u32) {
        self.state.lock().key_propagation = assertions;
    }

    /// Says that a proxy leads programs here that know Google by its own names: their assertions name its own token endpoint.
    pub fn set_proxied(&self, proxied: bool) {
        self.state.lock().proxied = proxied;
    }

    /// Identifiers of an account's keys, oldest first.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn key_ids(&self, account: &str) -> Result<Vec<String>, FakeGoogleError> {
        let mut state = self.state.lock();
        let keys = &state.require_account(account)?.keys;
        Ok(keys.iter().map(|key| key.key_id().to_owned()).collect())
    }

    /// Makes the metadata server that of this instance; at the start it is that of the population's first instance.
    ///
    /// # Errors
    ///
    /// When there is no such instance.
    pub fn set_metadata_instance(&self, instance: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let path = state.require_instance(instance)?.path();
        state.metadata_server.instance = Some(path);
        Ok(())
    }

    /// Makes an account the metadata server's default, whatever account its instance runs as.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn set_metadata_account(&self, account: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let unique_id = state.require_account(account)?.spec.unique_id.clone();
        state.metadata_server.account = Some(unique_id);
        Ok(())
    }

    /// Says if the metadata server's answers carry `Metadata-Flavor: Google`; without it, it is just some web server.
    pub fn set_metadata_flavor(&self, shown: bool) {
        self.state.lock().metadata_server.shows_flavor = shown;
    }
}
