//! What a write does to the stored configuration.

use super::credentials::read_key_file;
use super::metadata::{GCE_FIELDS, IAM_FIELDS};
use super::{ConfigRecord, CredentialsRecord, MetadataSelection, shown};
use crate::google::{Settings, endpoint_flaw};
use crate::{AliasSource, ConfigChanges, ConfigError, CustomEndpoints, MetadataFlaw, RoleType};

/// What becomes of the stored private key.
pub(crate) enum CredentialsChange {
    Keep,
    Remove,
    Replace(CredentialsRecord),
}

/// The configuration after `changes`, or the first thing that is wrong with them.
pub(crate) fn apply(
    mut record: ConfigRecord,
    changes: &ConfigChanges,
    settings: &Settings,
) -> Result<(ConfigRecord, CredentialsChange), ConfigError> {
    let credentials = match changes.credentials.as_deref() {
        None => CredentialsChange::Keep,
        Some("") => {
            record.credentials = None;
            CredentialsChange::Remove
        }
        Some(text) => {
            let (identity, secret) = read_key_file(text)?;
            record.credentials = Some(identity);
            CredentialsChange::Replace(secret)
        }
    };
    if let Some(value) = &changes.iam_alias {
        record.iam_alias = alias(value, "unique_id", RoleType::Iam)?;
    }
    if let Some(value) = &changes.gce_alias {
        record.gce_alias = alias(value, "instance_id", RoleType::Gce)?;
    }
    let metadata_refused =
        |role_type| move |flaw: MetadataFlaw| ConfigError::Metadata { role_type, flaw };
    if let Some(names) = &changes.iam_metadata {
        record.iam_metadata = MetadataSelection::from_names(names, IAM_FIELDS)
            .map_err(metadata_refused(RoleType::Iam))?;
    }
    if let Some(names) = &changes.gce_metadata {
        record.gce_metadata = MetadataSelection::from_names(names, GCE_FIELDS)
            .map_err(metadata_refused(RoleType::Gce))?;
    }
    let endpoints = || changes.custom_endpoint.iter().flatten();
    // An unknown key counts before any value (contract 2.3 rule 1), whatever order they came in.
    for (key, _) in endpoints() {
        endpoint_of(&mut record.custom_endpoint, key)
            .ok_or_else(|| ConfigError::EndpointKey(shown(key)))?;
    }
    for (key, value) in endpoints() {
        let (key, endpoint) = endpoint_of(&mut record.custom_endpoint, key)
            .ok_or_else(|| ConfigError::EndpointKey(shown(key)))?;
        let value = value.trim();
        if value.is_empty() {
            *endpoint = None;
        } else if let Some(flaw) = endpoint_flaw(value, settings) {
            return Err(ConfigError::EndpointValue {
                key: key.into(),
                flaw,
            });
        } else {
            *endpoint = Some(value.to_owned());
        }
    }
    Ok((record, credentials))
}

fn alias(value: &str, caller: &str, role_type: RoleType) -> Result<AliasSource, ConfigError> {
    match value {
        "" | "role_id" => Ok(AliasSource::RoleId),
        _ if value == caller => Ok(AliasSource::Caller),
        _ => Err(ConfigError::Alias(role_type)),
    }
}

fn endpoint_of<'a>(
    endpoints: &'a mut CustomEndpoints,
    key: &str,
) -> Option<(&'static str, &'a mut Option<String>)> {
    match key {
        "api" => Some(("api", &mut endpoints.api)),
        "iam" => Some(("iam", &mut endpoints.iam)),
        "crm" => Some(("crm", &mut endpoints.crm)),
        "compute" => Some(("compute", &mut endpoints.compute)),
        _ => None,
    }
}
