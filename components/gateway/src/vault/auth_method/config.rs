//! `config`: names and types of its fields (contract 2).

pub(in crate::vault) mod check;
pub(crate) mod rotation;
mod text;

use gatehouse_access_api::Operation;
use gatehouse_auth_method_api::{
    AliasSource, AuthMethod, ConfigChanges, ConfigView, CredentialsSource, CustomEndpoints, Mount,
};
use serde::Serialize;

use crate::http::Request;
use crate::vault::call::{Answer, Call, fields_among};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;

pub(in crate::vault) const FIELDS: [&str; 15] = [
    "credentials",
    "iam_alias",
    "gce_alias",
    "iam_metadata",
    "gce_metadata",
    "custom_endpoint",
    "service_account_email",
    "identity_token_audience",
    "identity_token_ttl",
    "rotation_schedule",
    "rotation_period",
    "rotation_window",
    "rotation_policy",
    "disable_automated_rotation",
    // Sent by old libraries on every write; has no effect.
    "google_certs_endpoint",
];

#[derive(Serialize)]
struct Config<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    client_email: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_id: &'a str,
    credentials_source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_endpoint: Option<&'a CustomEndpoints>,
    disable_automated_rotation: bool,
    gce_alias: &'static str,
    gce_metadata: &'a [String],
    iam_alias: &'static str,
    iam_metadata: &'a [String],
    identity_token_audience: &'a str,
    identity_token_ttl: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    private_key_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    project_id: &'a str,
    rotation_period: u64,
    rotation_policy: &'a str,
    rotation_schedule: &'a str,
    rotation_window: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    service_account_email: &'a str,
}

/// Answers a request for `config`.
pub(super) fn handle(
    auth_method: &dyn AuthMethod,
    call: &Call<'_>,
    operation: Operation,
    mount: &Mount,
) -> Answer {
    match operation {
        Operation::Read => shown(&auth_method.read_config(mount)?).map(Some),
        Operation::Update => {
            let changes = changes(call.request)?;
            let warnings = auth_method
                .write_config(mount, changes)
                .map_err(text::fault)?;
            let has_warnings = !warnings.is_empty();
            Ok(has_warnings.then(|| Reply::empty().warned(warnings.iter().map(text::warning))))
        }
        Operation::Delete => {
            auth_method.delete_config(mount)?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// What the body of a write says.
pub(in crate::vault) fn changes(request: &Request) -> Result<ConfigChanges, Fault> {
    let fields = fields_among(request, &FIELDS)?;
    Ok(ConfigChanges {
        credentials: fields.string("credentials")?,
        iam_alias: fields.string("iam_alias")?,
        gce_alias: fields.string("gce_alias")?,
        iam_metadata: fields.list("iam_metadata")?,
        gce_metadata: fields.list("gce_metadata")?,
        custom_endpoint: fields.map("custom_endpoint")?,
        service_account_email: fields.string("service_account_email")?,
        identity_token_audience: fields.string("identity_token_audience")?,
        identity_token_ttl: fields.duration("identity_token_ttl")?,
        rotation_schedule: fields.string("rotation_schedule")?,
        rotation_period: fields.duration("rotation_period")?,
        rotation_window: fields.duration("rotation_window")?,
        rotation_policy: fields.string("rotation_policy")?,
        disable_automated_rotation: fields.boolean("disable_automated_rotation")?,
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
        credentials_source: source(config.credentials_source),
        custom_endpoint: (*endpoints != CustomEndpoints::default()).then_some(endpoints),
        gce_alias: alias(config.gce_alias, "instance_id"),
        gce_metadata: &config.gce_metadata,
        iam_alias: alias(config.iam_alias, "unique_id"),
        iam_metadata: &config.iam_metadata,
        private_key_id: credentials.map_or("", |credentials| &credentials.private_key_id),
        project_id: credentials.map_or("", |credentials| &credentials.project_id),
        disable_automated_rotation: config.rotation.disabled,
        identity_token_audience: &config.identity_token_audience,
        identity_token_ttl: config.identity_token_ttl,
        rotation_period: config.rotation.period,
        rotation_policy: &config.rotation.policy,
        rotation_schedule: &config.rotation.schedule,
        rotation_window: config.rotation.window,
        service_account_email: &config.service_account_email,
    })
}

const fn source(source: CredentialsSource) -> &'static str {
    match source {
        CredentialsSource::Static => "static",
        CredentialsSource::Federation => "wif",
        CredentialsSource::ApplicationDefault => "adc",
    }
}
