//! The paths of this protocol.

/// The prefix of every path of the API, without slashes at its ends.
pub(super) const BASE_PATH: &str = "api/v2";

/// True if a request target, as it was sent, belongs to this protocol. This includes unknown paths.
pub(crate) fn concerns(raw_path: &str) -> bool {
    raw_path.starts_with("/api/")
}
