//! Configuration of a mount: what is stored, and what a write does to it (contract 2).

mod changes;
mod credentials;
mod metadata;

pub(crate) use changes::{CredentialsChange, apply};
pub(crate) use credentials::CredentialsRecord;
pub(crate) use metadata::MetadataSelection;

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

use crate::excerpt::excerpt;
use crate::{AliasSource, ConfigView, CredentialsView, CustomEndpoints};

/// Most of an operator's input that an error repeats, in bytes.
const SHOWN_BYTES: usize = 128;

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
        }
    }

    /// The names of the metadata that logins on iam roles give.
    pub(crate) fn iam_metadata_names(&self) -> Vec<String> {
        self.iam_metadata.names(metadata::IAM_FIELDS)
    }
}

fn shown(text: &str) -> String {
    excerpt(text, SHOWN_BYTES)
}
