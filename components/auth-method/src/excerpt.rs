//! The part of a caller's text that an error may repeat.

/// Most of a value that a caller sent which an error repeats, in bytes.
const VALUE_BYTES: usize = 128;

/// The beginning of a value that a caller sent, as far as an error may repeat it.
pub(crate) fn value_excerpt(value: &str) -> String {
    excerpt(value, VALUE_BYTES)
}

/// The first bytes of `text`, at most `maximum`, ending at a character.
pub(crate) fn excerpt(text: &str, maximum: usize) -> String {
    let mut end = text.len().min(maximum);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn j20_texts_are_cut_at_a_character() {
        assert_eq!(excerpt("abc", 8), "abc");
        assert_eq!(excerpt("aéé", 4), "aé");
        assert_eq!(excerpt("é", 1), "");
    }
}
