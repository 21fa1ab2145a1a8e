//! The effect of a write on the stored configuration.

use gatehouse_ports::MAXIMUM_VALUE_BYTES;
use gatehouse_storage::encode;

use super::credentials::read_key_file;
use super::metadata::{GCE_FIELDS, IAM_FIELDS};
use super::rotation::settings_after;
use super::{ConfigRecord, CredentialsIdentity, CredentialsRecord, MetadataSelection};
use crate::excerpt::value_excerpt;
use crate::google::{Settings, endpoint_error, is_foreign};
use crate::jwt::Subject;
use crate::{
    AliasSource, ConfigBound, ConfigChanges, ConfigError, ConfigWarning, CustomEndpoints,
    EndpointValue, Metadata, MetadataError, RoleType,
};

/// Longest text that a write sets, in bytes, where its own form does not bound it.
const MAXIMUM_TEXT_BYTES: usize = 1024;

/// The effect of a write on the stored private key.
pub(crate) enum CredentialsChange {
    Keep,
    Remove,
    Replace(CredentialsRecord),
}

/// A configuration after a write.
pub(crate) struct Applied {
    pub(crate) record: ConfigRecord,
    pub(crate) credentials: CredentialsChange,
    pub(crate) warnings: Vec<ConfigWarning>,
}

/// The configuration after `changes` at `now` (seconds since 1970), or the first thing that is wrong with them.
pub(crate) fn apply(
    mut record: ConfigRecord,
    changes: &ConfigChanges,
    settings: &Settings,
    now: u64,
) -> Result<Applied, ConfigError> {
    check_lengths(changes)?;
    let credentials = apply_credentials(&mut record, changes, now)?;
    if let Some(value) = &changes.iam_alias {
        record.iam_alias = alias(value, "unique_id", RoleType::Iam)?;
    }
    if let Some(value) = &changes.gce_alias {
        record.gce_alias = alias(value, "instance_id", RoleType::Gce)?;
    }
    let metadata_refused =
        |role_type| move |flaw: MetadataError| ConfigError::Metadata(Metadata { role_type, flaw });
    if let Some(names) = &changes.iam_metadata {
        record.iam_metadata = MetadataSelection::from_names(names, IAM_FIELDS)
            .map_err(metadata_refused(RoleType::Iam))?;
    }
    if let Some(names) = &changes.gce_metadata {
        record.gce_metadata = MetadataSelection::from_names(names, GCE_FIELDS)
            .map_err(metadata_refused(RoleType::Gce))?;
    }
    apply_endpoints(&mut record.custom_endpoint, changes, settings)?;
    apply_federation(&mut record, changes)?;
    let rotation = settings_after(record.rotation.clone(), changes)?;
    if rotation != record.rotation {
        record.rotation = rotation;
        record.rotation_since = now;
    }
    if encode(&record)?.len() > MAXIMUM_VALUE_BYTES {
        return Err(ConfigError::TooLarge);
    }
    let warnings = warnings(&record, changes, settings);
    Ok(Applied {
        record,
        credentials,
        warnings,
    })
}

fn check_lengths(changes: &ConfigChanges) -> Result<(), ConfigError> {
    let texts = [
        ("identity_token_audience", &changes.identity_token_audience),
        ("rotation_policy", &changes.rotation_policy),
        ("rotation_schedule", &changes.rotation_schedule),
    ];
    let is_long = |text: &Option<String>| {
        let text = text.as_ref();
        text.is_some_and(|text| text.len() > MAXIMUM_TEXT_BYTES)
    };
    match texts.into_iter().find(|(_, text)| is_long(text)) {
        Some((field, _)) => Err(ConfigError::TooLong(ConfigBound {
            field: field.into(),
            maximum: MAXIMUM_TEXT_BYTES as u64,
        })),
        None => Ok(()),
    }
}

/// New root credentials of either kind replace those of the other (contract 2.6, D12).
fn apply_credentials(
    record: &mut ConfigRecord,
    changes: &ConfigChanges,
    now: u64,
) -> Result<CredentialsChange, ConfigError> {
    let federates = sets_audience(changes);
    match changes.credentials.as_deref() {
        Some(text) if !text.is_empty() && federates => Err(ConfigError::CredentialsTwice),
        Some(text) if !text.is_empty() => {
            let (identity, secret) = read_key_file(text)?;
            record.credentials = Some(CredentialsIdentity {
                since: now,
                ..identity
            });
            record.identity_token_audience.clear();
            Ok(CredentialsChange::Replace(secret))
        }
        None if !federates => Ok(CredentialsChange::Keep),
        _ => {
            record.credentials = None;
            Ok(CredentialsChange::Remove)
        }
    }
}

/// True if a write turns federation on, or points it elsewhere.
pub(crate) fn sets_audience(changes: &ConfigChanges) -> bool {
    let audience = changes.identity_token_audience.as_deref();
    audience.is_some_and(|audience| !audience.is_empty())
}

fn apply_federation(record: &mut ConfigRecord, changes: &ConfigChanges) -> Result<(), ConfigError> {
    if let Some(email) = &changes.service_account_email {
        let is_email = Subject::new(email).is_some_and(|subject| subject.is_email());
        if !email.is_empty() && !is_email {
            return Err(ConfigError::ServiceAccountEmail);
        }
        record.service_account_email.clone_from(email);
    }
    if let Some(audience) = &changes.identity_token_audience {
        record.identity_token_audience.clone_from(audience);
    }
    if let Some(seconds) = changes.identity_token_ttl {
        record.identity_token_ttl = seconds;
    }
    if !record.identity_token_audience.is_empty() && record.service_account_email.is_empty() {
        return Err(ConfigError::ServiceAccountMissing);
    }
    Ok(())
}

fn apply_endpoints(
    custom: &mut CustomEndpoints,
    changes: &ConfigChanges,
    settings: &Settings,
) -> Result<(), ConfigError> {
    let endpoints = || changes.custom_endpoint.iter().flatten();
    // An unknown key counts before any value (contract 2.3 rule 1), whatever order they came in.
    for (key, _) in endpoints() {
        endpoint_of(custom, key).ok_or_else(|| ConfigError::EndpointKey(value_excerpt(key)))?;
    }
    for (key, value) in endpoints() {
        let (key, endpoint) =
            endpoint_of(custom, key).ok_or_else(|| ConfigError::EndpointKey(value_excerpt(key)))?;
        let value = value.trim();
        if value.is_empty() {
            *endpoint = None;
        } else if let Some(flaw) = endpoint_error(value, settings) {
            return Err(ConfigError::EndpointValue(EndpointValue {
                key: key.into(),
                flaw,
            }));
        } else {
            *endpoint = Some(value.to_owned());
        }
    }
    Ok(())
}

/// Said when it is written, not at every write after that.
fn warnings(
    record: &ConfigRecord,
    changes: &ConfigChanges,
    settings: &Settings,
) -> Vec<ConfigWarning> {
    let mut written = changes.custom_endpoint.iter().flatten();
    let is_written = written.any(|(key, _)| key == "api");
    let base = record.custom_endpoint.api.as_deref();
    if is_written && base.is_some_and(|base| is_foreign(base, settings)) {
        vec![ConfigWarning::KeysFromForeignHost]
    } else {
        Vec::new()
    }
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
