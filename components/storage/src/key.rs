//! Keys that hold what users chose.

use std::fmt::Write as _;

/// Encodes any text as one segment of a key: letters, digits, `-`, `_` and `.` stay, every other byte becomes `%XX`.
///
/// Different texts give different segments, and a text without escapes sorts as it did.
#[must_use]
pub fn key_segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            segment.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::key_segment;
    use proptest::prelude::*;

    #[test]
    fn slashes_and_spaces_are_escaped() {
        assert_eq!(key_segment("a/b c%"), "a%2Fb%20c%25");
        assert_eq!(key_segment("dev@p1.example"), "dev%40p1.example");
    }

    proptest! {
        #[test]
        fn different_texts_give_different_printable_segments(a in ".*", b in ".*") {
            let (left, right) = (key_segment(&a), key_segment(&b));
            prop_assert_eq!(a == b, left == right);
            prop_assert!(left.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/'));
        }
    }
}
