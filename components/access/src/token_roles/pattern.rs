//! Patterns of names, in which `*` stands for any text.

/// True if `name` is one of those that `pattern` means. A pattern without `*` means itself.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    let (inner, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in inner.split('*') {
        match name.split_once(part) {
            Some((_, after)) => name = after,
            None => return false,
        }
    }
    name.ends_with(last)
}

/// True if one of `patterns` means `name`.
pub(super) fn any_matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("", "a", false),
            ("ab", "ab", true),
            ("ab", "abc", false),
            ("*", "", true),
            ("*", "anything", true),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("*a", "ab", false),
            ("a*a", "a", false),
            ("a*a", "aba", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**", "x", true),
            ("?", "x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    /// The same by trying every split.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|skipped| naive(rest, &name[skipped..])),
            [first, rest @ ..] => name.first() == Some(first) && naive(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_trying_every_split(pattern in "[ab*]{0,6}", name in "[ab]{0,6}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = naive(&letters(&pattern), &letters(&name));
            prop_assert_eq!(matches(&pattern, &name), expected);
        }
    }
}
