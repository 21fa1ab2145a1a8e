//! The rate of login attempts from one source (SEC-R1 to R3).
//!
//! The limits are the same whatever role the request names, so that they do not tell which roles exist. There is none for each role:
//! any client that names a role could lock its owner out.

use gatehouse_access_api::Mount;
use gatehouse_ports::IpAddress;

use crate::host::Bucket;
use crate::source;
use crate::vault::errors::ApiError;
use crate::vault::server::Server;

/// Takes this login out of what its source and the mount have left.
///
/// # Errors
///
/// 429 where one of them has nothing left. Then neither has lost anything: who floods the server uses up its own share alone.
pub(super) fn check(
    server: &Server<'_>,
    source: Option<IpAddress>,
    mount: &Mount,
) -> Result<(), ApiError> {
    let settings = &server.settings;
    let of_source = settings
        .login_rate_per_source
        .map(|rate| rate.bucket(format!("login/source/{}", source::network(source))));
    let of_mount = settings
        .login_rate_per_mount
        .map(|rate| rate.bucket(format!("login/mount/{}", mount.id)));
    let buckets: Vec<Bucket> = of_source.into_iter().chain(of_mount).collect();
    if buckets.is_empty() {
        return Ok(());
    }
    match server.host.rate_limits.take(&buckets) {
        Ok(_) => Ok(()),
        Err(milliseconds) => Err(ApiError::too_many_requests(milliseconds.div_ceil(1000))),
    }
}
