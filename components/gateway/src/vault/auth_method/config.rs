//! `config`: names, types and texts of its fields (contract 2).

use gatehouse_access::Operation;
use gatehouse_auth_method::{
    AliasSource, AuthMethod, ConfigChanges, ConfigError, ConfigView, CredentialsFlaw,
    CustomEndpoints, MetadataFlaw, Mount, RoleType,
};
use serde::Serialize;

use crate::json::Duplicates;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::text;

const FIELDS: [&str; 7] = [
    "credentials",
    "iam_alias",
    "gce_alias",
    "iam_metadata",
    "gce_metadata",
    "custom_endpoint",
    // Sent by old libraries on every write; has no effect.
    "google_certs_endpoint",
];

#[derive(Serialize)]
struct Config<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    client_email: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_endpoint: Option<&'a CustomEndpoints>,
    disable_automated_rotation: bool,
    gce_alias: &'static str,
    gce_metadata: &'a [String],
    iam_alias: &'static str,
    iam_metadata: &'a [String],
    identity_token_audience: &'static str,
    identity_token_ttl: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    private_key_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    project_id: &'a str,
    rotation_period: u64,
    rotation_policy: &'static str,
    rotation_schedule: &'static str,
    rotation_window: u64,
}

/// Answers a request for `config`.
pub(super) fn handle(
    auth_method: &impl AuthMethod,
    call: &Call<'_>,
    operation: Operation,
    mount: &Mount,
) -> Answer {
    match operation {
        Operation::Read => shown(&auth_method.read_config(mount)?).map(Some),
        Operation::Update => {
            let changes = changes(call)?;
            auth_method.write_config(mount, changes).map_err(fault)?;
            Ok(None)
        }
        Operation::Delete => {
            auth_method.delete_config(mount)?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

fn changes(call: &Call<'_>) -> Result<ConfigChanges, Fault> {
    let fields = call.fields_among(&FIELDS, Duplicates::LastWins)?;
    let endpoints = fields.map("custom_endpoint")?;
    Ok(ConfigChanges {
        credentials: fields.string("credentials")?,
        iam_alias: fields.string("iam_alias")?,
        gce_alias: fields.string("gce_alias")?,
        iam_metadata: fields.list("iam_metadata")?,
        gce_metadata: fields.list("gce_metadata")?,
        custom_endpoint: endpoints.map(|endpoints| endpoints.into_iter().collect()),
    })
}

fn shown(config: &ConfigView) -> Result<Reply, Fault> {
    let alias = |source, caller| match source {
        AliasSource::RoleId => "role_id",
        AliasSource::Caller => caller,
    };
    let credentials = config.credentials.as_ref();
    let endpoints = &config.custom_endpoint;
    Reply::data(&Config {
        client_email: credentials.map_or("", |credentials| &credentials.client_email),
        client_id: credentials.map_or("", |credentials| &credentials.client_id),
        custom_endpoint: (*endpoints != CustomEndpoints::default()).then_some(endpoints),
        gce_alias: alias(config.gce_alias, "instance_id"),
        gce_metadata: &config.gce_metadata,
        iam_alias: alias(config.iam_alias, "unique_id"),
        iam_metadata: &config.iam_metadata,
        private_key_id: credentials.map_or("", |credentials| &credentials.private_key_id),
        project_id: credentials.map_or("", |credentials| &credentials.project_id),
        // Clients expect these keys always. No token is issued for a plugin, and nothing rotates by itself.
        disable_automated_rotation: false,
        identity_token_audience: "",
        identity_token_ttl: 3600,
        rotation_period: 0,
        rotation_policy: "",
        rotation_schedule: "",
        rotation_window: 0,
    })
}

fn fault(error: ConfigError) -> Fault {
    let text = match error {
        ConfigError::Storage(error) => return error.into(),
        ConfigError::Credentials(flaw @ CredentialsFlaw::PrivateKeyIdMissing) => flaw.to_string(),
        ConfigError::Credentials(flaw) => format!("failed to read credentials: {flaw}"),
        ConfigError::Alias(RoleType::Iam) => {
            "invalid IAM alias type: must be one of: role_id, unique_id".to_owned()
        }
        ConfigError::Alias(RoleType::Gce) => {
            "invalid GCE alias type: must be one of: instance_id, role_id".to_owned()
        }
        ConfigError::Metadata { role_type, flaw } => metadata_text(role_type, &flaw),
        ConfigError::EndpointKey(key) => format!(
            "invalid custom endpoint type {}. Available types are: 'api', 'iam', 'crm', 'compute'",
            text::quoted(&key)
        ),
        ConfigError::EndpointValue { key, flaw } => {
            format!(
                "invalid custom endpoint value for {}: {flaw}",
                text::quoted(&key)
            )
        }
    };
    Fault::listed(400, text)
}

fn metadata_text(role_type: RoleType, flaw: &MetadataFlaw) -> String {
    match flaw {
        MetadataFlaw::DefaultWithOthers { names } => format!(
            "failed to parse {role_type} metadata: {} contains default - default can't be used in combination with other fields",
            text::quoted_list(names)
        ),
        MetadataFlaw::Unavailable { name, available } => format!(
            "failed to parse {role_type} metadata: {} contains an unavailable field, please select from {}",
            text::quoted(name),
            text::quoted(&available.join(", "))
        ),
    }
}
