//! Names of policies.

const ROOT: &str = "root";
const DEFAULT: &str = "default";

/// Lower case, each once, sorted, without empty names; `root` leaves no room for others (contract 5.2).
pub(crate) fn sanitized<T: AsRef<str>>(names: &[T]) -> Vec<String> {
    let mut names: Vec<String> = names
        .iter()
        .map(|name| name.as_ref().trim().to_lowercase())
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.iter().any(|name| name == ROOT) {
        names.retain(|name| name == ROOT);
    }
    names
}

/// True if both lists give the same rights, `default` left aside (contract 4.10, R2).
pub(crate) fn are_equivalent<A: AsRef<str>, B: AsRef<str>>(left: &[A], right: &[B]) -> bool {
    let (mut left, mut right) = (sanitized(left), sanitized(right));
    left.retain(|name| name != DEFAULT);
    right.retain(|name| name != DEFAULT);
    left == right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_5_2_names_are_folded_sorted_and_unique() {
        assert_eq!(sanitized(&["Prod", " dev", "prod", ""]), ["dev", "prod"]);
        assert_eq!(sanitized(&["dev", "ROOT"]), ["root"]);
        assert!(sanitized::<&str>(&[]).is_empty());
    }

    #[test]
    fn g16_case_order_and_default_do_not_count() {
        assert!(are_equivalent(
            &["Prod", "dev"],
            &["default", "dev", "prod"]
        ));
        assert!(are_equivalent::<&str, _>(&[], &["default"]));
        assert!(!are_equivalent(&["dev"], &["dev", "prod"]));
    }
}
