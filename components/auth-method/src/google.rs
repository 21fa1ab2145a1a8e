//! What Google is asked, and what is remembered of its answers (contract 8).

mod accounts;
mod ancestry;
mod answers;
mod authorized;
mod bounded;
mod compute;
mod endpoints;
mod exchange;
mod flight;
mod freshness;
mod groups;
mod key_document;
mod keys;
mod known;
mod memory;
mod retries;
mod settings;
mod tokens;

pub(crate) use accounts::ServiceAccount;
pub(crate) use ancestry::Ancestor;
pub(crate) use authorized::ApiError;
pub(crate) use compute::{Instance, InstanceName, region_of};
pub(crate) use endpoints::{Api, Endpoints, endpoint_flaw};
pub(crate) use exchange::{CallError, Deadline};
pub(crate) use groups::Membership;
pub(crate) use keys::{KeyError, KeyOwner};
pub(crate) use memory::{Memory, MountMemory};
pub(crate) use retries::RetryBudget;
pub use settings::{Compatibility, Settings};

use gatehouse_ports::{Cache, Clock, Http, Random};
use gatehouse_storage::StorageError;

use crate::config::CredentialsRecord;

/// Google, as one mount sees it during one login or renewal.
pub(crate) struct Google<'a, H, C, R> {
    pub(crate) http: &'a H,
    pub(crate) clock: &'a C,
    pub(crate) random: &'a R,
    pub(crate) settings: &'a Settings,
    pub(crate) endpoints: &'a Endpoints,
    /// What this instance remembers under the mount's present configuration.
    pub(crate) memory: &'a MountMemory,
    /// What all instances remember.
    pub(crate) cache: &'a dyn Cache,
    /// For all calls of this instance.
    pub(crate) retries: &'a RetryBudget,
    /// Reads the mount's credentials; they are seldom needed, since access tokens last.
    pub(crate) credentials: &'a dyn Fn() -> Result<Option<CredentialsRecord>, StorageError>,
    /// When the login or renewal has taken too long.
    pub(crate) deadline: Deadline,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now_seconds()
    }
}
