//! A first pass over the text that measures it, so that the parser proper only meets input of bounded shape.

use crate::JsonError;

/// How deep arrays and objects may stand within each other.
pub const MAXIMUM_DEPTH: usize = 32;
/// How many members and elements one body may have, all levels together.
pub const MAXIMUM_MEMBERS: usize = 10_000;
/// How long the text of one string may be, escapes counted as written.
pub const MAXIMUM_STRING_BYTES: usize = 1 << 20;
/// How long the text of one number may be.
pub const MAXIMUM_NUMBER_BYTES: usize = 64;

/// Measures a JSON text against the limits. What passes may still be malformed.
///
/// # Errors
///
/// [`JsonError::NotUtf8`], or the first limit that is exceeded.
pub fn check(body: &[u8]) -> Result<&str, JsonError> {
    check_to_depth(body, MAXIMUM_DEPTH)
}

/// The same with another limit in place of [`MAXIMUM_DEPTH`].
///
/// # Errors
///
/// As [`check`].
pub fn check_to_depth(body: &[u8], maximum_depth: usize) -> Result<&str, JsonError> {
    let text = std::str::from_utf8(body).map_err(|_| JsonError::NotUtf8)?;
    let mut measure = Measure::default();
    let mut rest = body;
    while let [byte, after @ ..] = rest {
        rest = match byte {
            b'"' => {
                measure.value()?;
                skip_string(after)?
            }
            b'{' | b'[' => {
                measure.value()?;
                measure.open(maximum_depth)?;
                after
            }
            b'}' | b']' => {
                measure.close();
                after
            }
            b',' => {
                measure.next_member()?;
                after
            }
            b'-' | b'0'..=b'9' => {
                measure.value()?;
                skip_number(after)?
            }
            b' ' | b'\t' | b'\n' | b'\r' => after,
            _ => {
                measure.value()?;
                after
            }
        };
    }
    Ok(text)
}

#[derive(Default)]
struct Measure {
    depth: usize,
    members: usize,
    /// The last structural character opened a container, so the next value is its first member.
    opened: bool,
}

impl Measure {
    fn value(&mut self) -> Result<(), JsonError> {
        if std::mem::take(&mut self.opened) {
            self.next_member()?;
        }
        Ok(())
    }

    const fn next_member(&mut self) -> Result<(), JsonError> {
        self.members += 1;
        if self.members > MAXIMUM_MEMBERS {
            return Err(JsonError::TooManyMembers);
        }
        Ok(())
    }

    const fn open(&mut self, maximum_depth: usize) -> Result<(), JsonError> {
        self.depth += 1;
        self.opened = true;
        if self.depth > maximum_depth {
            return Err(JsonError::TooDeep(maximum_depth));
        }
        Ok(())
    }

    const fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.opened = false;
    }
}

fn skip_string(body: &[u8]) -> Result<&[u8], JsonError> {
    let mut escaped = false;
    let end = body.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    let end = end.unwrap_or(body.len());
    if end > MAXIMUM_STRING_BYTES {
        return Err(JsonError::StringTooLong);
    }
    Ok(body.get(end + 1..).unwrap_or_default())
}

fn skip_number(body: &[u8]) -> Result<&[u8], JsonError> {
    let belongs = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let end = body.iter().position(|byte| !belongs(byte));
    let end = end.unwrap_or(body.len());
    if end >= MAXIMUM_NUMBER_BYTES {
        return Err(JsonError::NumberTooLong);
    }
    Ok(body.get(end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<JsonError> {
        check(text.as_bytes()).err()
    }

    #[test]
    fn h11_depth_is_limited_exactly() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(refusal(&nested(MAXIMUM_DEPTH)), None);
        assert_eq!(
            refusal(&nested(MAXIMUM_DEPTH + 1)),
            Some(JsonError::TooDeep(MAXIMUM_DEPTH))
        );
        assert_eq!(
            refusal(&"{\"a\":".repeat(100_000)),
            Some(JsonError::TooDeep(MAXIMUM_DEPTH))
        );
    }

    #[test]
    fn h11_another_depth_may_be_asked_for() {
        let nested = "[".repeat(64) + &"]".repeat(64);
        assert!(check_to_depth(nested.as_bytes(), 64).is_ok());
        let refused = check_to_depth(nested.as_bytes(), 63);
        assert_eq!(refused, Err(JsonError::TooDeep(63)));
    }

    #[test]
    fn h11_members_are_counted_over_all_levels() {
        let list = |count: usize| format!("[{}]", vec!["[]"; count].join(", "));
        assert_eq!(refusal(&list(MAXIMUM_MEMBERS)), None);
        assert_eq!(
            refusal(&list(MAXIMUM_MEMBERS + 1)),
            Some(JsonError::TooManyMembers)
        );
        let pairs = vec!["{ \"a\" : 1 }"; MAXIMUM_MEMBERS / 2].join(",");
        assert_eq!(refusal(&format!("[{pairs}]")), None);
        assert_eq!(
            refusal(&format!("[{pairs},1]")),
            Some(JsonError::TooManyMembers)
        );
    }

    #[test]
    fn h11_strings_and_numbers_are_limited_exactly() {
        let string = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
        assert_eq!(refusal(&string(MAXIMUM_STRING_BYTES)), None);
        assert_eq!(
            refusal(&string(MAXIMUM_STRING_BYTES + 1)),
            Some(JsonError::StringTooLong)
        );
        assert_eq!(refusal(&"9".repeat(MAXIMUM_NUMBER_BYTES)), None);
        assert_eq!(
            refusal(&"9".repeat(MAXIMUM_NUMBER_BYTES + 1)),
            Some(JsonError::NumberTooLong)
        );
        assert_eq!(refusal("[1e1,\"\\\"[[[\\\\\"]"), None);
    }

    #[test]
    fn h11_brackets_inside_strings_do_not_count() {
        let text = format!("{{\"a\":\"{}\"}}", "[\\\"{".repeat(200));
        assert_eq!(refusal(&text), None);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        assert_eq!(check(b"{\"a\":\"\xff\"}"), Err(JsonError::NotUtf8));
    }
}
