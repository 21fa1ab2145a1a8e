//! What a write does to a stored role, in the order of contract 3.3.

use super::lists::{ANY_ACCOUNT, bound};
use super::shown;
use super::token_fields::{self, set};
use crate::{
    AliasSource, LegacyTokenFields, Mount, Role, RoleChanges, RoleError, RoleRules, RoleType,
    RoleWarning, TokenParameters,
};

/// Seconds that the `exp` of an account-signed token may lie ahead when the operator does not say.
const DEFAULT_JWT_LIFETIME: u64 = 900;
/// Seconds that it may lie ahead at most.
const MAXIMUM_JWT_LIFETIME: u64 = 3600;

/// A role that passed all checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) role: Role,
    pub(crate) warnings: Vec<RoleWarning>,
}

/// The role after `changes`. `stored` is what there is; without it `new_role_id` makes the id of a new role. `alias` is what the mount
/// names entities of iam roles after.
pub(crate) fn apply(
    stored: Option<Role>,
    changes: &RoleChanges,
    mount: &Mount,
    alias: AliasSource,
    new_role_id: impl FnOnce() -> Result<String, RoleError>,
) -> Result<Written, RoleError> {
    let (mut token, mut legacy) = stored
        .as_ref()
        .map_or_else(<(TokenParameters, LegacyTokenFields)>::default, |role| {
            (role.token.clone(), role.legacy.clone())
        });
    token_fields::apply(&mut token, &mut legacy, changes)?;
    let mut role = match stored {
        Some(role) => {
            check_type(changes, role.rules.role_type())?;
            role
        }
        None => new_role(changes, new_role_id)?,
    };
    role.token = token;
    role.legacy = legacy;
    let mut warnings = Vec::new();
    apply_bindings(&mut role, changes, &mut warnings)?;
    apply_rules(&mut role, changes)?;
    check_whole(&role, mount)?;
    warn(&role, mount, alias, &mut warnings);
    Ok(Written { role, warnings })
}

fn new_role(
    changes: &RoleChanges,
    new_role_id: impl FnOnce() -> Result<String, RoleError>,
) -> Result<Role, RoleError> {
    match changes.role_type.as_deref() {
        None | Some("") => return Err(RoleError::TypeMissing),
        Some("iam") => {}
        Some(other) => return Err(RoleError::TypeInvalid(shown(other))),
    }
    Ok(Role {
        role_id: new_role_id()?,
        rules: RoleRules::Iam {
            maximum_jwt_lifetime: DEFAULT_JWT_LIFETIME,
            allow_gce_inference: true,
        },
        bound_service_accounts: Vec::new(),
        bound_projects: Vec::new(),
        add_group_aliases: false,
        token: TokenParameters::default(),
        legacy: LegacyTokenFields::default(),
        bound_folders: Vec::new(),
        bound_organizations: Vec::new(),
        bound_audiences: Vec::new(),
        alias: None,
        refuse_replay: false,
        trust_claims: false,
    })
}

fn check_type(changes: &RoleChanges, stored: RoleType) -> Result<(), RoleError> {
    match changes.role_type.as_deref() {
        None => Ok(()),
        Some("") => Err(RoleError::TypeMissing),
        Some(sent) if sent == stored.to_string() => Ok(()),
        Some("iam" | "gce") => Err(RoleError::TypeChanged),
        Some(other) => Err(RoleError::TypeInvalid(shown(other))),
    }
}

fn apply_bindings(
    role: &mut Role,
    changes: &RoleChanges,
    warnings: &mut Vec<RoleWarning>,
) -> Result<(), RoleError> {
    match (&changes.bound_service_accounts, &changes.service_accounts) {
        (Some(accounts), _) => role.bound_service_accounts = bound(accounts),
        (None, Some(accounts)) => {
            role.bound_service_accounts = bound(accounts);
            warnings.push(RoleWarning::DeprecatedField {
                used: "service_accounts".into(),
                instead: "bound_service_accounts".into(),
            });
        }
        (None, None) => {}
    }
    let any = role
        .bound_service_accounts
        .iter()
        .any(|account| account == ANY_ACCOUNT);
    if any && role.bound_service_accounts.len() > 1 {
        return Err(RoleError::WildcardWithOthers);
    }
    match (&changes.bound_projects, &changes.project_id) {
        (Some(_), Some(_)) => return Err(RoleError::ProjectsTwice),
        (Some(projects), None) => role.bound_projects = bound(projects),
        (None, Some(project)) => {
            role.bound_projects = bound(std::slice::from_ref(project));
            warnings.push(RoleWarning::DeprecatedField {
                used: "project_id".into(),
                instead: "bound_projects".into(),
            });
        }
        (None, None) => {}
    }
    set(&mut role.add_group_aliases, changes.add_group_aliases);
    Ok(())
}

fn apply_rules(role: &mut Role, changes: &RoleChanges) -> Result<(), RoleError> {
    let role_type = role.rules.role_type();
    match &mut role.rules {
        RoleRules::Iam {
            maximum_jwt_lifetime,
            allow_gce_inference,
        } => {
            let foreign = [
                (
                    "bound_instance_groups",
                    changes.bound_instance_groups.is_some(),
                ),
                ("bound_labels", changes.bound_labels.is_some()),
                ("bound_regions", changes.bound_regions.is_some()),
                ("bound_zones", changes.bound_zones.is_some()),
            ];
            let fields: Vec<_> = foreign
                .into_iter()
                .filter_map(|(name, sent)| sent.then_some(name.into()))
                .collect();
            if !fields.is_empty() {
                return Err(RoleError::FieldsOfOtherType { role_type, fields });
            }
            match changes.max_jwt_exp {
                None => {}
                Some(0) => *maximum_jwt_lifetime = DEFAULT_JWT_LIFETIME,
                Some(..=MAXIMUM_JWT_LIFETIME) => {
                    set(maximum_jwt_lifetime, changes.max_jwt_exp);
                }
                Some(_) => return Err(RoleError::JwtLifetimeTooLong),
            }
            set(allow_gce_inference, changes.allow_gce_inference);
        }
        RoleRules::Gce(_) => {}
    }
    Ok(())
}

fn check_whole(role: &Role, mount: &Mount) -> Result<(), RoleError> {
    if role.rules.role_type() == RoleType::Iam && role.bound_service_accounts.is_empty() {
        return Err(RoleError::NoServiceAccounts);
    }
    if role.token.period > mount.maximum_lease {
        return Err(RoleError::PeriodAboveMountMaximum {
            period: role.token.period,
            mount_maximum: mount.maximum_lease,
        });
    }
    Ok(())
}

fn warn(role: &Role, mount: &Mount, alias: AliasSource, warnings: &mut Vec<RoleWarning>) {
    let (ttl, maximum_ttl) = (role.token.ttl, role.token.maximum_ttl);
    let (mount_default, mount_maximum) = (mount.default_lease, mount.maximum_lease);
    if ttl > mount_maximum {
        warnings.push(RoleWarning::TtlAboveMountMaximum { ttl, mount_maximum });
    }
    if maximum_ttl > mount_maximum {
        warnings.push(RoleWarning::MaximumTtlAboveMountMaximum {
            maximum_ttl,
            mount_maximum,
        });
    }
    if ttl > mount_default {
        warnings.push(RoleWarning::TtlAboveMountDefault { ttl, mount_default });
    }
    if role.add_group_aliases && alias == AliasSource::RoleId {
        warnings.push(RoleWarning::GroupAliasesOnSharedEntity);
    }
    let any_account = role.bound_service_accounts == [ANY_ACCOUNT];
    if any_account && role.bound_projects.is_empty() {
        warnings.push(RoleWarning::AnyServiceAccountOfAnyProject);
    }
}
