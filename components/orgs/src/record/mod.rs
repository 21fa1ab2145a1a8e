//! The records that are stored, and their keys.
//!
//! Everything that belongs to an organization stands below `of/<external id>/`: [`crate::owned_keys`]. Users, tokens, teams, memberships,
//! agent pools and the audit trail say their keys at the heads of their own modules. Besides:
//!
//! - `organization/<folded name>`: the organization. Its key is what makes names unique, and key order is list order.
//! - `external/<external id>`: under which name that organization is now.
//! - `count/<shard>`: how many organizations belong to the shard, so that a total costs one read. There are several shards so
//!   that simultaneous creates seldom meet in one.
//! - `disabled-count`: how many organizations are switched off.
//! - `producer/<what>/<with whom>/<external id>`: that the organization shares its modules or providers with some, or with all:
//!   [`crate::sharing`].
//! - `site/<name>`: what holds for the whole installation: [`crate::site`], [`crate::retention`].
//! - `membership-of/<user id>/<external id>`: that the user has a membership there, for the way from users to organizations.
//! - `removed/<id>`: that an organization, by its external id, or an agent pool is gone and what belonged to it is being cleared
//!   away.
//! - `directory/...`: names and addresses once more, to find organizations by: [`crate::directory`].

use gatehouse_storage::{Cacheable, Record};
use serde::{Deserialize, Serialize};

use crate::name::FoldedName;
use crate::numbers::readable;
use crate::plans::SubscriptionRecord;
use crate::{
    Administration, Edition, Organization, Plan, RetentionPolicy, RetentionRule, Settings,
};

/// Before the name in the key of an organization.
pub const ORGANIZATION_PREFIX: &str = "organization/";

/// Before the letters and digits of an external id.
pub const EXTERNAL_ID_PREFIX: &str = "org-";

/// How many counters share the work. Changing it loses the count.
pub const COUNT_SHARDS: usize = 16;

/// An organization as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrganizationRecord {
    pub name: String,
    pub external_id: String,
    /// Milliseconds since 1970.
    pub created_at: u64,
    pub default_project_id: String,
    pub owners_team_id: String,
    pub subscription: SubscriptionRecord,
    pub settings: Settings,
    /// Switched off by a site administrator.
    #[serde(default)]
    pub disabled: bool,
    #[serde(default)]
    pub global_module_sharing: bool,
    #[serde(default)]
    pub global_provider_sharing: bool,
    /// How many consumers of its modules are named; those of them that are gone do not count, and are taken off when they
    /// are cleared away.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub module_consumers: u32,
    /// The same of its providers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub provider_consumers: u32,
    /// Its own data retention policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionPolicy>,
    #[serde(default, skip_serializing_if = "is_untouched")]
    pub administration: Administration,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// True if no site administrator has set anything.
fn is_untouched(administration: &Administration) -> bool {
    *administration == Administration::default()
}

impl Record for OrganizationRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for OrganizationRecord {}

/// The circumstances that decide how a stored organization is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub edition: Edition,
    /// Milliseconds since 1970, which decide if a plan has ended.
    pub now: u64,
}

impl OrganizationRecord {
    /// The organization as it is shown, as far as its record tells: [`crate::Orgs::complete`] adds the rest.
    pub fn into_organization(self, view: View) -> Organization {
        let mut settings = self.settings;
        settings.session_timeout = readable(settings.session_timeout);
        settings.session_remember = readable(settings.session_remember);
        let mut administration = self.administration;
        administration.workspace_limit = readable(administration.workspace_limit);
        let subscription = self
            .subscription
            .into_subscription(self.created_at, view.now);
        let plan = match view.edition {
            Edition::Hosted => subscription.plan_in_force(),
            Edition::SelfHosted => {
                // A store that served the hosted edition before may say otherwise.
                settings.send_passing_statuses_for_untriggered_speculative_plans = false;
                Plan::Enterprise
            }
        };
        Organization {
            name: self.name,
            external_id: self.external_id,
            created_at: self.created_at,
            default_project_id: self.default_project_id,
            plan,
            subscription,
            settings,
            disabled: self.disabled,
            global_module_sharing: self.global_module_sharing,
            global_provider_sharing: self.global_provider_sharing,
            module_consumers: self.module_consumers,
            provider_consumers: self.provider_consumers,
            retention: self.retention,
            default_retention: RetentionRule::default(),
            administration,
        }
    }
}

/// Leads from an external id to the organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalIdRecord {
    /// The folded name.
    pub name: String,
}

impl Record for ExternalIdRecord {
    const SCHEMA: u16 = 1;
}

/// How many organizations belong to one shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRecord {
    pub organizations: u64,
}

impl Record for CountRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for CountRecord {}

/// The key of an organization.
pub fn organization_key(name: &FoldedName) -> String {
    format!("{ORGANIZATION_PREFIX}{name}")
}

/// The key of an external id, which must be a well-formed one.
pub fn external_id_key(external_id: &str) -> String {
    format!("external/{external_id}")
}

/// The key of the counter that counts the organization with this external id, for its whole life.
pub fn count_key(external_id: &str) -> String {
    let sum: usize = external_id.bytes().map(usize::from).sum();
    shard_key(sum % COUNT_SHARDS)
}

/// The key of the counter of those that are switched off.
pub const DISABLED_COUNT_KEY: &str = "disabled-count";

/// The keys of all counters.
pub fn count_keys() -> [String; COUNT_SHARDS] {
    std::array::from_fn(shard_key)
}

fn shard_key(shard: usize) -> String {
    format!("count/{shard:02}")
}

#[cfg(test)]
mod stored_forms;
