//! The bounds of roles of both types: accounts, projects, their ancestors, and whose word is taken (contract 3.2; 3.3, step 5).

use super::lists::{ANY_ACCOUNT, bound};
use super::set;
use crate::excerpt::value_excerpt;
use crate::{
    AliasSource, DeprecatedField, LegacyTokenFields, Role, RoleChanges, RoleError, RoleOptions,
    RoleRules, RoleType, RoleWarning, TokenParameters,
};

/// A role that nothing binds yet.
pub(super) fn unbound(role_id: String, rules: RoleRules) -> Role {
    Role {
        role_id,
        rules,
        bound_service_accounts: Vec::new(),
        bound_projects: Vec::new(),
        add_group_aliases: false,
        token: TokenParameters::default(),
        legacy: LegacyTokenFields::default(),
        options: RoleOptions::default(),
    }
}

pub(super) fn apply(
    role: &mut Role,
    changes: &RoleChanges,
    warnings: &mut Vec<RoleWarning>,
) -> Result<(), RoleError> {
    match (&changes.bound_service_accounts, &changes.service_accounts) {
        (Some(accounts), _) => role.bound_service_accounts = bound(accounts),
        (None, Some(accounts)) => {
            role.bound_service_accounts = bound(accounts);
            warnings.push(deprecated("service_accounts", "bound_service_accounts"));
        }
        (None, None) => {}
    }
    check_wildcard(role)?;
    match (&changes.bound_projects, &changes.project_id) {
        (Some(_), Some(_)) => return Err(RoleError::ProjectsTwice),
        (Some(projects), None) => role.bound_projects = bound(projects),
        (None, Some(project)) => {
            role.bound_projects = bound(std::slice::from_ref(project));
            warnings.push(deprecated("project_id", "bound_projects"));
        }
        (None, None) => {}
    }
    set(&mut role.add_group_aliases, changes.add_group_aliases);
    if let Some(folders) = &changes.bound_folders {
        role.options.bound_folders = numbers(folders)?;
    }
    if let Some(organizations) = &changes.bound_organizations {
        role.options.bound_organizations = numbers(organizations)?;
    }
    if let Some(audiences) = &changes.bound_audiences {
        role.options.bound_audiences = bound(audiences);
    }
    set(&mut role.options.refuse_replay, changes.refuse_replay);
    set(
        &mut role.options.trust_claims,
        changes.live_checks.map(|live| !live),
    );
    Ok(())
}

/// `*` stands for all accounts, which leaves nothing for others to add.
pub(super) fn check_wildcard(role: &Role) -> Result<(), RoleError> {
    let accounts = &role.bound_service_accounts;
    let any = accounts.iter().any(|account| account == ANY_ACCOUNT);
    if any && accounts.len() > 1 {
        return Err(RoleError::WildcardWithOthers);
    }
    Ok(())
}

/// The source of the names of entities; the word for the caller's own depends on the type.
pub(super) fn alias(role: &Role, changes: &RoleChanges) -> Result<Option<AliasSource>, RoleError> {
    let role_type = role.rules.role_type();
    match (changes.alias_source.as_deref(), role_type) {
        (None, _) => Ok(role.options.alias),
        (Some(""), _) => Ok(None),
        (Some("role_id"), _) => Ok(Some(AliasSource::RoleId)),
        (Some("unique_id"), RoleType::Iam) | (Some("instance_id"), RoleType::Gce) => {
            Ok(Some(AliasSource::Caller))
        }
        (Some(_), _) => Err(RoleError::AliasSource(role_type)),
    }
}

pub(super) fn deprecated(used: &'static str, instead: &'static str) -> RoleWarning {
    RoleWarning::DeprecatedField(DeprecatedField {
        used: used.into(),
        instead: instead.into(),
    })
}

/// Google names folders and organizations by numbers; their other names can be given to others.
fn numbers(entries: &[String]) -> Result<Vec<String>, RoleError> {
    let numbers = bound(entries);
    let is_number = |entry: &&String| entry.bytes().all(|byte| byte.is_ascii_digit());
    match numbers.iter().find(|entry| !is_number(entry)) {
        None => Ok(numbers),
        Some(other) => Err(RoleError::AncestorNumber(value_excerpt(other))),
    }
}
