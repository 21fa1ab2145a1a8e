//! Everything that can change while the fake runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::account::Account;
use crate::cache_headers::CacheHeaders;
use crate::endpoint::Endpoint;
use crate::error::FakeGoogleError;
use crate::fault::Faults;
use crate::instance::Instance;
use crate::journal::Journal;
use crate::oauth::AccessTokens;
use crate::signing_key::SigningKey;

/// The fake's whole memory.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) accounts: Vec<Account>,
    pub(crate) instances: Vec<Instance>,
    /// Google's own keys, oldest first; the last one signs.
    pub(crate) google_keys: Vec<Arc<SigningKey>>,
    pub(crate) access_tokens: AccessTokens,
    pub(crate) cache_headers: BTreeMap<Endpoint, CacheHeaders>,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
}

impl State {
    /// The key with which Google itself signs now.
    pub(crate) fn google_signing_key(&self) -> Result<&Arc<SigningKey>, FakeGoogleError> {
        self.google_keys
            .last()
            .ok_or_else(|| FakeGoogleError::NoKey {
                owner: "Google".to_owned(),
            })
    }

    /// Adds an account, unless its email or unique ID is taken.
    pub(crate) fn add_account(&mut self, account: Account) -> Result<(), FakeGoogleError> {
        if self
            .account(&account.spec.email)
            .or(self.account(&account.spec.unique_id))
            .is_some()
        {
            return Err(FakeGoogleError::DuplicateAccount {
                email: account.spec.email,
            });
        }
        self.accounts.push(account);
        Ok(())
    }

    /// The account with this email or unique ID.
    pub(crate) fn account(&self, name: &str) -> Option<&Account> {
        self.accounts.iter().find(|account| account.is_named(name))
    }

    /// The account with this email or unique ID, or an error that names it.
    pub(crate) fn require_account(&mut self, name: &str) -> Result<&mut Account, FakeGoogleError> {
        self.accounts
            .iter_mut()
            .find(|account| account.is_named(name))
            .ok_or_else(|| FakeGoogleError::UnknownAccount {
                account: name.to_owned(),
            })
    }
}

/// The state, shared by the server and its owner.
#[derive(Clone, Debug)]
pub(crate) struct SharedState(Arc<Mutex<State>>);

impl SharedState {
    pub(crate) fn new(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    /// Locks the state. A panic in another test thread leaves nothing half-written, so poison is ignored.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds since the Unix epoch; nought on a machine whose clock stands before it.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
