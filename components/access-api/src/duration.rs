//! Durations as clients of this protocol write and read them: Go's notation, days added (contract 1.4).

use std::fmt;

/// Nanoseconds in a second, in which durations are given.
pub const SECOND: i128 = 1_000_000_000;
/// The notation's own limit: a signed 64-bit count of nanoseconds.
const MAXIMUM: i128 = i64::MAX as i128;
/// Values longer than this are not repeated in an error.
const MAXIMUM_QUOTED_BYTES: usize = 64;

/// Why a text is not a duration. The texts are those that clients know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Not in the notation, or beyond its limit.
    #[error("time: invalid duration{}", Quoted(.0))]
    Invalid(String),
    /// A number with nothing after it.
    #[error("time: missing unit in duration{}", Quoted(.0))]
    MissingUnit(String),
    /// A unit that does not exist.
    #[error("time: unknown unit{} in duration{}", Quoted(unit), Quoted(text))]
    UnknownUnit {
        /// The text in the unit's place.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// A value in double quotes after a space, or nothing when it is too long to be repeated.
pub struct Quoted<'a>(
    /// The value.
    pub &'a str,
);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() > MAXIMUM_QUOTED_BYTES {
            return Ok(());
        }
        write!(formatter, " {}", serde_json::Value::from(self.0))
    }
}

/// Whole seconds, cut towards zero: of an integer (seconds), `<n>d`, or Go notation. The empty text is 0.
///
/// # Errors
///
/// [`DurationError`] when the text is none of these.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    i64::try_from(nanoseconds(text)? / SECOND).map_err(|_| DurationError::Invalid(text.to_owned()))
}

/// The same, in nanoseconds.
///
/// # Errors
///
/// As [`parse`].
pub fn nanoseconds(text: &str) -> Result<i128, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    if text.is_empty() {
        return Ok(0);
    }
    let nanoseconds = if let Ok(seconds) = text.parse::<i64>() {
        i128::from(seconds) * SECOND
    } else if let Some(days) = text.strip_suffix('d') {
        let days: i64 = days.parse().map_err(|_| invalid())?;
        i128::from(days) * 86_400 * SECOND
    } else {
        parse_notation(text)?
    };
    if nanoseconds.abs() > MAXIMUM {
        return Err(invalid());
    }
    Ok(nanoseconds)
}

fn parse_notation(text: &str) -> Result<i128, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (negative, mut rest) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..).unwrap_or_default()),
        [b'+', ..] => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_end = after
            .find(|character: char| character == '.' || character.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let scale: i128 = match unit {
            "" => return Err(DurationError::MissingUnit(text.to_owned())),
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            unit => {
                return Err(DurationError::UnknownUnit {
                    unit: unit.to_owned(),
                    text: text.to_owned(),
                });
            }
        };
        total += scaled(whole, fraction, scale).ok_or_else(invalid)?;
        if total > MAXIMUM {
            return Err(invalid());
        }
        rest = after;
    }
    Ok(if negative { -total } else { total })
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// `whole.fraction` times `scale`; `None` when it is beyond any duration.
fn scaled(whole: &str, fraction: &str, scale: i128) -> Option<i128> {
    let number = |digits: &str| match digits.trim_start_matches('0') {
        "" => Some(0),
        digits => digits.parse::<i64>().ok(),
    };
    // More digits than a nanosecond in an hour has say nothing.
    let fraction = fraction.get(..fraction.len().min(15)).unwrap_or_default();
    let denominator = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let whole = i128::from(number(whole)?) * scale;
    Some(whole + i128::from(number(fraction)?) * scale / denominator)
}

/// Seconds with every part from the largest one down: `100h0m0s`, `1m0s`, `0s`.
#[must_use]
pub fn full(seconds: u64) -> String {
    let (hours, minutes, seconds) = parts(seconds);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Seconds without the parts that are zero: `100h`, `767h59m59s`, `0s`.
#[must_use]
pub fn short(seconds: u64) -> String {
    let (hours, minutes, rest) = parts(seconds);
    let mut text = String::new();
    for (count, unit) in [(hours, 'h'), (minutes, 'm'), (rest, 's')] {
        if count > 0 {
            text += &format!("{count}{unit}");
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

const fn parts(seconds: u64) -> (u64, u64, u64) {
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_gives_whole_seconds() {
        for (text, seconds) in [
            ("", 0),
            ("0", 0),
            ("3600", 3600),
            ("-5", -5),
            ("2d", 172_800),
            ("1h30m", 5400),
            ("1.5h", 5400),
            (".5m", 30),
            ("1h0m0s", 3600),
            ("1500ms", 1),
            ("999ms", 0),
            ("1000000us", 1),
            ("1000000µs", 1),
            ("1500000000ns", 1),
            ("-1.5h", -5400),
            ("+2m", 120),
            ("007s", 7),
            ("1.000000000000000000000001s", 1),
        ] {
            assert_eq!(parse(text), Ok(seconds), "{text:?}");
        }
    }

    #[test]
    fn refusals_have_the_texts_that_clients_know() {
        for (text, reason) in [
            ("abc", "time: invalid duration \"abc\""),
            ("1.5", "time: missing unit in duration \"1.5\""),
            ("5x", "time: unknown unit \"x\" in duration \"5x\""),
            ("-", "time: invalid duration \"-\""),
            (".s", "time: invalid duration \".s\""),
            ("1 h", "time: unknown unit \" h\" in duration \"1 h\""),
            ("xd", "time: invalid duration \"xd\""),
            ("3000000h", "time: invalid duration \"3000000h\""),
            (
                "9223372036854775807",
                "time: invalid duration \"9223372036854775807\"",
            ),
            (
                "99999999999999999999999999s",
                "time: invalid duration \"99999999999999999999999999s\"",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), reason, "{text:?}");
        }
        let long = "z".repeat(65);
        assert_eq!(
            parse(&long).unwrap_err().to_string(),
            "time: invalid duration"
        );
    }

    #[test]
    fn printing_keeps_or_drops_zero_parts() {
        for (seconds, with_zeros, without) in [
            (0, "0s", "0s"),
            (8, "8s", "8s"),
            (60, "1m0s", "1m"),
            (3600, "1h0m0s", "1h"),
            (360_000, "100h0m0s", "100h"),
            (2_764_799, "767h59m59s", "767h59m59s"),
        ] {
            assert_eq!(full(seconds), with_zeros);
            assert_eq!(short(seconds), without);
        }
    }
}
