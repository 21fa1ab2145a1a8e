//! Points in time as Google's APIs write them (RFC 3339).

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// Hours by which the compute API's clock on the wall differs from UTC.
const PACIFIC: Offset = Offset::constant(-7);
/// Milliseconds within the second in which everything here was created, so that clients have some to cut off.
const MILLISECONDS: u64 = 417;

/// Whole seconds since the Unix epoch, in UTC: `2026-01-01T00:00:00Z`.
pub(crate) fn utc(seconds: u64) -> String {
    of_milliseconds(seconds.saturating_mul(1000)).to_string()
}

/// A moment in that second, in Pacific time and to the millisecond: `2025-12-31T17:00:00.417-07:00`.
pub(crate) fn pacific(seconds: u64) -> String {
    of_milliseconds(seconds.saturating_mul(1000).saturating_add(MILLISECONDS))
        .to_zoned(TimeZone::fixed(PACIFIC))
        .strftime("%Y-%m-%dT%H:%M:%S%.3f%:z")
        .to_string()
}

fn of_milliseconds(milliseconds: u64) -> Timestamp {
    i64::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_one_second() {
        assert_eq!(utc(1_767_225_600), "2026-01-01T00:00:00Z");
        assert_eq!(pacific(1_767_225_600), "2025-12-31T17:00:00.417-07:00");
    }
}
