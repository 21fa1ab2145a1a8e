//! Configuration of a mount: what is stored, and what a write does to it (contract 2).

mod changes;
mod check;
mod credentials;
mod metadata;
mod rotation;
mod store;

pub(crate) use changes::{Applied, apply};
pub(crate) use credentials::{CredentialsRecord, read_key_file};
pub(crate) use metadata::MetadataSelection;

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

use crate::{
    AliasSource, ConfigView, CredentialsSource, CredentialsView, CustomEndpoints, RoleType,
    RotationSettings,
};

/// Seconds that an identity token for federation is valid when the operator does not say.
const DEFAULT_IDENTITY_TOKEN_LIFETIME: u64 = 3600;

/// The configuration as it is stored. The private key is in a record of its own, which logins do not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfigRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<CredentialsIdentity>,
    #[serde(default)]
    pub(crate) iam_alias: AliasSource,
    #[serde(default)]
    pub(crate) gce_alias: AliasSource,
    #[serde(default)]
    pub(crate) iam_metadata: MetadataSelection,
    #[serde(default)]
    pub(crate) gce_metadata: MetadataSelection,
    #[serde(default)]
    pub(crate) custom_endpoint: CustomEndpoints,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) service_account_email: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) identity_token_audience: String,
    /// Seconds; 0 for the default.
    #[serde(default)]
    pub(crate) identity_token_ttl: u64,
    #[serde(default)]
    pub(crate) rotation: RotationSettings,
    /// Since when `rotation` is as it is, in seconds since 1970: times before that are not made up for.
    #[serde(default)]
    pub(crate) rotation_since: u64,
}

impl Record for ConfigRecord {
    const SCHEMA: u16 = 1;
}

/// The members of a key file that are no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CredentialsIdentity {
    pub(crate) client_email: String,
    pub(crate) client_id: String,
    pub(crate) private_key_id: String,
    pub(crate) project_id: String,
    /// Since when the key is in use, in seconds since 1970.
    #[serde(default)]
    pub(crate) since: u64,
}

impl ConfigRecord {
    pub(crate) fn view(&self) -> ConfigView {
        ConfigView {
            credentials: self.credentials.clone().map(|identity| CredentialsView {
                client_email: identity.client_email,
                client_id: identity.client_id,
                private_key_id: identity.private_key_id,
                project_id: identity.project_id,
            }),
            iam_alias: self.iam_alias,
            gce_alias: self.gce_alias,
            iam_metadata: self.iam_metadata.names(metadata::IAM_FIELDS),
            gce_metadata: self.gce_metadata.names(metadata::GCE_FIELDS),
            custom_endpoint: self.custom_endpoint.clone(),
            credentials_source: self.credentials_source(),
            service_account_email: self.service_account_email.clone(),
            identity_token_audience: self.identity_token_audience.clone(),
            identity_token_ttl: self.identity_token_lifetime(),
            rotation: self.rotation.clone(),
        }
    }

    /// Where access tokens come from (contract 2.6).
    pub(crate) const fn credentials_source(&self) -> CredentialsSource {
        if self.credentials.is_some() {
            CredentialsSource::Static
        } else if !self.identity_token_audience.is_empty() {
            CredentialsSource::Federation
        } else {
            CredentialsSource::ApplicationDefault
        }
    }

    /// Seconds that an identity token for federation is valid.
    pub(crate) const fn identity_token_lifetime(&self) -> u64 {
        match self.identity_token_ttl {
            0 => DEFAULT_IDENTITY_TOKEN_LIFETIME,
            seconds => seconds,
        }
    }

    /// The source of the names of entities under roles of this type.
    pub(crate) const fn alias(&self, role_type: RoleType) -> AliasSource {
        match role_type {
            RoleType::Iam => self.iam_alias,
            RoleType::Gce => self.gce_alias,
        }
    }

    /// The names of the metadata that logins on roles of this type give.
    pub(crate) fn metadata_names(&self, role_type: RoleType) -> Vec<String> {
        match role_type {
            RoleType::Iam => self.iam_metadata.names(metadata::IAM_FIELDS),
            RoleType::Gce => self.gce_metadata.names(metadata::GCE_FIELDS),
        }
    }
}
