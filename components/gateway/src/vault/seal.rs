//! `sys/seal-status`, `sys/unseal` and `sys/seal` (contract 6.1, 6.2, SEC-K2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use zeroize::Zeroizing;

use super::call::{Answer, Call, Unadmitted};
use super::envelope;
use super::errors::ApiError;
use super::fields::Fields;
use super::stage::Stage;
use crate::host::{Bucket, SealError, SealProgress, UnsealError};
use crate::http::{Request, Response};
use crate::source;
use crate::vault::server::Server;

/// The build time, in RFC 3339. Reproducible builds do not set it, which gives the year 1970.
pub(super) const BUILD_DATE: &str = match option_env!("GATEHOUSE_BUILD_DATE") {
    Some(date) => date,
    None => "1970-01-01T00:00:00Z",
};

/// The path that accepts shares, below `v1/`.
pub(super) const UNSEAL_PATH: &str = "sys/unseal";

/// The minimum and maximum length of a key in any seal of the protocol, in bytes.
const SHORTEST_KEY: usize = 16;
const LONGEST_KEY: usize = 33;

/// The shares that one address may give at once, in addition to twice the threshold, and the shares per minute after that. Several holders may use
/// one machine and make mistakes, but strangers must not displace the shares that others gave.
const SHARES_AT_ONCE: u32 = 8;
const SHARES_PER_MINUTE: u32 = 6;

/// The limit on resets by one address, which discard the shares that others gave: a burst, and then one reset per this number of milliseconds.
const RESETS_AT_ONCE: u32 = 3;
const RESET_PERIOD: u32 = 10 * 60 * 1000;

#[derive(Serialize)]
struct SealStatus<'a> {
    #[serde(rename = "type")]
    seal_type: &'static str,
    initialized: bool,
    sealed: bool,
    t: u32,
    n: u32,
    progress: u32,
    nonce: &'a str,
    version: &'a str,
    build_date: &'static str,
    migration: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_id: Option<&'a str>,
    recovery_seal: bool,
    storage_type: &'a str,
}

/// `sys/seal-status`
pub(super) fn status(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    progress(asked.server)
}

/// The answer with the progress of the unsealing.
fn progress(server: &Server<'_>) -> Result<Response, ApiError> {
    describe(server, server.host.seal.status()?)
}

fn describe(server: &Server<'_>, seal: Option<SealProgress>) -> Result<Response, ApiError> {
    let stage = Stage::with_seal(seal.as_ref(), server.access)?;
    let cluster = match &stage {
        Stage::Active(cluster) => Some(cluster),
        Stage::Uninitialized | Stage::Sealed => None,
    };
    let initialized = !matches!(stage, Stage::Uninitialized);
    let (seal_type, seal) = match seal {
        Some(progress) => ("shamir", progress),
        // The key file is the whole key. There are no recovery keys, which other automatic seals have.
        None => ("static", whole(initialized)),
    };
    envelope::bare(
        200,
        &SealStatus {
            seal_type,
            initialized,
            sealed: cluster.is_none(),
            t: seal.threshold,
            n: seal.shares,
            progress: seal.given,
            nonce: &seal.nonce,
            version: &server.settings.compatibility_version,
            build_date: BUILD_DATE,
            migration: false,
            cluster_name: cluster.map(|cluster| cluster.name.as_str()),
            cluster_id: cluster.map(|cluster| cluster.id.as_str()),
            recovery_seal: false,
            storage_type: &server.settings.storage_type,
        },
    )
}

const fn whole(initialized: bool) -> SealProgress {
    let one = if initialized { 1 } else { 0 };
    SealProgress {
        initialized,
        sealed: false,
        shares: one,
        threshold: one,
        given: 0,
        nonce: String::new(),
    }
}

/// Counts a request for `sys/unseal` against the limit of its address. The path needs no token, so any client could otherwise disturb the share
/// holders.
///
/// # Errors
///
/// 429 where the limit is reached; the error of the seal when its progress cannot be read.
pub(super) fn limit(server: &Server<'_>, request: &Request) -> Result<(), ApiError> {
    let Some(progress) = server.host.seal.status()? else {
        return Ok(());
    };
    if !progress.initialized || !progress.sealed {
        return Ok(());
    }
    let fields = Fields::of_body(request);
    let is_reset = fields.is_ok_and(|fields| matches!(fields.boolean("reset"), Ok(Some(true))));
    let network = source::network(request.peer);
    let bucket = if is_reset {
        Bucket {
            key: format!("unseal/reset/{network}"),
            events: 1,
            period: RESET_PERIOD,
            burst: RESETS_AT_ONCE,
        }
    } else {
        Bucket {
            key: format!("unseal/share/{network}"),
            events: SHARES_PER_MINUTE,
            period: 60_000,
            burst: progress
                .threshold
                .saturating_mul(2)
                .saturating_add(SHARES_AT_ONCE),
        }
    };
    match server.host.rate_limits.take(&[bucket]) {
        Ok(_) => Ok(()),
        Err(milliseconds) => Err(ApiError::too_many_requests(milliseconds.div_ceil(1000))),
    }
}

/// `sys/unseal`: accepts a share, or discards the shares that were given.
pub(super) fn unseal(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let server = asked.server;
    let fields = Fields::of_body(asked.request)?;
    if fields.boolean("reset")?.unwrap_or_default() {
        return match Stage::current(server)? {
            Stage::Active(_) => Err(ApiError::plain(400, "vault is unsealed")),
            Stage::Uninitialized => progress(server),
            Stage::Sealed => describe(server, Some(server.host.seal.reset_unseal()?)),
        };
    }
    let key = fields.string("key")?.map(Zeroizing::new);
    let key = key.filter(|key| !key.is_empty()).ok_or_else(|| {
        let text = "'key' must be specified in request body as JSON, or 'reset' set to true";
        ApiError::plain(400, text)
    })?;
    if fields.boolean("migrate")?.unwrap_or_default() {
        let text = "can't perform a seal migration, no migration seal found";
        return Err(ApiError::plain(400, text));
    }
    let key = decoded(&key)
        .ok_or_else(|| ApiError::plain(400, "'key' must be a valid hex or base64 string"))?;
    match server.host.seal.unseal(&key) {
        Ok(progress) => describe(server, Some(progress)),
        Err(UnsealError::NotInitialized) => Err(not_initialized()),
        Err(UnsealError::Malformed) => Err(ApiError::plain(400, malformed(key.len()))),
        Err(error @ UnsealError::WrongShares) => {
            Err(ApiError::plain(400, format!("invalid key: {error}")))
        }
        Err(UnsealError::Failure(SealError::Automatic)) => match Stage::current(server)? {
            Stage::Active(_) => progress(server),
            Stage::Uninitialized => Err(not_initialized()),
            Stage::Sealed => Err(SealError::Automatic.into()),
        },
        Err(UnsealError::Failure(failure)) => Err(failure.into()),
    }
}

fn not_initialized() -> ApiError {
    ApiError::plain(400, "Vault is not initialized")
}

pub(super) fn malformed(length: usize) -> String {
    if length < SHORTEST_KEY {
        format!("invalid key: key is shorter than minimum {SHORTEST_KEY} bytes")
    } else if length > LONGEST_KEY {
        format!("invalid key: key is longer than maximum {LONGEST_KEY} bytes")
    } else {
        format!("invalid key: no share of this server has {length} bytes")
    }
}

/// The bytes of a share, written in hexadecimal or in base64.
pub(super) fn decoded(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let hexadecimal = base16ct::mixed::decode_vec(text).ok();
    let bytes = hexadecimal.or_else(|| STANDARD.decode(text).ok())?;
    Some(Zeroizing::new(bytes))
}

/// `sys/seal`: forgets the key, for a caller with `sudo`. With `cluster`, in the body or otherwise in the query, all servers that share the store
/// forget it.
pub(super) fn seal(call: &Call<'_>) -> Answer {
    const CLUSTER: &str = "cluster";
    let seal = &call.server.host.seal;
    let of_all = match call.fields()?.boolean(CLUSTER)? {
        Some(of_all) => of_all,
        None => call.query_fields()?.boolean(CLUSTER)?.unwrap_or_default(),
    };
    if of_all {
        seal.seal_all()?;
    } else {
        seal.seal()?;
    }
    Ok(None)
}

impl From<SealError> for ApiError {
    fn from(failure: SealError) -> Self {
        match failure {
            SealError::Automatic => Self::plain(400, failure.to_string()),
            SealError::Unavailable(_) => Self::of_store(failure.to_string()),
        }
    }
}
