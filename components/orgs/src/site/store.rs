//! The settings of the whole installation, in the store.
//!
//! - `site/general-settings`: the general settings, once a site administrator has changed them.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::audit_trail::Deeds as _;
use crate::audit_trail::INSTALLATION;
use crate::issues::Issues;
use crate::record::{CountRecord, DISABLED_COUNT_KEY, OrganizationRecord};
use crate::sharing::{EVERYTHING_SHARED, Existence, with_all};
use crate::{
    AdministrationChanges, ApiRate, Bounds, Caller, Census, ChangeError, Edition, Failure, Fault,
    GeneralSettings, GeneralSettingsChanges, Organization, Orgs, Resource, Site,
};

const GENERAL_SETTINGS_KEY: &str = "site/general-settings";

impl<S: Store, C: Clock, R: Random> Site for Orgs<S, C, R> {
    fn read_general_settings(&self) -> Result<GeneralSettings, Failure> {
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
            let deed = Resource::GeneralSettings.updated("general");
            self.note(&mut transaction, INSTALLATION, by, deed)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, settings)?)
        })
    }

    fn read_api_rate(&self) -> Result<ApiRate, Failure> {
        let settings = self.read_cached::<GeneralSettings>(GENERAL_SETTINGS_KEY)?;
        let settings = settings.unwrap_or_default();
        Ok(ApiRate {
            enabled: settings.api_rate_limiting_enabled,
            per_second: settings.api_rate_limit,
        })
    }

    fn administer(
        &self,
        edition: Edition,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Organization, ChangeError> {
        let record = commit_with_retries(&self.clock, &self.random, || {
            self.try_administer(edition, external_id, changes, by)
        })?;
        self.directory().keep_up();
        Ok(self.to_organization(edition, record)?)
    }

    fn count_organizations(&self) -> Result<Census, Failure> {
        let disabled = self.records.get::<CountRecord>(DISABLED_COUNT_KEY)?;
        Ok(Census {
            total: self.total()?,
            disabled: disabled.map_or(0, |count| count.record.organizations),
        })
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn try_administer(
        &self,
        edition: Edition,
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
        change_administration(edition, changes, &mut record)?;
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
        let deed = Resource::Organization.updated(external_id);
        Ok(self.replace_record(&found, &record, transaction, by, &[deed])?)
    }
}

fn change_bounds(changes: &GeneralSettingsChanges, bounds: &mut Bounds, issues: &mut Issues) {
    let original = Bounds::default();
    let highest = Bounds::HIGHEST;
    for (attribute, change, default, highest, stored) in [
        (
            "teams-per-organization",
            &changes.teams_per_organization,
            original.teams_per_organization,
            highest.teams_per_organization,
            &mut bounds.teams_per_organization,
        ),
        (
            "memberships-per-organization",
            &changes.memberships_per_organization,
            original.memberships_per_organization,
            highest.memberships_per_organization,
            &mut bounds.memberships_per_organization,
        ),
        (
            "teams-per-membership",
            &changes.teams_per_membership,
            original.teams_per_membership,
            highest.teams_per_membership,
            &mut bounds.teams_per_membership,
        ),
        (
            "agent-pools-per-organization",
            &changes.agent_pools_per_organization,
            original.agent_pools_per_organization,
            highest.agent_pools_per_organization,
            &mut bounds.agent_pools_per_organization,
        ),
    ] {
        issues.bound(attribute, change, default, highest, stored);
    }
}

fn change_settings(
    changes: &GeneralSettingsChanges,
    settings: &mut GeneralSettings,
) -> Result<(), ChangeError> {
    let original = GeneralSettings::default();
    let mut issues = Issues::default();
    for (attribute, change, default, stored) in [
        (
            "limit-user-organization-creation",
            &changes.limit_user_organization_creation,
            original.limit_user_organization_creation,
            &mut settings.limit_user_organization_creation,
        ),
        (
            "api-rate-limiting-enabled",
            &changes.api_rate_limiting_enabled,
            original.api_rate_limiting_enabled,
            &mut settings.api_rate_limiting_enabled,
        ),
        (
            "send-passing-statuses-for-untriggered-speculative-plans",
            &changes.send_passing_statuses_for_untriggered_speculative_plans,
            original.send_passing_statuses_for_untriggered_speculative_plans,
            &mut settings.send_passing_statuses_for_untriggered_speculative_plans,
        ),
        (
            "allow-speculative-plans-on-pull-requests-from-forks",
            &changes.allow_speculative_plans_on_pull_requests_from_forks,
            original.allow_speculative_plans_on_pull_requests_from_forks,
            &mut settings.allow_speculative_plans_on_pull_requests_from_forks,
        ),
        (
            "require-two-factor-for-admins",
            &changes.require_two_factor_for_admins,
            original.require_two_factor_for_admins,
            &mut settings.require_two_factor_for_admins,
        ),
        (
            "fair-run-queuing-enabled",
            &changes.fair_run_queuing_enabled,
            original.fair_run_queuing_enabled,
            &mut settings.fair_run_queuing_enabled,
        ),
        (
            "limit-organizations-per-user",
            &changes.limit_organizations_per_user,
            original.limit_organizations_per_user,
            &mut settings.limit_organizations_per_user,
        ),
        (
            "limit-workspaces-per-organization",
            &changes.limit_workspaces_per_organization,
            original.limit_workspaces_per_organization,
            &mut settings.limit_workspaces_per_organization,
        ),
        (
            "default-remote-state-access",
            &changes.default_remote_state_access,
            original.default_remote_state_access,
            &mut settings.default_remote_state_access,
        ),
    ] {
        issues.flag(attribute, change, default, stored);
    }
    let mut rate = Some(settings.api_rate_limit);
    issues.limit("api-rate-limit", &changes.api_rate_limit, &mut rate);
    if rate == Some(0) {
        issues.add("api-rate-limit", Fault::NotPositive);
    }
    settings.api_rate_limit = rate.unwrap_or(original.api_rate_limit);
    change_bounds(changes, &mut settings.bounds, &mut issues);
    issues.limit(
        "default-organizations-per-user-ceiling",
        &changes.default_organizations_per_user_ceiling,
        &mut settings.default_organizations_per_user_ceiling,
    );
    issues.limit(
        "default-workspaces-per-organization-ceiling",
        &changes.default_workspaces_per_organization_ceiling,
        &mut settings.default_workspaces_per_organization_ceiling,
    );
    issues.short_text(
        "apply-timeout",
        &changes.apply_timeout,
        &mut settings.apply_timeout,
    );
    issues.short_text(
        "plan-timeout",
        &changes.plan_timeout,
        &mut settings.plan_timeout,
    );
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
