//! The tuning of an enabled mount: `sys/auth/<path>/tune` and `sys/mounts/auth/<path>/tune` (contract 6.3).

use gatehouse_access::{Access, MountTuning, MountView, Operation, TuneError, UserLockout};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Configuration, PLUGIN_VERSION, members, shown_options, unknown_visibility};
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
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
        // Unlike a listing this shows what applies, not what was set.
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

/// Answers a request for the tuning of the mount at `path`.
pub(in crate::vault) fn handle(access: &impl Access, call: &Call<'_>, path: &str) -> Answer {
    match call.operation {
        Operation::Read => match access.read_mount(path)? {
            Some(mount) => {
                let tuning = members(&Tuning::from(&mount))?;
                Ok(Some(Reply::copied(tuning)))
            }
            None => Err(Fault::plain(
                400,
                format!(
                    "cannot fetch sysview for path {}",
                    quoted(&format!("auth/{path}/"))
                ),
            )),
        },
        Operation::Update => {
            let fields = call.fields()?;
            check_plugin_version(&fields)?;
            let tuning = tuning(&fields)?;
            access
                .tune_mount(path, &tuning)
                .map_err(|error| fault(error, &tuning, path))?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// Methods are built in, so there is one version of each.
fn check_plugin_version(fields: &Fields<'_>) -> Result<(), Fault> {
    match fields.string("plugin_version")?.as_deref() {
        None | Some("" | PLUGIN_VERSION) => Ok(()),
        Some(_) => Err(Fault::plain(
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
        user_lockout: user_lockout(fields)?,
        identity_token_key: fields.string("identity_token_key")?,
        options: fields.map("options")?.map(|it| it.into_iter().collect()),
    })
}

/// Seconds, 0 for the system's value; `None` leaves the lease alone.
fn lease(fields: &Fields<'_>, name: &'static str) -> Result<Option<u64>, ConversionError> {
    match fields.string(name)?.as_deref() {
        None | Some("") => Ok(None),
        Some("system" | "-1") => Ok(Some(0)),
        Some(_) => fields.duration(name),
    }
}

/// A list without its empty elements, as a command line sends one to clear what was set.
fn names(fields: &Fields<'_>, name: &'static str) -> Result<Option<Vec<String>>, ConversionError> {
    let names = fields.list(name)?;
    Ok(names.map(|names| names.into_iter().filter(|name| !name.is_empty()).collect()))
}

/// The field `user_lockout_config`.
pub(super) fn user_lockout(fields: &Fields<'_>) -> Result<Option<UserLockout>, ConversionError> {
    let Some(lockout) = fields.object("user_lockout_config")? else {
        return Ok(None);
    };
    let duration = |name| Ok(lockout.duration(name)?.unwrap_or_default());
    let threshold = lockout.integer("lockout_threshold")?.unwrap_or_default();
    Ok(Some(UserLockout {
        threshold: u64::try_from(threshold).unwrap_or_default(),
        duration: duration("lockout_duration")?,
        counter_reset: duration("lockout_counter_reset_duration")?,
        disabled: lockout.boolean("lockout_disable")?.unwrap_or_default(),
    }))
}

fn fault(error: TuneError, tuning: &MountTuning, path: &str) -> Fault {
    let text = match error {
        TuneError::Failure(failure) => return failure.into(),
        TuneError::NoMount => format!(
            "tune of path {} failed: no mount entry found",
            quoted(&format!("auth/{path}/"))
        ),
        TuneError::MaxBelowDefault {
            default_ttl,
            max_ttl,
        } => format!(
            "backend max lease TTL of {max_ttl} would be less than backend default lease TTL of {default_ttl}"
        ),
        TuneError::InvalidTokenType => "invalid value for 'token_type'".to_owned(),
        TuneError::TokenMountType => {
            "'token_type' cannot be set for 'token' or 'ns_token' auth mounts".to_owned()
        }
        TuneError::InvalidListingVisibility => {
            return unknown_visibility(tuning.listing_visibility.as_deref());
        }
        TuneError::TooLong(error) => error.to_string(),
    };
    Fault::plain(400, text)
}
