//! The paths of this protocol.

/// Before every path of the API, without slashes at its ends.
pub(super) const BASE_PATH: &str = "api/v2";

/// Tells whether a request target, as it was sent, belongs to this protocol. That holds for unknown paths too.
pub(crate) fn concerns(raw_path: &str) -> bool {
    raw_path.starts_with("/api/")
}
