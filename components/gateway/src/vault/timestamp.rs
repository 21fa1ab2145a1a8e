//! Points in time as clients read them.

use jiff::Timestamp;

/// Seconds since 1970 in RFC 3339; times beyond the year 9999 become the end of that year.
pub(crate) fn timestamp(seconds: u64) -> Timestamp {
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or(Timestamp::MAX)
}
