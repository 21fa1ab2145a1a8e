//! The endpoints that answer without a token and without an envelope (contract 6.2).

use gatehouse_access::{Access, Cluster, Failure, InitializeError};
use serde::Serialize;

use super::errors::{Fault, MEDIA_TYPE, without_content};
use super::fields::Fields;
use crate::http::{Method, Request, Response};
use crate::json::Duplicates;
use crate::{Gateway, query};

/// When this was built, RFC 3339; builds that want to be reproducible do not say.
const BUILD_DATE: &str = match option_env!("GATEHOUSE_BUILD_DATE") {
    Some(date) => date,
    None => "1970-01-01T00:00:00Z",
};

/// Answers a request for one of the endpoints; `None` for every other path.
pub(super) fn handle<A, C: Access, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    path: &str,
) -> Option<Result<Response, Fault>> {
    let answer = match (path, request.method) {
        ("v1/sys/health", Method::Get | Method::Head) => health(gateway, &request.query),
        ("v1/sys/seal-status", Method::Get) => seal_status(gateway),
        ("v1/sys/leader", Method::Get) => leader(),
        ("v1/sys/init", Method::Get) => initialization(gateway),
        ("v1/sys/init", Method::Post | Method::Put) => initialize(gateway, request),
        ("v1/sys/health" | "v1/sys/seal-status" | "v1/sys/leader" | "v1/sys/init", _) => {
            Err(Fault::silent(405))
        }
        _ => return None,
    };
    Some(answer)
}

/// How far a server has got.
enum Stage {
    Uninitialized,
    Sealed,
    Active(Cluster),
}

fn stage(access: &impl Access) -> Result<Stage, Fault> {
    match access.cluster() {
        Ok(Some(cluster)) => Ok(Stage::Active(cluster)),
        Ok(None) | Err(Failure::NotInitialized) => Ok(Stage::Uninitialized),
        Err(Failure::Sealed) => Ok(Stage::Sealed),
        Err(failure) => Err(failure.into()),
    }
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
    echo_duration_ms: u64,
    clock_skew_ms: u64,
    replication_primary_canary_age_ms: u64,
}

fn health<A, C: Access, O>(gateway: &Gateway<A, C, O>, query: &str) -> Result<Response, Fault> {
    let codes = HealthCodes::of(query)?;
    let stage = stage(&gateway.access)?;
    let (status, cluster) = match &stage {
        Stage::Uninitialized => (codes.uninitialized, None),
        Stage::Sealed => (codes.sealed, None),
        Stage::Active(cluster) => (codes.active, Some(cluster)),
    };
    let sealed = cluster.is_none();
    let body = Health {
        initialized: !matches!(stage, Stage::Uninitialized),
        sealed,
        standby: sealed,
        performance_standby: false,
        replication_performance_mode: if sealed { "unknown" } else { "disabled" },
        replication_dr_mode: if sealed { "unknown" } else { "disabled" },
        server_time_utc: gateway.clock.now_seconds(),
        version: &gateway.settings.compatibility_version,
        enterprise: false,
        cluster_name: cluster.map(|cluster| cluster.name.as_str()),
        cluster_id: cluster.map(|cluster| cluster.id.as_str()),
        echo_duration_ms: 0,
        clock_skew_ms: 0,
        replication_primary_canary_age_ms: 0,
    };
    answer(status, &body)
}

/// The status codes a caller wants, for load balancers that take a code for an order.
struct HealthCodes {
    active: u16,
    sealed: u16,
    uninitialized: u16,
}

impl HealthCodes {
    /// Reads the switches; those for states that a single server is never in are checked and have no effect. Unknown ones are
    /// ignored: the auto-auth daemon sends a misspelled one.
    fn of(query: &str) -> Result<Self, Fault> {
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
                _ => {}
            }
        }
        Ok(codes)
    }
}

fn code(name: &str, value: &str) -> Result<u16, Fault> {
    let code = value.parse().ok().filter(|code| (200..600).contains(code));
    code.ok_or_else(|| {
        Fault::plain(
            400,
            format!("query parameter \"{name}\" must be a status code from 200 to 599"),
        )
    })
}

#[derive(Serialize)]
struct SealStatus<'a> {
    #[serde(rename = "type")]
    seal_type: &'static str,
    initialized: bool,
    sealed: bool,
    t: u32,
    n: u32,
    progress: u32,
    nonce: &'static str,
    version: &'a str,
    build_date: &'static str,
    migration: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_id: Option<&'a str>,
    recovery_seal: bool,
    storage_type: &'static str,
}

fn seal_status<A, C: Access, O>(gateway: &Gateway<A, C, O>) -> Result<Response, Fault> {
    let stage = stage(&gateway.access)?;
    let cluster = match &stage {
        Stage::Active(cluster) => Some(cluster),
        Stage::Uninitialized | Stage::Sealed => None,
    };
    let shares = u32::from(!matches!(stage, Stage::Uninitialized));
    answer(
        200,
        &SealStatus {
            seal_type: "shamir",
            initialized: shares > 0,
            sealed: cluster.is_none(),
            t: shares,
            n: shares,
            progress: 0,
            nonce: "",
            version: &gateway.settings.compatibility_version,
            build_date: BUILD_DATE,
            migration: false,
            cluster_name: cluster.map(|cluster| cluster.name.as_str()),
            cluster_id: cluster.map(|cluster| cluster.id.as_str()),
            recovery_seal: false,
            storage_type: "gatehouse",
        },
    )
}

#[derive(Serialize)]
struct Leader {
    ha_enabled: bool,
    is_self: bool,
    active_time: &'static str,
    leader_address: &'static str,
    leader_cluster_address: &'static str,
    performance_standby: bool,
    performance_standby_last_remote_wal: u64,
}

fn leader() -> Result<Response, Fault> {
    let alone = Leader {
        ha_enabled: false,
        is_self: false,
        active_time: "0001-01-01T00:00:00Z",
        leader_address: "",
        leader_cluster_address: "",
        performance_standby: false,
        performance_standby_last_remote_wal: 0,
    };
    answer(200, &alone)
}

#[derive(Serialize)]
struct Initialization {
    initialized: bool,
}

fn initialization<A, C: Access, O>(gateway: &Gateway<A, C, O>) -> Result<Response, Fault> {
    let stage = stage(&gateway.access)?;
    let initialized = !matches!(stage, Stage::Uninitialized);
    answer(200, &Initialization { initialized })
}

#[derive(Serialize)]
struct Initialized<'a> {
    /// The seal has no shares: the server's operator keeps its key.
    keys: [&'a str; 0],
    keys_base64: [&'a str; 0],
    root_token: &'a str,
}

/// Fields that ask for secrets to be encrypted to somebody. Answering them in clear would betray what was asked.
const ENCRYPTING_FIELDS: [&str; 3] = ["pgp_keys", "recovery_pgp_keys", "root_token_pgp_key"];

/// Fields that ask for the seal's key in shares. Whoever asks for several relies on no single holder having it all.
const SHARE_FIELDS: [&str; 2] = ["secret_shares", "secret_threshold"];

/// Beside the fields of the protocol, which concern shares that do not exist, `root_token` names the token to be made. Whoever
/// initializes a server owns it in any case.
fn initialize<A, C: Access, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
) -> Result<Response, Fault> {
    let fields = Fields::of_body(request, Duplicates::Refuse)?;
    if matches!(stage(&gateway.access)?, Stage::Active(_)) {
        return Err(already_initialized());
    }
    for field in ENCRYPTING_FIELDS {
        let asked = fields.list(field)?.unwrap_or_default();
        if asked.iter().any(|key| !key.is_empty()) {
            let text = format!("{field} is not supported: leave it out");
            return Err(Fault::plain(400, text));
        }
    }
    for field in SHARE_FIELDS {
        if !matches!(fields.integer(field)?, None | Some(0 | 1)) {
            let text = format!(
                "{field} must be 1 or left out: the seal is a key file, so there are no unseal shares to give out"
            );
            return Err(Fault::plain(400, text));
        }
    }
    let chosen = fields.string("root_token")?.filter(|text| !text.is_empty());
    match gateway.access.initialize(chosen.as_deref()) {
        Ok(initialized) => answer(
            200,
            &Initialized {
                keys: [],
                keys_base64: [],
                root_token: initialized.root_token.expose(),
            },
        ),
        Err(InitializeError::AlreadyInitialized) => Err(already_initialized()),
        Err(InitializeError::Failure(failure)) => Err(failure.into()),
        Err(error @ InitializeError::UnusableRootToken) => {
            Err(Fault::plain(400, error.to_string()))
        }
    }
}

fn already_initialized() -> Fault {
    Fault::plain(400, "Vault is already initialized")
}

fn answer(status: u16, body: &impl Serialize) -> Result<Response, Fault> {
    let body = serde_json::to_vec(body)
        .map_err(|error| Fault::internal(format!("an answer could not be written: {error}")))?;
    Ok(match status {
        // A load balancer may have asked for the status that has no body.
        204 => without_content(status),
        _ => Response::new(status, MEDIA_TYPE, body),
    })
}
