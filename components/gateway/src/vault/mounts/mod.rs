//! Auth mounts: `sys/auth` (contract 6.3).

pub(super) mod remount;
pub(super) mod system_mounts;
pub(super) mod tuning;

use gatehouse_access_api::{
    ListingVisibility, MountConfiguration, MountError, MountRequest, MountTokenType, MountView,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::{ConversionError, Fields};
use super::text::excerpt;

/// The version of the built-in methods, as clients see it.
pub(super) const PLUGIN_VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"), "+builtin");

/// The maximum number of bytes of a caller's text in a message.
const SHOWN_BYTES: usize = 64;

#[derive(Serialize)]
struct Mount<'a> {
    accessor: &'a str,
    config: Configuration<'a>,
    deprecation_status: &'static str,
    description: &'a str,
    external_entropy_access: bool,
    local: bool,
    options: Map<String, Value>,
    plugin_version: &'static str,
    running_plugin_version: &'static str,
    running_sha256: &'static str,
    seal_wrap: bool,
    #[serde(rename = "type")]
    mount_type: &'a str,
    uuid: &'a str,
}

#[derive(Serialize)]
struct Configuration<'a> {
    default_lease_ttl: u64,
    force_no_cache: bool,
    max_lease_ttl: u64,
    token_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    listing_visibility: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    audit_non_hmac_request_keys: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    audit_non_hmac_response_keys: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    passthrough_request_headers: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    allowed_response_headers: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_token_key: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    trim_request_trailing_slashes: bool,
}

impl<'a> From<&'a MountView> for Mount<'a> {
    fn from(mount: &'a MountView) -> Self {
        Self {
            accessor: &mount.accessor,
            config: (&mount.configuration).into(),
            deprecation_status: "supported",
            description: &mount.description,
            external_entropy_access: mount.external_entropy_access,
            local: mount.local,
            options: shown_options(mount),
            plugin_version: "",
            running_plugin_version: PLUGIN_VERSION,
            running_sha256: "",
            seal_wrap: mount.seal_wrap,
            mount_type: &mount.mount_type,
            uuid: &mount.id,
        }
    }
}

impl<'a> From<&'a MountConfiguration> for Configuration<'a> {
    fn from(configuration: &'a MountConfiguration) -> Self {
        Self {
            default_lease_ttl: configuration.default_lease_ttl,
            force_no_cache: configuration.force_no_cache,
            max_lease_ttl: configuration.max_lease_ttl,
            token_type: token_type(configuration.token_type),
            listing_visibility: configuration.listing_visibility.map(
                |visibility| match visibility {
                    ListingVisibility::Hidden => "hidden",
                    ListingVisibility::Unauthenticated => "unauth",
                },
            ),
            audit_non_hmac_request_keys: &configuration.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: &configuration.audit_non_hmac_response_keys,
            passthrough_request_headers: &configuration.passthrough_request_headers,
            allowed_response_headers: &configuration.allowed_response_headers,
            identity_token_key: configuration.identity_token_key.as_deref(),
            trim_request_trailing_slashes: configuration.trim_request_trailing_slashes,
        }
    }
}

/// The name of a mount's token type.
pub(super) const fn token_type(token_type: MountTokenType) -> &'static str {
    match token_type {
        MountTokenType::DefaultService => "default-service",
        MountTokenType::DefaultBatch => "default-batch",
        MountTokenType::Service => "service",
        MountTokenType::Batch => "batch",
    }
}

/// `sys/auth`
pub(super) fn list(call: &Call<'_>) -> Answer {
    let mut data = Map::new();
    for mount in call.server.access.list_mounts()? {
        data.insert(mount.path.clone(), Value::Object(listed_members(&mount)?));
    }
    Ok(Some(Reply::copied(data)))
}

/// POST `sys/auth/<path>`
pub(super) fn enable(call: &Call<'_>) -> Answer {
    let request = mount_request(&call.fields()?)?;
    let access = call.server.access;
    let enabled = access.enable_mount(call.captured("path")?, &request);
    enabled.map_err(|error| match error {
        MountError::InvalidListingVisibility => {
            unknown_visibility(request.listing_visibility.as_deref())
        }
        error => api_error(error),
    })?;
    Ok(None)
}

/// DELETE `sys/auth/<path>`: the tokens end with the mount. The data that the method kept for it cannot be reached any more, even if it is deleted
/// only later.
pub(super) fn disable(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    if let Some(id) = access
        .disable_mount(call.captured("path")?)
        .map_err(api_error)?
    {
        // The mount is disabled even if this fails. The failure is logged, and background work tries again.
        let _ = call.server.forget_disabled_mount(&id);
    }
    Ok(None)
}

/// GET `sys/auth/<path>`, `sys/mounts/auth/<path>`
pub(super) fn read(call: &Call<'_>) -> Answer {
    let path = call.captured("path")?;
    match call.server.access.read_mount(path)? {
        Some(mount) => Ok(Some(Reply::copied(listed_members(&mount)?))),
        None => Err(ApiError::plain(400, format!("No auth engine at {path}/"))),
    }
}

/// The members of a mount in lists.
pub(super) fn listed_members(mount: &MountView) -> Result<Map<String, Value>, ApiError> {
    members(&Mount::from(mount))
}

/// The options of a mount.
pub(super) fn shown_options(mount: &MountView) -> Map<String, Value> {
    let option = |(name, value): &(String, String)| (name.clone(), value.as_str().into());
    mount.options.iter().map(option).collect()
}

fn members(shown: &impl Serialize) -> Result<Map<String, Value>, ApiError> {
    match serde_json::to_value(shown) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(ApiError::internal("a mount could not be written as JSON")),
    }
}

fn mount_request(fields: &Fields<'_>) -> Result<MountRequest, ConversionError> {
    let mut request = MountRequest {
        mount_type: fields.string("type")?.unwrap_or_default(),
        description: fields.string("description")?.unwrap_or_default(),
        options: options(fields)?,
        local: fields.boolean("local")?.unwrap_or_default(),
        seal_wrap: fields.boolean("seal_wrap")?.unwrap_or_default(),
        external_entropy_access: fields
            .boolean("external_entropy_access")?
            .unwrap_or_default(),
        ..MountRequest::default()
    };
    // Unknown members of `config` are ignored: clients send all members that their version has.
    if let Some(config) = fields.object("config")? {
        let list = |name| Ok(config.list(name)?.unwrap_or_default());
        request.default_lease_ttl = lease(&config, "default_lease_ttl")?;
        request.max_lease_ttl = lease(&config, "max_lease_ttl")?;
        request.force_no_cache = config.boolean("force_no_cache")?.unwrap_or_default();
        request.token_type = config.string("token_type")?;
        request.listing_visibility = config.string("listing_visibility")?;
        request.audit_non_hmac_request_keys = list("audit_non_hmac_request_keys")?;
        request.audit_non_hmac_response_keys = list("audit_non_hmac_response_keys")?;
        request.passthrough_request_headers = list("passthrough_request_headers")?;
        request.allowed_response_headers = list("allowed_response_headers")?;
        request.identity_token_key = config.string("identity_token_key")?;
        let trims = config.boolean("trim_request_trailing_slashes")?;
        request.trim_request_trailing_slashes = trims.unwrap_or_default();
        if request.options.is_empty() {
            request.options = options(&config)?;
        }
    }
    Ok(request)
}

fn options(fields: &Fields<'_>) -> Result<Vec<(String, String)>, ConversionError> {
    Ok(fields.map("options")?.unwrap_or_default())
}

/// A lifetime in seconds; 0 for the system's value.
fn lease(config: &Fields<'_>, name: &'static str) -> Result<u64, ConversionError> {
    if config.string(name)?.as_deref() == Some("system") {
        return Ok(0);
    }
    Ok(config.duration(name)?.unwrap_or_default())
}

/// The refusal of an unknown listing visibility.
fn unknown_visibility(name: Option<&str>) -> ApiError {
    let name = excerpt(name.unwrap_or_default(), SHOWN_BYTES);
    ApiError::plain(400, format!("invalid listing_visibility {name}"))
}

fn api_error(error: MountError) -> ApiError {
    match error {
        MountError::Failure(failure) => failure.into(),
        // The texts of the other errors are those of the contract.
        error => ApiError::plain(400, error.to_string()),
    }
}
