//! Changing whose tokens are taken, and in whose name they act.

use crate::error::FakeGoogleError;
use crate::google::FakeGoogle;
use crate::security_token::WorkloadIdentityProvider;

/// Workload identity federation. Providers are named by [`WorkloadIdentityProvider::audience`].
impl FakeGoogle {
    /// Adds a provider, or puts it in the place of the one with its name.
    pub fn add_workload_identity_provider(&self, provider: WorkloadIdentityProvider) {
        self.state
            .lock()
            .providers
            .insert(provider.audience(), provider);
    }

    /// Removes a provider, whose federated tokens are refused from now on; nothing happens when there is none.
    pub fn remove_workload_identity_provider(&self, audience: &str) {
        self.state.lock().providers.remove(audience);
    }

    /// Lets the subjects of a provider act in an account's name.
    ///
    /// # Errors
    ///
    /// When there is no such provider or account.
    pub fn allow_impersonation(
        &self,
        audience: &str,
        account: &str,
    ) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        if !state.providers.contains_key(audience) {
            return Err(FakeGoogleError::UnknownProvider {
                audience: audience.to_owned(),
            });
        }
        let account = state.require_account(account)?;
        account.impersonators.insert(audience.to_owned());
        Ok(())
    }

    /// Ends what [`FakeGoogle::allow_impersonation`] began; nothing happens when it was not allowed.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn forbid_impersonation(
        &self,
        audience: &str,
        account: &str,
    ) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        state
            .require_account(account)?
            .impersonators
            .remove(audience);
        Ok(())
    }
}
