//! The entity of a caller, for the capability that keeps identities: alias, metadata, display name (contract 4.9, 7.1).

use crate::authorization::Caller;
use crate::config::ConfigRecord;
use crate::{AliasSource, Role, RoleName, RoleType};

/// The name of the alias of `caller`; empty when there is nothing to name it by.
pub(crate) fn alias_name(role: &Role, config: &ConfigRecord, caller: &Caller) -> String {
    let role_type = role.rules.role_type();
    match (
        role.options.alias.unwrap_or(config.alias(role_type)),
        &caller.instance,
    ) {
        (AliasSource::RoleId, _) => role.role_id.clone(),
        // The prefix keeps entities that others have made under it.
        (AliasSource::Caller, Some(instance)) => format!("gce-{}", instance.instance_id),
        (AliasSource::Caller, None) => caller.account.unique_id.clone(),
    }
}

/// The name of `caller` in logs.
pub(crate) fn display_name(caller: &Caller) -> String {
    match &caller.instance {
        Some(instance) => instance.instance_name.clone(),
        None if caller.account.email.is_empty() => caller.account.unique_id.clone(),
        None => caller.account.email.clone(),
    }
}

/// The facts that `config` selects for roles of this type, those that have a value.
pub(crate) fn metadata(
    name: &RoleName,
    role_type: RoleType,
    config: &ConfigRecord,
    caller: &Caller,
) -> Vec<(String, String)> {
    let instance = caller.instance.as_ref();
    let value = |field: &str| match field {
        "role" => Some(name.as_str().to_owned()),
        "project_id" => Some(caller.project().to_owned()),
        "service_account_id" => Some(caller.account.unique_id.clone()),
        "service_account_email" => Some(caller.account.email.clone()),
        "project_number" => Some(instance?.project_number.to_string()),
        "zone" => Some(instance?.zone.clone()),
        "instance_id" => Some(instance?.instance_id.clone()),
        "instance_name" => Some(instance?.instance_name.clone()),
        "instance_creation_timestamp" => Some(instance?.instance_creation_timestamp.to_string()),
        _ => None,
    };
    config
        .metadata_names(role_type)
        .into_iter()
        .filter_map(|field| {
            let value = value(&field).filter(|value| !value.is_empty())?;
            Some((field, value))
        })
        .collect()
}
