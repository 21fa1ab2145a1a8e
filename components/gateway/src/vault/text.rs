//! Lists inside messages, in the notation of the reference's language.

/// `["a" "b"]`.
pub(crate) fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("{:?}", name.as_ref()))
        .collect();
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
    fn lists_are_separated_by_spaces() {
        assert_eq!(quoted(&["a", "b\""]), r#"["a" "b\""]"#);
        assert_eq!(bare(&["a", "b"]), "[a b]");
        assert_eq!(bare::<&str>(&[]), "[]");
    }
}
