//! The part about what the installation sets, and what organizations share in it.

/// Defines `Cross` for the types of `retention`, `sharing` and `site`.
#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_installation {
    () => {
        $crate::crossing_record!(types::Administration {
            access_beta_tools,
            terraform_worker_sudo_enabled,
            apply_timeout,
            plan_timeout,
            workspace_limit,
        });
        $crate::crossing_cases!(types::RetentionRule { DeleteOlder(days), DontDelete });
        $crate::crossing_record!(types::RetentionDetail { delete, delete_after_days, keep_latest });
        $crate::crossing_record!(types::RetentionPolicy {
            id,
            rule,
            state_versions,
            configuration_versions,
            run_data_and_logs,
        });

        $crate::crossing_cases!(retention::RetentionKind { DeleteOlder, DontDelete });
        $crate::crossing_record!(retention::RetentionDetailChange {
            delete,
            delete_after_days,
            keep_latest,
        });
        $crate::crossing_record!(retention::RetentionRequest {
            kind,
            days,
            state_versions,
            configuration_versions,
            run_data_and_logs,
        });

        $crate::crossing_cases!(sharing::Shared { Modules, Providers });
        $crate::crossing_cases!(sharing::OrganizationReference { Name(name), ExternalId(id) });
        $crate::crossing_record!(sharing::ConsumerChanges { modules, providers });
        $crate::crossing_record!(sharing::Partnership { id, consumer_id, consumer_name });
        $crate::crossing_cases!(sharing::ShareError {
            NotFound,
            UnknownOrganizations(names),
            TooMany(maximum),
            Failed(failure),
        });

        $crate::crossing_record!(site::Bounds {
            teams_per_organization,
            memberships_per_organization,
            teams_per_membership,
            agent_pools_per_organization,
        });
        $crate::crossing_record!(site::GeneralSettings {
            limit_user_organization_creation,
            api_rate_limiting_enabled,
            api_rate_limit,
            send_passing_statuses_for_untriggered_speculative_plans,
            allow_speculative_plans_on_pull_requests_from_forks,
            require_two_factor_for_admins,
            fair_run_queuing_enabled,
            limit_organizations_per_user,
            default_organizations_per_user_ceiling,
            limit_workspaces_per_organization,
            default_workspaces_per_organization_ceiling,
            apply_timeout,
            plan_timeout,
            default_remote_state_access,
            bounds,
        });
        $crate::crossing_record!(site::GeneralSettingsChanges {
            limit_user_organization_creation,
            api_rate_limiting_enabled,
            api_rate_limit,
            send_passing_statuses_for_untriggered_speculative_plans,
            allow_speculative_plans_on_pull_requests_from_forks,
            require_two_factor_for_admins,
            fair_run_queuing_enabled,
            limit_organizations_per_user,
            default_organizations_per_user_ceiling,
            limit_workspaces_per_organization,
            default_workspaces_per_organization_ceiling,
            apply_timeout,
            plan_timeout,
            default_remote_state_access,
            teams_per_organization,
            memberships_per_organization,
            teams_per_membership,
            agent_pools_per_organization,
        });
        $crate::crossing_record!(site::ApiRate { enabled, per_second });
        $crate::crossing_record!(site::AdministrationChanges {
            disabled,
            global_module_sharing,
            global_provider_sharing,
            access_beta_tools,
            terraform_worker_sudo_enabled,
            apply_timeout,
            plan_timeout,
            workspace_limit,
        });
        $crate::crossing_record!(site::Census { total, disabled });
    };
}
