//! The tuning of an enabled mount: `sys/auth/<path>/tune` and `sys/mounts/auth/<path>/tune` (contract 6.3).

use gatehouse_access_api::{
    AdmissionError, Capability, Leases, LookupError, MountTuning, MountView, Operation,
    TokenReference, TuneError,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Configuration, PLUGIN_VERSION, members, shown_options, unknown_visibility};
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::{ApiError, refusal};
use crate::vault::fields::{ConversionError, Fields};
use crate::vault::text::quoted;

#[derive(Serialize)]
struct Tuning<'a> {
    description: &'a str,
    #[serde(flatten)]
    configuration: Configuration<'a>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
}

impl<'a> From<&'a MountView> for Tuning<'a> {
    fn from(mount: &'a MountView) -> Self {
        // Unlike a list, this shows the values that apply, not those that were set.
        let configuration = Configuration {
            default_lease_ttl: mount.leases.default_ttl,
            max_lease_ttl: mount.leases.max_ttl,
            ..Configuration::from(&mount.configuration)
        };
        Self {
            description: &mount.description,
            configuration,
            options: shown_options(mount),
        }
    }
}

/// GET `sys/auth/<path>/tune`, `sys/mounts/auth/<path>/tune`
pub(in crate::vault) fn read(call: &Call<'_>) -> Answer {
    let path = call.captured("path")?;
    let mount = mount(call, path)?.ok_or_else(|| {
        let path = quoted(&format!("auth/{path}/"));
        ApiError::plain(400, format!("cannot fetch sysview for path {path}"))
    })?;
    Ok(Some(Reply::copied(members(&Tuning::from(&mount))?)))
}

/// POST `sys/auth/<path>/tune`, `sys/mounts/auth/<path>/tune`
pub(in crate::vault) fn write(call: &Call<'_>) -> Answer {
    let path = call.captured("path")?;
    let mount = mount(call, path)?;
    let fields = call.fields()?;
    check_plugin_version(&fields)?;
    check_lockout(&fields)?;
    let tuning = tuning(&fields)?;
    let access = call.server.access;
    access
        .tune_mount(mount.as_ref().map_or(path, |mount| &mount.path), &tuning)
        .map_err(|error| api_error(error, &tuning, path))?;
    Ok(None)
}

/// The mount whose path is `path` or the beginning of `path`.
fn mount(call: &Call<'_>, path: &str) -> Result<Option<MountView>, ApiError> {
    let mount = call.server.access.find_mount(path)?;
    if let Some(mount) = &mount
        && mount.path.trim_end_matches('/') != path
    {
        require_rights_at(call, path, mount)?;
    }
    Ok(mount)
}

/// Refuses a caller without a right to the tuning at the mount's own path. A path below that one must not bypass a rule that denies it (SEC-A2).
fn require_rights_at(call: &Call<'_>, path: &str, mount: &MountView) -> Result<(), ApiError> {
    let family = call.path.strip_suffix("/tune");
    let family = family.and_then(|before| before.strip_suffix(path));
    let own = format!("{}{}tune", family.ok_or_else(ApiError::denied)?, mount.path);
    let token = &TokenReference::Id(call.caller_token()?.into());
    let found = call.server.access.capabilities(token, &[own]);
    let found = found.map_err(|error| match error {
        LookupError::UnknownToken => refusal(AdmissionError::InvalidToken, ""),
        LookupError::Failure(failure) => failure.into(),
    })?;
    let has = |capability| found.iter().flatten().any(|it| *it == capability);
    let needed = match call.operation {
        Operation::Read => Capability::Read,
        _ => Capability::Update,
    };
    let has_sudo = has(Capability::Sudo) || !call.path.starts_with("sys/auth/");
    if has(Capability::Root) || (has(needed) && has_sudo) {
        Ok(())
    } else {
        Err(ApiError::denied())
    }
}

/// A method that checks signatures has no passwords to guess, so it has no lockout.
fn check_lockout(fields: &Fields<'_>) -> Result<(), ApiError> {
    let lockout = fields.object("user_lockout_config")?;
    if lockout.is_some_and(|lockout| !lockout.unknown().is_empty()) {
        let text = "tuning of user lockout configuration for auth type \"gcp\" not allowed";
        return Err(ApiError::plain(400, text));
    }
    Ok(())
}

/// The methods are built in, so each has only one version.
fn check_plugin_version(fields: &Fields<'_>) -> Result<(), ApiError> {
    match fields.string("plugin_version")?.as_deref() {
        None | Some("" | PLUGIN_VERSION) => Ok(()),
        Some(_) => Err(ApiError::plain(
            400,
            format!(
                "the only version of this plugin is {PLUGIN_VERSION}: leave plugin_version out"
            ),
        )),
    }
}

fn tuning(fields: &Fields<'_>) -> Result<MountTuning, ConversionError> {
    Ok(MountTuning {
        default_lease_ttl: lease(fields, "default_lease_ttl")?,
        max_lease_ttl: lease(fields, "max_lease_ttl")?,
        description: fields.string("description")?,
        token_type: fields.string("token_type")?,
        listing_visibility: fields.string("listing_visibility")?,
        audit_non_hmac_request_keys: names(fields, "audit_non_hmac_request_keys")?,
        audit_non_hmac_response_keys: names(fields, "audit_non_hmac_response_keys")?,
        passthrough_request_headers: names(fields, "passthrough_request_headers")?,
        allowed_response_headers: names(fields, "allowed_response_headers")?,
        identity_token_key: fields.string("identity_token_key")?,
        trim_request_trailing_slashes: fields.boolean("trim_request_trailing_slashes")?,
        options: fields.map("options")?,
    })
}

/// A lifetime in seconds, 0 for the system's value; `None` leaves it unchanged.
fn lease(fields: &Fields<'_>, name: &'static str) -> Result<Option<u64>, ConversionError> {
    match fields.string(name)?.as_deref() {
        None | Some("") => Ok(None),
        Some("system") => Ok(Some(0)),
        Some(_) => fields.duration(name),
    }
}

/// A list without its empty elements: a command line sends an empty one to clear the list.
fn names(fields: &Fields<'_>, name: &'static str) -> Result<Option<Vec<String>>, ConversionError> {
    let names = fields.list(name)?;
    Ok(names.map(|names| names.into_iter().filter(|name| !name.is_empty()).collect()))
}

fn api_error(error: TuneError, tuning: &MountTuning, path: &str) -> ApiError {
    let text = match error {
        TuneError::Failure(failure) => return failure.into(),
        TuneError::NoMount => format!(
            "tune of path {} failed: no mount entry found",
            quoted(&format!("auth/{path}/"))
        ),
        TuneError::MaxBelowDefault(Leases {
            default_ttl,
            max_ttl,
        }) => format!(
            "backend max lease TTL of {max_ttl} would be less than backend default lease TTL of {default_ttl}"
        ),
        TuneError::InvalidTokenType => "invalid value for 'token_type'".to_owned(),
        TuneError::TokenMountType => {
            "'token_type' cannot be set for 'token' or 'ns_token' auth mounts".to_owned()
        }
        TuneError::InvalidListingVisibility => {
            return unknown_visibility(tuning.listing_visibility.as_deref());
        }
        TuneError::UnknownIdentityTokenKey => error.to_string(),
        TuneError::TooLong(error) => error.to_string(),
    };
    ApiError::plain(400, text)
}
