//! Texts for operators about a configuration (contract 2.2 to 2.6).

use gatehouse_auth_method_api::{
    ConfigError, ConfigWarning, EndpointValue, IdentityTokenError, KeyFileError, Metadata,
    MetadataError, RoleType, Unavailable,
};

use crate::vault::errors::ApiError;
use crate::vault::text;

/// The refusal of a write.
pub(super) fn api_error(error: ConfigError) -> ApiError {
    let text = match error {
        ConfigError::Storage(error) | ConfigError::IdentityToken(IdentityTokenError::Storage(error)) => {
            return error.into();
        }
        ConfigError::Credentials(flaw @ KeyFileError::PrivateKeyIdMissing) => flaw.to_string(),
        ConfigError::Credentials(flaw) => format!("failed to read credentials: {flaw}"),
        ConfigError::Alias(RoleType::Iam) => {
            "invalid IAM alias type: must be one of: role_id, unique_id".to_owned()
        }
        ConfigError::Alias(RoleType::Gce) => {
            "invalid GCE alias type: must be one of: instance_id, role_id".to_owned()
        }
        ConfigError::Metadata(Metadata { role_type, flaw }) => metadata(role_type, &flaw),
        ConfigError::EndpointKey(key) => format!(
            "invalid custom endpoint type {}. Available types are: 'api', 'iam', 'crm', 'compute'",
            text::quoted(&key)
        ),
        ConfigError::EndpointValue(EndpointValue { key, flaw }) => {
            format!(
                "invalid custom endpoint value for {}: {flaw}",
                text::quoted(&key)
            )
        }
        ConfigError::CredentialsTwice => {
            "only one of 'credentials' or 'identity_token_audience' can be set".to_owned()
        }
        ConfigError::ServiceAccountMissing => {
            "missing required 'service_account_email' when 'identity_token_audience' is set"
                .to_owned()
        }
        ConfigError::ServiceAccountEmail => {
            "invalid 'service_account_email': it is not the email address of a service account"
                .to_owned()
        }
        ConfigError::IdentityToken(error) => {
            format!("failed to generate plugin identity token: {error}")
        }
        ConfigError::RotationSchedule(flaw) => {
            format!("failed to parse provided rotation_schedule: {flaw}")
        }
        ConfigError::RotationTwice => "mutually exclusive fields rotation_schedule and rotation_period were both specified; only one of them can be provided".to_owned(),
        ConfigError::WindowWithoutSchedule => {
            "cannot use rotation_window without rotation_schedule".to_owned()
        }
        ConfigError::WindowWithPeriod => "rotation_window does not apply to period".to_owned(),
        error @ (ConfigError::TooLong(_) | ConfigError::TooLarge) => error.to_string(),
    };
    ApiError::listed(400, text)
}

fn metadata(role_type: RoleType, flaw: &MetadataError) -> String {
    match flaw {
        MetadataError::DefaultWithOthers(names) => format!(
            "failed to parse {role_type} metadata: {} contains default - default can't be used in combination with other fields",
            text::quoted_list(names)
        ),
        MetadataError::Unavailable(Unavailable { name, available }) => format!(
            "failed to parse {role_type} metadata: {} contains an unavailable field, please select from {}",
            text::quoted(name),
            text::quoted(&available.join(", "))
        ),
    }
}

/// A warning about a configuration that was stored.
pub(super) fn warning(warning: &ConfigWarning) -> String {
    match warning {
        ConfigWarning::KeysFromForeignHost => "\"custom_endpoint\" lets public keys come from a host that is not Google's (\"api\"): its operator decides who can log in".to_owned(),
    }
}
