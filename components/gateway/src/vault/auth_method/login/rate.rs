//! The rate limits of login attempts (SEC-R1 to R3).
//!
//! The limits do not depend on the role that the request names, so they do not reveal which roles exist. No limit is per role: any client that names
//! a role could otherwise lock out the role's owner.

use gatehouse_access_api::Mount;
use gatehouse_ports::IpAddress;

use crate::host::Bucket;
use crate::source;
use crate::vault::errors::ApiError;
use crate::vault::server::Server;

/// Counts this login against the limits of its source and of the mount.
///
/// # Errors
///
/// 429 where one of the limits is reached. The login then counts against neither, so a client that floods the server uses up only its own share.
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
