//! Questions to Google, and the memory of its answers (contract 8).

mod accounts;
mod ancestry;
mod answers;
mod authorized;
mod bounded;
mod cached_answer;
mod compute;
mod credentials;
mod endpoints;
mod exchange;
mod freshness;
mod groups;
mod key_document;
mod keys;
mod memory;
mod permissions;
mod retries;
mod service_account_keys;
mod settings;
mod single_flight;
mod slot;
mod strict;
mod tokens;

pub(crate) use accounts::{ServiceAccount, service_account_in};
pub(crate) use ancestry::Ancestor;
pub(crate) use authorized::ApiError;
pub(crate) use compute::{Instance, InstanceName, instance_in, region_of};
pub(crate) use credentials::{Federation, Source};
pub(crate) use endpoints::{Api, Endpoints, endpoint_flaw, is_foreign, is_loopback};
pub(crate) use exchange::{CallError, Deadline};
pub(crate) use groups::Membership;
pub(crate) use key_document::usable_keys;
pub(crate) use keys::{KeyError, KeyOwner};
pub(crate) use memory::{Memory, MountMemory};
pub(crate) use retries::RetryBudget;
pub(crate) use service_account_keys::ProofError;
pub use settings::{Compatibility, Settings};

use gatehouse_ports::{Cache, Clock, Http, Random};

/// Google, as one mount sees it during one login or renewal.
pub(crate) struct Google<'a, H, C, R> {
    pub(crate) http: &'a H,
    pub(crate) clock: &'a C,
    pub(crate) random: &'a R,
    pub(crate) settings: &'a Settings,
    pub(crate) endpoints: &'a Endpoints,
    /// The memory of this instance under the mount's present configuration.
    pub(crate) memory: &'a MountMemory,
    /// The memory that all instances share.
    pub(crate) cache: &'a dyn Cache,
    /// For all calls of this instance.
    pub(crate) retries: &'a RetryBudget,
    /// Finds the source of access tokens that is in force; it is seldom needed, since they last.
    pub(crate) credentials: &'a dyn Fn() -> Result<Source, ApiError>,
    /// When the login or renewal has taken too long.
    pub(crate) deadline: Deadline,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now_seconds()
    }
}
