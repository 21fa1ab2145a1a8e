//! Warnings to an operator about a role that is acceptable (contract 3.2, D18).

use super::lists::ANY_ACCOUNT;
use crate::config::ConfigRecord;
use crate::{AboveBound, AliasSource, GceRules, Mount, Role, RoleRules, RoleWarning};

/// Adds everything that applies to the role as it is now, whatever was sent.
pub(super) fn add_warnings(
    role: &Role,
    mount: &Mount,
    config: &ConfigRecord,
    warnings: &mut Vec<RoleWarning>,
) {
    warnings.extend(warnings_about_lifetimes(role, mount));
    if let RoleRules::Gce(rules) = &role.rules
        && !rules.bound_zones.is_empty()
        && !rules.bound_regions.is_empty()
    {
        warnings.push(RoleWarning::RegionsBesideZones);
    }
    let role_type = role.rules.role_type();
    let alias = role.options.alias.unwrap_or(config.alias(role_type));
    if role.add_group_aliases && alias == AliasSource::RoleId {
        warnings.push(RoleWarning::GroupAliasesOnSharedEntity);
    }
    let above =
        !role.options.bound_folders.is_empty() || !role.options.bound_organizations.is_empty();
    let any_project = role.bound_projects.is_empty() && !above;
    let any_account = role.bound_service_accounts == [ANY_ACCOUNT];
    match &role.rules {
        RoleRules::Iam(_) if any_account && any_project => {
            warnings.push(RoleWarning::AnyServiceAccountOfAnyProject);
        }
        RoleRules::Gce(rules) => {
            let any_account = any_account || role.bound_service_accounts.is_empty();
            if any_account && any_project && has_labels_only(rules) {
                warnings.push(RoleWarning::BoundByLabelsOnly);
            }
        }
        RoleRules::Iam(_) => {}
    }
    if role.options.trust_claims {
        warnings.push(RoleWarning::ClaimsTrusted);
    }
}

fn warnings_about_lifetimes(role: &Role, mount: &Mount) -> impl Iterator<Item = RoleWarning> {
    let (ttl, maximum_ttl, period) = (role.token.ttl, role.token.maximum_ttl, role.token.period);
    let (mount_default, mount_maximum) = (mount.default_lease, mount.maximum_lease);
    let above = |given, bound| AboveBound { given, bound };
    let by_old_name = role.legacy.maximum_ttl.is_some();
    let all = [
        (
            ttl > mount_maximum,
            RoleWarning::TtlAboveMountMaximum(above(ttl, mount_maximum)),
        ),
        (
            maximum_ttl > mount_maximum,
            RoleWarning::MaximumTtlAboveMountMaximum(above(maximum_ttl, mount_maximum)),
        ),
        (
            period > mount_maximum,
            RoleWarning::PeriodAboveMountMaximum(above(period, mount_maximum)),
        ),
        (
            ttl > mount_default,
            RoleWarning::TtlAboveMountDefault(above(ttl, mount_default)),
        ),
        (
            // Between the mount's default and maximum it has its full effect.
            by_old_name && maximum_ttl > mount_maximum,
            RoleWarning::MaximumTtlAboveMountDefault(above(maximum_ttl, mount_default)),
        ),
    ];
    let applicable = all.into_iter().filter(|(applies, _)| *applies);
    applicable.map(|(_, warning)| warning)
}

fn has_labels_only(rules: &GceRules) -> bool {
    !rules.bound_labels.is_empty()
        && rules.bound_zones.is_empty()
        && rules.bound_regions.is_empty()
        && rules.bound_instance_groups.is_empty()
}
