//! `sys/key-status`, `sys/rotate` and `sys/rotate/config`: the key that seals what is stored (SEC-K4).

use gatehouse_access_api::Operation;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call, ignored_fields};
use super::ceremonies;
use super::envelope::Reply;
use super::errors::Fault;
use crate::host::RotationPolicy;
use crate::vault::server::Server;

/// What `max_operations` may be: at most nine tenths of 2^32, as clients of the protocol know it.
const FEWEST_OPERATIONS: u64 = 1_000_000;
const MOST_OPERATIONS: u64 = 3_865_470_566;
/// The shortest `interval` that is not 0, in seconds.
const SHORTEST_INTERVAL: u64 = 24 * 60 * 60;

const POLICY_FIELDS: [&str; 3] = ["max_operations", "interval", "enabled"];

/// Answers a request for `sys/key-status`.
pub(super) fn status(server: &Server<'_>, operation: Operation) -> Answer {
    if operation != Operation::Read {
        return Err(Fault::unsupported_operation());
    }
    let key = server.host.keys.current()?;
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

/// Answers a request for `sys/rotate` or below it: the names of Vault, and those that OpenBao has given the same things since.
pub(super) fn rotate(server: &Server<'_>, call: &Call<'_>, below: &str) -> Answer {
    match (below, call.operation) {
        ("" | "keyring", Operation::Update) => {
            server.host.keys.rotate()?;
            Ok(None)
        }
        ("config" | "keyring/config", Operation::Read) => {
            Ok(Some(Reply::data(&shown(server.host.keys.policy()?))?))
        }
        ("config" | "keyring/config", Operation::Update) => configure(server, call),
        ("" | "keyring" | "config" | "keyring/config", _) => Err(Fault::unsupported_operation()),
        (below, _) => match below.split_once('/') {
            Some(("root", step)) => ceremonies::with_token(server, call, step),
            Some(("recovery", _)) => Err(ceremonies::no_recovery_keys()),
            _ => Err(Fault::unsupported_path()),
        },
    }
}

fn shown(policy: RotationPolicy) -> Value {
    let interval = match policy.interval {
        0 => json!(0),
        seconds => json!(written(seconds)),
    };
    json!({
        "max_operations": policy.max_operations,
        "enabled": policy.enabled,
        "interval": interval,
    })
}

/// As Go writes a duration of whole seconds.
fn written(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours}h{minutes}m{seconds}s")
}

fn configure(server: &Server<'_>, call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let mut policy = server.host.keys.policy()?;
    if let Some(number) = fields.integer("max_operations")? {
        // What is negative is below the smallest.
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
        return Err(Fault::plain(400, text));
    }
    if !(FEWEST_OPERATIONS..=MOST_OPERATIONS).contains(&policy.max_operations) {
        let text =
            format!("max_operations must be in the range [{FEWEST_OPERATIONS},{MOST_OPERATIONS}]");
        return Err(Fault::plain(400, text));
    }
    server.host.keys.set_policy(policy)?;
    let ignored = ignored_fields(&fields, &POLICY_FIELDS);
    Ok(ignored.map(|warning| Reply::empty().warned([warning])))
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn an_interval_is_written_as_go_writes_it() {
        assert_eq!(written(86_400), "24h0m0s");
        assert_eq!(written(90_061), "25h1m1s");
    }
}
