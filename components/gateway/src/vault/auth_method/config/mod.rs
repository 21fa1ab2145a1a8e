//! `config` (contract 2).

pub(in crate::vault) mod check;
pub(in crate::vault) mod fields;
pub(crate) mod rotation;
mod text;

use gatehouse_auth_method_api::{AliasSource, ConfigView, CredentialsSource, CustomEndpoints};
use serde::Serialize;

use super::mount;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;

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

/// GET `config`
pub(in crate::vault) fn read(call: &Call<'_>) -> Answer {
    reply(&call.server.auth_method.read_config(&mount(call)?)?).map(Some)
}

/// POST `config`
pub(in crate::vault) fn write(call: &Call<'_>) -> Answer {
    let changes = fields::changes(&call.known_fields()?)?;
    let auth_method = call.server.auth_method;
    let warnings = auth_method
        .write_config(&mount(call)?, changes)
        .map_err(text::api_error)?;
    let has_warnings = !warnings.is_empty();
    Ok(has_warnings.then(|| Reply::empty().warned(warnings.iter().map(text::warning))))
}

/// DELETE `config`
pub(in crate::vault) fn delete(call: &Call<'_>) -> Answer {
    call.server.auth_method.delete_config(&mount(call)?)?;
    Ok(None)
}

fn reply(config: &ConfigView) -> Result<Reply, ApiError> {
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
