//! Keys that hold what users chose.

use std::fmt::Write as _;

use gatehouse_ports::MAXIMUM_KEY_BYTES;

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

/// The position after which a scan continues: the key that `prefix` and the segment of `name` make, even if no such key can exist. A
/// position that is too long for a key is cut to the length of the longest one, which leaves the same keys after it.
#[must_use]
pub fn key_position(prefix: &str, name: &str) -> String {
    let mut position = format!("{prefix}{}", key_segment(name));
    position.truncate(position.floor_char_boundary(MAXIMUM_KEY_BYTES));
    position
}

#[cfg(test)]
mod tests {
    use super::{key_position, key_segment};
    use gatehouse_ports::MAXIMUM_KEY_BYTES;
    use proptest::prelude::*;

    #[test]
    fn a_position_is_never_longer_than_a_key() {
        assert_eq!(key_position("a/", "b c"), "a/b%20c");
        let long = key_position("a/", &"~".repeat(MAXIMUM_KEY_BYTES));
        assert_eq!(long.len(), MAXIMUM_KEY_BYTES);
        assert!(long.starts_with("a/%7E%7E"));
    }

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
