//! The requirements on a role as a whole, whichever write it comes from (contract 3.3, step 8).

use gatehouse_ports::MAXIMUM_VALUE_BYTES;
use gatehouse_storage::encode;

use super::true_names;
use crate::{AboveBound, Mount, Role, RoleChanges, RoleError, RoleRules};

pub(super) fn check(role: &Role) -> Result<(), RoleError> {
    match &role.rules {
        RoleRules::Iam(_) if role.bound_service_accounts.is_empty() => {
            return Err(RoleError::NoServiceAccounts);
        }
        RoleRules::Gce(rules)
            if !rules.bound_instance_groups.is_empty()
                && rules.bound_zones.is_empty()
                && rules.bound_regions.is_empty() =>
        {
            return Err(RoleError::GroupsWithoutLocation);
        }
        _ => {}
    }
    if role.options.trust_claims {
        let fields = only_live(role);
        if !fields.is_empty() {
            return Err(RoleError::NeedsLiveChecks(fields));
        }
    }
    if encode(role)?.len() > MAXIMUM_VALUE_BYTES {
        return Err(RoleError::TooLarge);
    }
    Ok(())
}

/// A period that is sent now has to fit the mount. One that the mount's maximum has been lowered below since is cut by logins.
pub(super) fn check_sent_period(
    role: &Role,
    changes: &RoleChanges,
    mount: &Mount,
) -> Result<(), RoleError> {
    let sent = changes.token_period.is_some() || changes.period.is_some();
    if sent && role.token.period > mount.maximum_lease {
        return Err(RoleError::PeriodAboveMountMaximum(AboveBound {
            given: role.token.period,
            bound: mount.maximum_lease,
        }));
    }
    Ok(())
}

/// Fields in use that nothing in a token can answer, sorted.
fn only_live(role: &Role) -> Vec<String> {
    let (groups, labels, projects) = match &role.rules {
        // An account's project is not among its claims, an instance's is.
        RoleRules::Iam(_) => (false, false, !role.bound_projects.is_empty()),
        RoleRules::Gce(rules) => (
            !rules.bound_instance_groups.is_empty(),
            !rules.bound_labels.is_empty(),
            false,
        ),
    };
    true_names([
        ("add_group_aliases", role.add_group_aliases),
        ("bound_folders", !role.options.bound_folders.is_empty()),
        ("bound_instance_groups", groups),
        ("bound_labels", labels),
        (
            "bound_organizations",
            !role.options.bound_organizations.is_empty(),
        ),
        ("bound_projects", projects),
    ])
}
