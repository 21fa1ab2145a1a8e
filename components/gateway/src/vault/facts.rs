//! Facts that operators and their tools ask about a server: `sys/ha-status`, `sys/host-info`,
//! `sys/version-history`, `sys/replication/status`, `sys/in-flight-req` (contract 6.1).
//!
//! The gateway is a component: it knows neither the machine below it nor other requests. What it does not know it leaves out or empty,
//! as the reference does where it cannot find out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, json};

use super::call::{Answer, Call};
use super::envelope::{self, Reply};
use super::errors::ApiError;
use super::seal::BUILD_DATE;
use super::timestamp::timestamp;
use crate::http::Response;

/// `sys/ha-status`: one server, which is the active one. Under which address clients reach it is for its operator to know.
pub(super) fn ha_status(call: &Call<'_>) -> Answer {
    let nodes = json!([{
        "hostname": "",
        "api_address": "",
        "cluster_address": "",
        "active_node": true,
        "last_echo": null,
        "version": call.server.settings.compatibility_version,
        "echo_duration_ms": 0,
        "clock_skew_ms": 0,
        "replication_primary_canary_age_ms": 0,
    }]);
    let data = Map::from_iter([("nodes".to_owned(), nodes)]);
    Ok(Some(Reply::copied(data)))
}

/// `sys/host-info`: the time.
pub(super) fn host_info(call: &Call<'_>) -> Answer {
    let now = timestamp(call.server.clock.now_seconds());
    let warnings = ["host", "memory", "disk", "cpu", "cpu_times"].map(|what| {
        format!("{what}: the server sees nothing of its machine: ask the machine itself")
    });
    let reply = Reply::data(&json!({ "timestamp": now }))?;
    Ok(Some(reply.warned(warnings)))
}

/// `sys/replication/status`: there is none. Tools that collect what they can about a server stop where this is not answered.
pub(super) fn replication_status(_: &Call<'_>) -> Answer {
    Reply::data(&json!({ "mode": "disabled" })).map(Some)
}

/// `sys/version-history`: the version that clients are told of. Since when it runs is not recorded.
pub(super) fn version_history(call: &Call<'_>) -> Answer {
    let version = call.server.settings.compatibility_version.as_str();
    let known =
        json!({ "timestamp_installed": "", "build_date": BUILD_DATE, "previous_version": null });
    let key_info = BTreeMap::from([(version, known)]);
    Reply::data(&json!({ "keys": [version], "key_info": key_info })).map(Some)
}

/// A request that is being answered.
#[derive(Serialize)]
struct InFlight<'a> {
    start_time: Timestamp,
    client_remote_address: String,
    request_path: &'a str,
    request_method: &'static str,
    client_id: &'a str,
}

/// `sys/in-flight-req`: the request that asks. Others are answered by other instances, which know nothing of each other.
pub(super) fn in_flight(call: &Call<'_>) -> Result<Response, ApiError> {
    let id = match call.request_id {
        Some(id) => id.to_owned(),
        None => call.server.fresh_uuid()?,
    };
    let caller = call.admission.caller.as_ref();
    let entity = caller.and_then(|caller| caller.entity_id.as_deref());
    let request = InFlight {
        start_time: timestamp(call.server.clock.now_seconds()),
        client_remote_address: call.request.peer_text().unwrap_or_default(),
        request_path: &call.request.path,
        request_method: "GET",
        client_id: entity.unwrap_or_default(),
    };
    envelope::bare(200, &BTreeMap::from([(id, request)]))
}
