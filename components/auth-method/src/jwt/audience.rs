//! Whom a token is made for.

use super::strict_json::Json;

/// Most values an `aud` may have.
const MAXIMUM_VALUES: usize = 32;

/// Whether every value of `aud` is `vault/<role>` or ends in `/vault/<role>`, for the role as the caller named it or its lower-case
/// form (contract 4.5, SEC-J17). `None` is a token without `aud`.
pub(super) fn is_for_role(audience: Option<&Json>, role: &str) -> bool {
    let folded = role.to_ascii_lowercase();
    let fits = |value: &Json| match value {
        Json::Text(value) => names_role(value, role) || names_role(value, &folded),
        _ => false,
    };
    match audience {
        Some(Json::Array(values)) => {
            (1..=MAXIMUM_VALUES).contains(&values.len()) && values.iter().all(fits)
        }
        Some(value) => fits(value),
        None => false,
    }
}

fn names_role(value: &str, role: &str) -> bool {
    let Some(before) = value
        .strip_suffix(role)
        .and_then(|rest| rest.strip_suffix("vault/"))
    else {
        return false;
    };
    !before.contains('\0') && (before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Json {
        Json::Text(value.to_owned())
    }

    #[test]
    fn contract_4_5_every_form_seen_in_the_wild_is_accepted() {
        for value in [
            "vault/dev",
            "http://vault/dev",
            "https://vault/dev",
            "https://vault.example.com:8200/vault/dev",
            "http://127.0.0.1:8200/vault/dev",
        ] {
            assert!(is_for_role(Some(&text(value)), "dev"), "{value}");
        }
        assert!(is_for_role(Some(&text("vault/dev")), "Dev"));
        assert!(is_for_role(Some(&text("vault/Dev")), "Dev"));
    }

    #[test]
    fn j17_everything_else_is_refused() {
        for value in [
            "",
            "vault",
            "vault/",
            "vault/de",
            "vault/dev/",
            "vault/devx",
            "notvault/dev",
            "xvault/dev",
            "/dev",
            "dev",
            "vault//dev",
            "Vault/dev",
            "vault/DEV",
            "vault/dev ",
            "http://x\0/vault/dev",
        ] {
            assert!(!is_for_role(Some(&text(value)), "dev"), "{value:?}");
        }
        assert!(!is_for_role(None, "dev"));
        assert!(!is_for_role(Some(&Json::Null), "dev"));
        assert!(!is_for_role(Some(&Json::Bool), "dev"));
    }

    #[test]
    fn j17_each_member_of_a_list_must_fit() {
        let fits = || text("vault/dev");
        let other = || text("https://example.com");
        let list = |values: Vec<Json>| is_for_role(Some(&Json::Array(values)), "dev");
        assert!(list(vec![fits(), text("https://x/vault/dev")]));
        assert!(!list(vec![fits(), other()]));
        assert!(!list(vec![other(), fits()]));
        assert!(!list(vec![fits(), Json::Null]));
        assert!(!list(vec![]));
        assert!(list(vec![fits(); 32]));
        assert!(!list(vec![fits(); 33]));
    }
}
