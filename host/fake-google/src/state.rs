//! Everything that can change while the fake runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::access_tokens::AccessTokens;
use crate::account::Account;
use crate::cache_headers::CacheHeaders;
use crate::caller::Denials;
use crate::compute::{InstanceGroup, PageSizes};
use crate::endpoint::Endpoint;
use crate::error::FakeGoogleError;
use crate::fault::Faults;
use crate::instance::{Instance, instance_path};
use crate::journal::Journal;
use crate::metadata::MetadataServer;
use crate::oauth::Users;
use crate::resource_manager::Ancestor;
use crate::security_token::WorkloadIdentityProvider;
use crate::signing_key::SigningKey;

/// The fake's whole memory.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) accounts: Vec<Account>,
    pub(crate) instances: Vec<Instance>,
    pub(crate) instance_groups: Vec<InstanceGroup>,
    /// The folders and organization above each project, nearest first.
    pub(crate) ancestors: BTreeMap<String, Vec<Ancestor>>,
    /// Google's own keys, oldest first; the last one signs.
    pub(crate) google_keys: Vec<Arc<SigningKey>>,
    pub(crate) access_tokens: AccessTokens,
    pub(crate) users: Users,
    /// By resource name.
    pub(crate) providers: BTreeMap<String, WorkloadIdentityProvider>,
    pub(crate) denials: Denials,
    /// Assertions by a key made from now on that are refused until the token endpoint knows it.
    pub(crate) key_propagation: u32,
    /// Assertions may name the token endpoint as Google itself calls it.
    pub(crate) proxied: bool,
    pub(crate) metadata_server: MetadataServer,
    pub(crate) page_sizes: PageSizes,
    /// Where the links to a group's members start.
    pub(crate) member_link_base: String,
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

    /// Adds an instance, unless its zone has one of that name.
    pub(crate) fn add_instance(&mut self, instance: Instance) -> Result<(), FakeGoogleError> {
        let path = instance.path();
        if self.instances.iter().any(|other| other.path() == path) {
            return Err(FakeGoogleError::DuplicateInstance { path });
        }
        self.instances.push(instance);
        Ok(())
    }

    /// Adds a group, unless its location has one of that name or cannot have its members.
    pub(crate) fn add_instance_group(
        &mut self,
        group: InstanceGroup,
    ) -> Result<(), FakeGoogleError> {
        let path = group.path();
        if self
            .instance_groups
            .iter()
            .any(|other| other.path() == path)
        {
            return Err(FakeGoogleError::DuplicateInstanceGroup { path });
        }
        for (zone, name) in &group.members {
            let member = instance_path(&group.project_id, zone, name);
            if !self
                .instances
                .iter()
                .any(|instance| instance.path() == member)
            {
                return Err(FakeGoogleError::UnknownInstance { instance: member });
            }
            if !group.location.covers(zone) {
                return Err(FakeGoogleError::MemberOutsideGroup {
                    group: path,
                    instance: member,
                });
            }
        }
        self.instance_groups.push(group);
        Ok(())
    }

    /// The first instance with this name, number or path, or an error that names it.
    pub(crate) fn require_instance(
        &mut self,
        name: &str,
    ) -> Result<&mut Instance, FakeGoogleError> {
        self.instances
            .iter_mut()
            .find(|instance| instance.is_named(name))
            .ok_or_else(|| FakeGoogleError::UnknownInstance {
                instance: name.to_owned(),
            })
    }

    /// True if anything is known of a project.
    pub(crate) fn has_project(&self, project: &str) -> bool {
        self.ancestors.contains_key(project)
            || self
                .accounts
                .iter()
                .any(|account| account.spec.project_id == project)
            || self
                .instances
                .iter()
                .any(|instance| instance.project_id == project)
            || self
                .instance_groups
                .iter()
                .any(|group| group.project_id == project)
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
