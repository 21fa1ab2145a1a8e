//! The part of somebody's text that an error may repeat.

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
