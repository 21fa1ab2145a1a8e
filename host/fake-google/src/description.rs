//! The fake described for programs that sign for its accounts themselves.

use serde::Serialize;

use crate::account::Account;
use crate::compute::InstanceGroup;
use crate::error::FakeGoogleError;
use crate::instance::Instance;
use crate::signing_key::SigningKey;
use crate::state::State;

/// All that another program needs in order to act as Google or as any account. Holds private keys.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Base URL without a trailing slash.
    pub address: String,
    /// The key with which Google itself signs now.
    pub oauth_key: KeyDescription,
    /// The accounts that have a key, in the order of their creation.
    pub service_accounts: Vec<AccountDescription>,
    /// The instances, in the order of their creation.
    pub instances: Vec<Instance>,
    /// The instance groups, in the order of their creation.
    pub instance_groups: Vec<InstanceGroup>,
}

/// A private key and its identifier.
#[derive(Clone, Serialize)]
pub struct KeyDescription {
    /// Key identifier.
    pub kid: String,
    /// PKCS#8 PEM.
    pub private_key_pem: String,
}

/// A service account and the key with which it signs now.
#[derive(Clone, Debug, Serialize)]
pub struct AccountDescription {
    /// Email address.
    pub email: String,
    /// Decimal number of the account.
    pub unique_id: String,
    /// Project that the account belongs to.
    pub project_id: String,
    /// Its key.
    #[serde(flatten)]
    pub key: KeyDescription,
}

impl std::fmt::Debug for KeyDescription {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("KeyDescription")
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

impl KeyDescription {
    fn from_key(key: &SigningKey) -> Self {
        Self {
            kid: key.key_id().to_owned(),
            private_key_pem: key.private_key_pem().to_owned(),
        }
    }
}

impl AccountDescription {
    /// None for an account whose keys were all removed.
    fn from_account(account: &Account) -> Option<Self> {
        let key = account.keys.last()?;
        Some(Self {
            email: account.spec.email.clone(),
            unique_id: account.spec.unique_id.clone(),
            project_id: account.spec.project_id.clone(),
            key: KeyDescription::from_key(key),
        })
    }
}

impl Description {
    /// Describes the state as it is now.
    pub(crate) fn from_state(state: &State, address: String) -> Result<Self, FakeGoogleError> {
        Ok(Self {
            address,
            oauth_key: KeyDescription::from_key(state.google_signing_key()?),
            service_accounts: state
                .accounts
                .iter()
                .filter_map(AccountDescription::from_account)
                .collect(),
            instances: state.instances.clone(),
            instance_groups: state.instance_groups.clone(),
        })
    }
}
