//! The endpoints that answer without a token and without an envelope (contract 6.2).

use std::borrow::Cow;

use serde::Serialize;

use super::call::Unadmitted;
use super::envelope;
use super::errors::ApiError;
use super::fields::parse_boolean;
use super::stage::Stage;
use super::timestamp::timestamp;
use crate::http::Response;
use crate::query;

/// Any other method at one of the endpoints.
pub(super) fn otherwise(_: &Unadmitted<'_>) -> Result<Response, ApiError> {
    Err(ApiError::silent(405))
}

#[derive(Serialize)]
struct Health<'a> {
    initialized: bool,
    sealed: bool,
    standby: bool,
    performance_standby: bool,
    replication_performance_mode: &'static str,
    replication_dr_mode: &'static str,
    server_time_utc: u64,
    version: &'a str,
    enterprise: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_id: Option<&'a str>,
    echo_duration_ms: u32,
    clock_skew_ms: i64,
    replication_primary_canary_age_ms: u64,
}

/// `sys/health`
pub(super) fn health(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let server = asked.server;
    let codes = HealthCodes::from_query(&asked.request.query)?;
    let now = server.clock.now_milliseconds();
    let stage = Stage::lately(server, now)?;
    let (status, cluster) = match &stage {
        Stage::Uninitialized => (codes.uninitialized, None),
        Stage::Sealed => (codes.sealed, None),
        Stage::Active(cluster) => (codes.active, Some(cluster)),
    };
    let sealed = cluster.is_none();
    // A server that shares no store has no other clock to compare with.
    let (echo_duration_ms, clock_skew_ms) = server
        .host
        .shared_store
        .nodes()
        .map_or((0, 0), |nodes| (nodes.answered_in, nodes.this.clock_ahead));
    let body = Health {
        initialized: !matches!(stage, Stage::Uninitialized),
        sealed,
        standby: sealed,
        performance_standby: false,
        replication_performance_mode: if sealed { "unknown" } else { "disabled" },
        replication_dr_mode: if sealed { "unknown" } else { "disabled" },
        server_time_utc: now / 1000,
        version: &server.settings.compatibility_version,
        enterprise: false,
        cluster_name: cluster.map(|cluster| cluster.name.as_str()),
        cluster_id: cluster.map(|cluster| cluster.id.as_str()),
        echo_duration_ms,
        clock_skew_ms,
        replication_primary_canary_age_ms: 0,
    };
    envelope::bare(status, &body)
}

/// The status codes that a caller asks for. Load balancers act on the code.
struct HealthCodes {
    active: u16,
    sealed: u16,
    uninitialized: u16,
}

impl HealthCodes {
    /// Reads the parameters. Those for states that a single server never has are validated and have no effect. Unknown parameters are ignored: the
    /// auto-auth daemon sends a misspelled one.
    fn from_query(query: &str) -> Result<Self, ApiError> {
        let mut codes = Self {
            active: 200,
            sealed: 503,
            uninitialized: 501,
        };
        for (name, value) in query::pairs(query) {
            match name.as_ref() {
                "activecode" => codes.active = code(&name, &value)?,
                "sealedcode" => codes.sealed = code(&name, &value)?,
                "uninitcode" => codes.uninitialized = code(&name, &value)?,
                "standbycode"
                | "drsecondarycode"
                | "performancestandbycode"
                | "haunhealthycode"
                | "removedcode" => {
                    code(&name, &value)?;
                }
                "standbyok" if !value.is_empty() && parse_boolean(&value).is_none() => {
                    let text = "query parameter \"standbyok\" must be true or false";
                    return Err(ApiError::plain(400, text));
                }
                _ => {}
            }
        }
        Ok(codes)
    }
}

fn code(name: &str, value: &str) -> Result<u16, ApiError> {
    let code = value.parse().ok().filter(|code| (200..600).contains(code));
    code.ok_or_else(|| {
        ApiError::plain(
            400,
            format!("query parameter \"{name}\" must be a status code from 200 to 599"),
        )
    })
}

#[derive(Serialize)]
struct Leader {
    ha_enabled: bool,
    is_self: bool,
    active_time: Cow<'static, str>,
    leader_address: String,
    leader_cluster_address: &'static str,
    performance_standby: bool,
    performance_standby_last_remote_wal: u64,
}

/// The reference's text for an unset time.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// `sys/leader`: each of the servers that share a store is its own leader, so no client is sent from one to another.
pub(super) fn leader(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let own = asked
        .server
        .host
        .shared_store
        .nodes()
        .map(|nodes| nodes.this);
    let leads = own.is_some();
    let (active_time, leader_address) = match own {
        None => (NO_TIME.into(), String::new()),
        Some(own) => (
            timestamp(own.started_at / 1000).to_string().into(),
            own.address.unwrap_or_default(),
        ),
    };
    let leader = Leader {
        ha_enabled: leads,
        is_self: leads,
        active_time,
        leader_address,
        leader_cluster_address: "",
        performance_standby: false,
        performance_standby_last_remote_wal: 0,
    };
    envelope::bare(200, &leader)
}
