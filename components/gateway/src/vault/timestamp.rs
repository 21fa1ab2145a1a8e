//! Points in time as clients read them.

use jiff::Timestamp;

/// Seconds since 1970 as RFC 3339 writes them; beyond the year 9999, that year's end.
pub(crate) fn timestamp(seconds: u64) -> Timestamp {
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or(Timestamp::MAX)
}
