//! Labels of instances, written `key:value` (contract 3.2).

use std::collections::BTreeMap;

use crate::excerpt::value_excerpt;

/// The labels that `entries` stand for; of several values for a key the last. Fails with every entry that is not a label.
pub(super) fn parse(entries: &[String]) -> Result<BTreeMap<String, String>, Vec<String>> {
    let mut labels = BTreeMap::new();
    let mut invalid = Vec::new();
    for entry in entries {
        match label(entry.trim()) {
            Some((key, value)) => {
                labels.insert(key.to_owned(), value.to_owned());
            }
            None => invalid.push(value_excerpt(entry)),
        }
    }
    if invalid.is_empty() {
        Ok(labels)
    } else {
        Err(invalid)
    }
}

/// The value may be empty. Letters of any script count, as with Google.
fn label(entry: &str) -> Option<(&str, &str)> {
    let (key, value) = entry.split_once(':')?;
    let is_inner = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '_' | '-')
            || !letter.is_ascii() && letter.is_alphanumeric()
    };
    let is_first = |letter: char| {
        letter.is_ascii_lowercase()
            || !letter.is_ascii() && letter.is_alphabetic() && !letter.is_uppercase()
    };
    let fits =
        key.starts_with(is_first) && key.chars().all(is_inner) && value.chars().all(is_inner);
    fits.then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn contract_3_2_labels() {
        for good in [
            "a:b",
            "env:",
            "k-1_X:V-2_y",
            "env:prod",
            "größe:mittel",
            "環境:本番",
            "k:7",
            "k:_",
            "k:Ä",
        ] {
            assert!(label(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "a",
            ":",
            ":b",
            "A:b",
            "1a:b",
            "-a:b",
            "_a:b",
            "a:b:c",
            "a b:c",
            "a:b c",
            "a:b/c",
            "a.b:c",
            "Ä:b",
            "a:b\u{0}",
            "a=b",
            "a:*",
            "a:b,c",
            "\u{661}:b",
            "a:\u{2028}",
        ] {
            assert_eq!(label(bad), None, "{bad}");
        }
    }
}
