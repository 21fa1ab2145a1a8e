//! Points in time as requests (contract 4.6) and answers (contract 1.10) write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Reads an RFC 3339 timestamp, with `Z` or an offset, with or without a fraction. A timestamp without a zone is in UTC. The result is in
/// milliseconds since 1970. `None` for any other text, including a date alone.
pub(super) fn parsed(text: &str) -> Option<i64> {
    let has_time = text.contains(['T', 't', ' ']);
    let timestamp = text.parse::<Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        TimeZone::UTC.to_timestamp(local).ok()
    });
    Some(timestamp.filter(|_| has_time)?.as_millisecond())
}

/// A point in time with exactly three fractional digits and a literal `Z`, as clients parse it.
pub(super) fn formatted(milliseconds: u64) -> String {
    let timestamp = i64::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .unwrap_or(Timestamp::MAX);
    format!("{timestamp:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_1_10_timestamps_have_three_digits_and_the_letter() {
        assert_eq!(formatted(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(formatted(1_769_862_896_700), "2026-01-31T12:34:56.700Z");
        assert_eq!(formatted(u64::MAX), "9999-12-30T22:00:00.999Z");
    }

    #[test]
    fn contract_4_6_every_way_to_write_a_timestamp() {
        for (text, milliseconds) in [
            ("2030-01-02T03:04:05Z", 1_893_553_445_000),
            ("2030-01-02T03:04:05.678Z", 1_893_553_445_678),
            ("2030-01-02T03:04:05.678901234Z", 1_893_553_445_678),
            ("2030-01-02T05:04:05+02:00", 1_893_553_445_000),
            ("2030-01-01T21:34:05.5-05:30", 1_893_553_445_500),
            ("2030-01-02T03:04:05", 1_893_553_445_000),
            ("2030-01-02T03:04:05.678901", 1_893_553_445_678),
            ("2030-01-02 03:04:05", 1_893_553_445_000),
            ("1969-12-31T23:59:59Z", -1000),
        ] {
            assert_eq!(parsed(text), Some(milliseconds), "{text}");
        }
        for text in [
            "",
            " ",
            "tomorrow",
            "T",
            "2030-01-02",
            "2030-13-02T03:04:05Z",
            "2030-02-30T03:04:05Z",
            "1893553445",
            "2030-01-02T03:04:05Q",
        ] {
            assert_eq!(parsed(text), None, "{text:?}");
        }
    }
}
