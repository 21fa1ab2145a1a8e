//! Facts about a server for operators and their tools: `sys/ha-status`, `sys/host-info`, `sys/version-history`, `sys/replication/status`,
//! `sys/in-flight-req` (contract 6.1).
//!
//! The gateway is a component. It knows neither the machine that it runs on nor other requests, and knows about other servers only what its host
//! tells it. Unknown facts are left out or empty, as in the reference.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, json};

use super::call::{Answer, Call};
use super::envelope::{self, Reply};
use super::errors::ApiError;
use super::seal::BUILD_DATE;
use super::timestamp::timestamp;
use crate::host::Node;
use crate::http::Response;

/// A server of the cluster. All servers are active: each serves every request by itself.
#[derive(Serialize)]
struct ClusterNode {
    hostname: String,
    api_address: String,
    cluster_address: &'static str,
    active_node: bool,
    /// The time at which the server was last seen; `None` for the answering server.
    last_echo: Option<Timestamp>,
    version: String,
    echo_duration_ms: u32,
    clock_skew_ms: i64,
    replication_primary_canary_age_ms: u64,
}

impl ClusterNode {
    fn from_node(node: Node, last_echo: Option<Timestamp>, echo_duration_ms: u32) -> Self {
        Self {
            hostname: node.name,
            api_address: node.address.unwrap_or_default(),
            cluster_address: "",
            active_node: true,
            last_echo,
            version: node.version,
            echo_duration_ms,
            clock_skew_ms: node.clock_ahead,
            replication_primary_canary_age_ms: 0,
        }
    }
}

/// `sys/ha-status`: the servers that share the store, this one first. A server with a store of its own is alone, and does not know the address at
/// which clients reach it.
pub(super) fn ha_status(call: &Call<'_>) -> Answer {
    let server = call.server;
    let nodes = match server.host.shared_store.nodes() {
        None => {
            let alone = Node {
                name: String::new(),
                address: None,
                version: server.settings.compatibility_version.clone(),
                started_at: 0,
                seen_at: 0,
                clock_ahead: 0,
            };
            vec![ClusterNode::from_node(alone, None, 0)]
        }
        Some(nodes) => {
            let own = ClusterNode::from_node(nodes.this, None, nodes.answered_in);
            let others = nodes.others.into_iter().map(|node| {
                let seen = timestamp(node.seen_at / 1000);
                ClusterNode::from_node(node, Some(seen), 0)
            });
            std::iter::once(own).chain(others).collect()
        }
    };
    let nodes =
        serde_json::to_value(nodes).map_err(|error| ApiError::internal(error.to_string()))?;
    let data = Map::from_iter([("nodes".to_owned(), nodes)]);
    Ok(Some(Reply::copied(data)))
}

/// `sys/host-info`: only the time.
pub(super) fn host_info(call: &Call<'_>) -> Answer {
    let now = timestamp(call.server.clock.now_seconds());
    let warnings = ["host", "memory", "disk", "cpu", "cpu_times"].map(|what| {
        format!("{what}: the server sees nothing of its machine: ask the machine itself")
    });
    let reply = Reply::data(&json!({ "timestamp": now }))?;
    Ok(Some(reply.warned(warnings)))
}

/// `sys/replication/status`: there is no replication. Tools that collect facts about a server stop if this path is not answered.
pub(super) fn replication_status(_: &Call<'_>) -> Answer {
    Reply::data(&json!({ "mode": "disabled" })).map(Some)
}

/// `sys/version-history`: only the version that is reported to clients. The time of its installation is not recorded.
pub(super) fn version_history(call: &Call<'_>) -> Answer {
    let version = call.server.settings.compatibility_version.as_str();
    let known =
        json!({ "timestamp_installed": "", "build_date": BUILD_DATE, "previous_version": null });
    let key_info = BTreeMap::from([(version, known)]);
    Reply::data(&json!({ "keys": [version], "key_info": key_info })).map(Some)
}

/// A request in progress.
#[derive(Serialize)]
struct InFlight<'a> {
    start_time: Timestamp,
    client_remote_address: String,
    request_path: &'a str,
    request_method: &'static str,
    client_id: &'a str,
}

/// `sys/in-flight-req`: only this request. Other requests are served by other instances, which know nothing of each other.
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
