//! Texts of callers inside messages: in quotes, and in lists in the notation of Go.

/// The longest beginning of `text` with at most `maximum` bytes and whole characters.
pub(crate) fn excerpt(text: &str, maximum: usize) -> &str {
    text.get(..text.floor_char_boundary(maximum))
        .unwrap_or_default()
}

/// `"a"`, with the escapes of JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `["a" "b"]`.
pub(crate) fn quoted_list<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name.as_ref())).collect();
    format!("[{}]", names.join(" "))
}

/// `[a b]`.
pub(crate) fn bare<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    format!("[{}]", names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_have_the_escapes_of_json() {
        assert_eq!(quoted("a\"\\\n\0'é"), r#""a\"\\\n\u0000'é""#);
    }

    #[test]
    fn j20_texts_are_cut_at_a_character() {
        assert_eq!(excerpt("abc", 8), "abc");
        assert_eq!(excerpt("aéé", 4), "aé");
        assert_eq!(excerpt("é", 1), "");
    }

    #[test]
    fn lists_are_separated_by_spaces() {
        assert_eq!(quoted_list(&["a", "b\""]), r#"["a" "b\""]"#);
        assert_eq!(bare(&["a", "b"]), "[a b]");
        assert_eq!(bare::<&str>(&[]), "[]");
    }
}
