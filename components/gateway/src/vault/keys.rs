//! `sys/key-status`, `sys/rotate` and `sys/rotate/config`: the key that seals the stored data (SEC-K4).

use gatehouse_ports::key_rotation::{FEWEST_OPERATIONS, MOST_OPERATIONS, SHORTEST_INTERVAL};
use serde_json::{Map, Value, json};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use crate::host::{Keys, RotationPolicy, SealError};

/// The keys of the host.
fn keys<'a>(call: &Call<'a>) -> Result<&'a dyn Keys, SealError> {
    match &call.server.host.keys {
        Some(keys) => Ok(&**keys),
        None => Err(SealError::Unavailable("this host keeps no keys".to_owned())),
    }
}

/// `sys/key-status`
pub(super) fn status(call: &Call<'_>) -> Answer {
    let key = keys(call)?.current()?;
    let installed_at = i64::try_from(key.installed_at)
        .ok()
        .and_then(|at| jiff::Timestamp::from_millisecond(at).ok())
        .unwrap_or(jiff::Timestamp::MAX);
    Ok(Some(Reply::copied(Map::from_iter([
        ("term".to_owned(), key.term.into()),
        ("install_time".to_owned(), installed_at.to_string().into()),
        ("encryptions".to_owned(), key.encryptions.into()),
    ]))))
}

/// `sys/rotate`, for which OpenBao's newer name is `sys/rotate/keyring`
pub(super) fn rotate(call: &Call<'_>) -> Answer {
    keys(call)?.rotate()?;
    Ok(None)
}

/// GET `sys/rotate/config`, for which OpenBao's newer name is `sys/rotate/keyring/config`
pub(super) fn read_policy(call: &Call<'_>) -> Answer {
    Reply::data(&policy_document(keys(call)?.policy()?)).map(Some)
}

fn policy_document(policy: RotationPolicy) -> Value {
    let interval = match policy.interval {
        0 => json!(0),
        seconds => json!(go_duration(seconds)),
    };
    json!({
        "max_operations": policy.max_operations,
        "enabled": policy.enabled,
        "interval": interval,
    })
}

/// A duration of whole seconds in the notation of Go.
fn go_duration(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours}h{minutes}m{seconds}s")
}

/// POST `sys/rotate/config`
pub(super) fn write_policy(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let mut policy = keys(call)?.policy()?;
    if let Some(number) = fields.integer("max_operations")? {
        // A negative number counts as 0, which is below the minimum.
        policy.max_operations = u64::try_from(number).unwrap_or_default();
    }
    if let Some(interval) = fields.duration("interval")? {
        policy.interval = interval;
    }
    if let Some(enabled) = fields.boolean("enabled")? {
        policy.enabled = enabled;
    }
    if policy.interval != 0 && policy.interval < SHORTEST_INTERVAL {
        let text = "interval must be greater or equal to 24h0m0s";
        return Err(ApiError::plain(400, text));
    }
    if !(FEWEST_OPERATIONS..=MOST_OPERATIONS).contains(&policy.max_operations) {
        let text =
            format!("max_operations must be in the range [{FEWEST_OPERATIONS},{MOST_OPERATIONS}]");
        return Err(ApiError::plain(400, text));
    }
    keys(call)?.set_policy(policy)?;
    let ignored = fields.ignored_warning();
    Ok(ignored.map(|warning| Reply::empty().warned([warning])))
}

#[cfg(test)]
mod tests {
    use super::go_duration;

    #[test]
    fn an_interval_is_written_as_go_writes_it() {
        assert_eq!(go_duration(86_400), "24h0m0s");
        assert_eq!(go_duration(90_061), "25h1m1s");
    }
}
