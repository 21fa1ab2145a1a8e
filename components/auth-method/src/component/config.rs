//! The interface `config`.

use std::borrow::Cow;

use super::bindings::exports::gatehouse::auth_method::config as wit;
use super::bindings::exports::gatehouse::auth_method::types::{Mount, StorageError};
use super::{Component, SERVICE};
use crate::{
    AliasSource, AuthMethod, ConfigChanges, ConfigError, ConfigView, CredentialsFlaw,
    CredentialsView, CustomEndpoints, EndpointFlaw, MetadataFlaw,
};

impl wit::Guest for Component {
    fn read(mount: Mount) -> Result<wit::ConfigView, StorageError> {
        let view = SERVICE.with(|service| service.read_config(&mount.into()))?;
        Ok(view.into())
    }

    fn write(mount: Mount, changes: wit::ConfigChanges) -> Result<(), wit::ConfigError> {
        SERVICE
            .with(|service| service.write_config(&mount.into(), changes.into()))
            .map_err(Into::into)
    }

    fn delete(mount: Mount) -> Result<(), StorageError> {
        Ok(SERVICE.with(|service| service.delete_config(&mount.into()))?)
    }

    fn forget_mount(id: String) -> Result<(), StorageError> {
        Ok(SERVICE.with(|service| service.forget_mount(&id))?)
    }
}

impl From<wit::ConfigChanges> for ConfigChanges {
    fn from(changes: wit::ConfigChanges) -> Self {
        Self {
            credentials: changes.credentials,
            iam_alias: changes.iam_alias,
            gce_alias: changes.gce_alias,
            iam_metadata: changes.iam_metadata,
            gce_metadata: changes.gce_metadata,
            custom_endpoint: changes.custom_endpoint,
        }
    }
}

impl From<AliasSource> for wit::AliasSource {
    fn from(source: AliasSource) -> Self {
        match source {
            AliasSource::RoleId => Self::RoleId,
            AliasSource::Caller => Self::Caller,
        }
    }
}

impl From<CredentialsView> for wit::CredentialsView {
    fn from(view: CredentialsView) -> Self {
        Self {
            client_email: view.client_email,
            client_id: view.client_id,
            private_key_id: view.private_key_id,
            project_id: view.project_id,
        }
    }
}

impl From<CustomEndpoints> for wit::CustomEndpoints {
    fn from(endpoints: CustomEndpoints) -> Self {
        Self {
            api: endpoints.api,
            iam: endpoints.iam,
            crm: endpoints.crm,
            compute: endpoints.compute,
        }
    }
}

impl From<ConfigView> for wit::ConfigView {
    fn from(view: ConfigView) -> Self {
        Self {
            credentials: view.credentials.map(Into::into),
            iam_alias: view.iam_alias.into(),
            gce_alias: view.gce_alias.into(),
            iam_metadata: view.iam_metadata,
            gce_metadata: view.gce_metadata,
            custom_endpoint: view.custom_endpoint.into(),
        }
    }
}

impl From<CredentialsFlaw> for wit::CredentialsFlaw {
    fn from(flaw: CredentialsFlaw) -> Self {
        let saturated = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        match flaw {
            CredentialsFlaw::NotJson { line, column } => Self::NotJson(wit::JsonPosition {
                line: saturated(line),
                column: saturated(column),
            }),
            CredentialsFlaw::TooLong => Self::TooLong,
            CredentialsFlaw::PrivateKeyIdMissing => Self::PrivateKeyIdMissing,
            CredentialsFlaw::NotServiceAccount => Self::NotServiceAccount,
            CredentialsFlaw::ClientEmailMissing => Self::ClientEmailMissing,
            CredentialsFlaw::PrivateKeyUnusable => Self::PrivateKeyUnusable,
        }
    }
}

impl From<MetadataFlaw> for wit::MetadataFlaw {
    fn from(flaw: MetadataFlaw) -> Self {
        match flaw {
            MetadataFlaw::DefaultWithOthers { names } => Self::DefaultWithOthers(names),
            MetadataFlaw::Unavailable { name, available } => {
                let available = available.into_iter().map(Cow::into_owned).collect();
                Self::Unavailable(wit::UnavailableField { name, available })
            }
        }
    }
}

impl From<EndpointFlaw> for wit::EndpointFlaw {
    fn from(flaw: EndpointFlaw) -> Self {
        match flaw {
            EndpointFlaw::NotUrl => Self::NotUrl,
            EndpointFlaw::UserInformation => Self::UserInformation,
            EndpointFlaw::QueryOrFragment => Self::QueryOrFragment,
            EndpointFlaw::Scheme => Self::Scheme,
            EndpointFlaw::PlainHttp => Self::PlainHttp,
            EndpointFlaw::LinkLocal => Self::LinkLocal,
            EndpointFlaw::HostNotAllowed => Self::HostNotAllowed,
        }
    }
}

impl From<ConfigError> for wit::ConfigError {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Credentials(flaw) => Self::Credentials(flaw.into()),
            ConfigError::Alias(role_type) => Self::Alias(role_type.into()),
            ConfigError::Metadata { role_type, flaw } => Self::Metadata(wit::MetadataRefusal {
                role_type: role_type.into(),
                flaw: flaw.into(),
            }),
            ConfigError::EndpointKey(key) => Self::EndpointKey(key),
            ConfigError::EndpointValue { key, flaw } => Self::EndpointValue(wit::EndpointRefusal {
                key: key.into_owned(),
                flaw: flaw.into(),
            }),
            ConfigError::Storage(error) => Self::Storage(error.into()),
        }
    }
}
