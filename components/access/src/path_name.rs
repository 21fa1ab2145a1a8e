//! Names that stand at the end of a path, with slashes of their own or without: those of policies, entities and groups.

/// True for 1 to `maximum_bytes` bytes without control characters whose parts between slashes are not empty, `.` or `..`.
pub(crate) fn is_path_name(name: &str, maximum_bytes: usize) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    (1..=maximum_bytes).contains(&name.len())
        && !name.chars().any(char::is_control)
        && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_parts_that_can_stand_in_a_path() {
        for name in ["a", "team/app", "a/b/c", "\u{e4} b", "...", "a.b"] {
            assert!(is_path_name(name, 8), "{name:?}");
        }
        for name in ["", "/", "a/", "/a", "a//b", ".", "a/..", "./a", "a\nb"] {
            assert!(!is_path_name(name, 8), "{name:?}");
        }
        assert!(is_path_name("12345678", 8) && !is_path_name("123456789", 8));
    }
}
