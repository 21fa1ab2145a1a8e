//! The settings of the whole installation, in the store.
//!
//! - `site/general-settings`: the general settings, once a site administrator has changed them.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::audit_trail::AuditedOperations as _;
use crate::audit_trail::INSTALLATION;
use crate::issues::Issues;
use crate::record::{CountRecord, DISABLED_COUNT_KEY, OrganizationRecord};
use crate::sharing::{EVERYTHING_SHARED, Existence, with_all};
use crate::{
    AdministrationChanges, ApiRate, Bounds, Caller, Census, ChangeError, Edition, Fault,
    GeneralSettings, GeneralSettingsChanges, Organization, Orgs, Overview, Resource, ServiceError,
    Site,
};

const GENERAL_SETTINGS_KEY: &str = "site/general-settings";

impl<S: Store, C: Clock, R: Random> Site for Orgs<S, C, R> {
    fn read_general_settings(&self) -> Result<GeneralSettings, ServiceError> {
        let stored = self.records.get::<GeneralSettings>(GENERAL_SETTINGS_KEY)?;
        Ok(stored.map(|stored| stored.record).unwrap_or_default())
    }

    fn change_general_settings(
        &self,
        changes: &GeneralSettingsChanges,
        by: &Caller,
    ) -> Result<GeneralSettings, ChangeError> {
        commit_with_retries(&self.clock, &self.random, || {
            let stored = self.records.get::<GeneralSettings>(GENERAL_SETTINGS_KEY)?;
            let version = stored.as_ref().map(|stored| stored.version);
            let mut settings = stored.map(|stored| stored.record).unwrap_or_default();
            change_settings(changes, &mut settings)?;
            let mut transaction = Transaction::new();
            transaction
                .require_unchanged(GENERAL_SETTINGS_KEY, version)
                .put(GENERAL_SETTINGS_KEY, &settings)?;
            let audited = Resource::GeneralSettings.updated("general");
            self.note(&mut transaction, INSTALLATION, by, audited)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, settings)?)
        })
    }

    fn read_api_rate(&self) -> Result<ApiRate, ServiceError> {
        let settings = self.read_cached::<GeneralSettings>(GENERAL_SETTINGS_KEY)?;
        let settings = settings.unwrap_or_default();
        Ok(ApiRate {
            enabled: settings.api_rate_limiting_enabled,
            per_second: settings.api_rate_limit,
        })
    }

    fn administer(
        &self,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Organization, ChangeError> {
        let record = commit_with_retries(&self.clock, &self.random, || {
            self.try_administer(external_id, changes, by)
        })?;
        self.directory().keep_up(external_id);
        Ok(self.to_organization(record)?)
    }

    fn oversee(&self, organizations: &[String]) -> Result<Overview, ServiceError> {
        let disabled = self.records.get::<CountRecord>(DISABLED_COUNT_KEY)?;
        Ok(Overview {
            owners: self.owners(organizations)?,
            census: Census {
                total: self.total()?,
                disabled: disabled.map_or(0, |count| count.record.organizations),
            },
        })
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn try_administer(
        &self,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Attempt<OrganizationRecord>, ChangeError> {
        let located = self.locate(external_id)?;
        let Some(found) = located.unless_gone(ChangeError::NotFound)? else {
            return Ok(Attempt::Conflicted);
        };
        let stored = &found.1;
        let mut record = stored.record.clone();
        change_administration(self.edition, changes, &mut record)?;
        let mut transaction = Transaction::new();
        for shared in EVERYTHING_SHARED {
            if with_all(shared, &record) && !with_all(shared, &stored.record) {
                let no_consumers = Existence::new();
                self.name_consumers(&mut transaction, &mut record, shared, &no_consumers)?;
            }
        }
        if record.disabled != stored.record.disabled {
            let key = DISABLED_COUNT_KEY.to_owned();
            let disabled = record.disabled;
            self.count_at(&mut transaction, key, |count| {
                if disabled {
                    count.saturating_add(1)
                } else {
                    count.saturating_sub(1)
                }
            })?;
        }
        let audited = Resource::Organization.updated(external_id);
        Ok(self.replace_record(&found, &record, transaction, by, &[audited])?)
    }
}

/// A row for each attribute: its name on the wire, and its member of the changes, of the original and of what is stored. A row of
/// `bound` has its member of the highest values too.
macro_rules! judge {
    (flag $issues:ident $changes:ident $original:ident $stored:ident: $($attribute:literal $member:ident;)*) => {
        $($issues.flag($attribute, &$changes.$member, $original.$member, &mut $stored.$member);)*
    };
    (bound $issues:ident $changes:ident $original:ident $stored:ident: $($attribute:literal $member:ident;)*) => {
        $($issues.bound(
            $attribute,
            &$changes.$member,
            $original.$member,
            Bounds::HIGHEST.$member,
            &mut $stored.$member,
        );)*
    };
    ($kind:ident $issues:ident $changes:ident $stored:ident: $($attribute:literal $member:ident;)*) => {
        $($issues.$kind($attribute, &$changes.$member, &mut $stored.$member);)*
    };
}

fn change_bounds(changes: &GeneralSettingsChanges, bounds: &mut Bounds, issues: &mut Issues) {
    let original = Bounds::default();
    judge! { bound issues changes original bounds:
        "teams-per-organization" teams_per_organization;
        "memberships-per-organization" memberships_per_organization;
        "teams-per-membership" teams_per_membership;
        "agent-pools-per-organization" agent_pools_per_organization;
    }
}

fn change_settings(
    changes: &GeneralSettingsChanges,
    settings: &mut GeneralSettings,
) -> Result<(), ChangeError> {
    let original = GeneralSettings::default();
    let mut issues = Issues::default();
    judge! { flag issues changes original settings:
        "limit-user-organization-creation" limit_user_organization_creation;
        "api-rate-limiting-enabled" api_rate_limiting_enabled;
        "send-passing-statuses-for-untriggered-speculative-plans"
            send_passing_statuses_for_untriggered_speculative_plans;
        "allow-speculative-plans-on-pull-requests-from-forks"
            allow_speculative_plans_on_pull_requests_from_forks;
        "require-two-factor-for-admins" require_two_factor_for_admins;
        "fair-run-queuing-enabled" fair_run_queuing_enabled;
        "limit-organizations-per-user" limit_organizations_per_user;
        "limit-workspaces-per-organization" limit_workspaces_per_organization;
        "default-remote-state-access" default_remote_state_access;
    }
    let mut rate = Some(settings.api_rate_limit);
    issues.limit("api-rate-limit", &changes.api_rate_limit, &mut rate);
    if rate == Some(0) {
        issues.add("api-rate-limit", Fault::NotPositive);
    }
    settings.api_rate_limit = rate.unwrap_or(original.api_rate_limit);
    change_bounds(changes, &mut settings.bounds, &mut issues);
    judge! { limit issues changes settings:
        "default-organizations-per-user-ceiling" default_organizations_per_user_ceiling;
        "default-workspaces-per-organization-ceiling" default_workspaces_per_organization_ceiling;
    }
    judge! { short_text issues changes settings:
        "apply-timeout" apply_timeout;
        "plan-timeout" plan_timeout;
    }
    issues.none_or_refused()
}

fn change_administration(
    edition: Edition,
    changes: &AdministrationChanges,
    record: &mut OrganizationRecord,
) -> Result<(), ChangeError> {
    let mut issues = Issues::default();
    let administration = &mut record.administration;
    issues.flag(
        "access-beta-tools",
        &changes.access_beta_tools,
        false,
        &mut administration.access_beta_tools,
    );
    issues.flag(
        "is-disabled",
        &changes.disabled,
        false,
        &mut record.disabled,
    );
    issues.flag(
        "terraform-worker-sudo-enabled",
        &changes.terraform_worker_sudo_enabled,
        false,
        &mut administration.terraform_worker_sudo_enabled,
    );
    // Where nothing is shared, what is said about it is ignored.
    if edition == Edition::SelfHosted {
        for (attribute, change, stored) in [
            (
                "global-module-sharing",
                &changes.global_module_sharing,
                &mut record.global_module_sharing,
            ),
            (
                "global-provider-sharing",
                &changes.global_provider_sharing,
                &mut record.global_provider_sharing,
            ),
        ] {
            issues.flag(attribute, change, false, stored);
        }
    }
    issues.short_text(
        "apply-timeout",
        &changes.apply_timeout,
        &mut administration.apply_timeout,
    );
    issues.short_text(
        "plan-timeout",
        &changes.plan_timeout,
        &mut administration.plan_timeout,
    );
    issues.limit(
        "workspace-limit",
        &changes.workspace_limit,
        &mut administration.workspace_limit,
    );
    issues.none_or_refused()
}
