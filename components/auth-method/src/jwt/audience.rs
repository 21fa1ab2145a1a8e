//! The claim `aud`: the audience that a token is made for.

use serde_json::Value;

/// Most values an `aud` may have.
const MAXIMUM_VALUES: usize = 32;

/// The audiences that a role and the server's operator allow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AudienceRule<'a> {
    /// The role as the caller named it.
    pub(crate) role: &'a str,
    /// Audiences that the role takes beside its own, compared exactly.
    pub(crate) bound: &'a [String],
    /// D4: a token without `aud` is for every role.
    pub(crate) accept_missing: bool,
    /// D5: no slash is needed before `vault/<role>`.
    pub(crate) accept_without_boundary: bool,
}

impl AudienceRule<'_> {
    /// True if every value of `aud` is `vault/<role>` or ends in `/vault/<role>`, for the role as the caller named it or its lower-case
    /// form, or is one that the role names (contract 4.5, SEC-J17). `None` is a token without `aud`.
    pub(super) fn accepts(&self, audience: Option<&Value>) -> bool {
        let folded = self.role.to_ascii_lowercase();
        let fits = |value: &Value| match value {
            Value::String(value) => {
                self.names(value, self.role)
                    || self.names(value, &folded)
                    || self.bound.contains(value)
            }
            _ => false,
        };
        match audience {
            Some(Value::Array(values)) => {
                (1..=MAXIMUM_VALUES).contains(&values.len()) && values.iter().all(fits)
            }
            Some(value) => fits(value),
            None => self.accept_missing,
        }
    }

    fn names(&self, value: &str, role: &str) -> bool {
        let Some(before) = value
            .strip_suffix(role)
            .and_then(|rest| rest.strip_suffix("vault/"))
        else {
            return false;
        };
        let bounded = before.is_empty() || before.ends_with('/') || self.accept_without_boundary;
        bounded && !before.contains('\0')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: AudienceRule<'_> = AudienceRule {
        role: "dev",
        bound: &[],
        accept_missing: false,
        accept_without_boundary: false,
    };

    fn is_for_role(audience: Option<&Value>, role: &str) -> bool {
        AudienceRule { role, ..STRICT }.accepts(audience)
    }

    fn text(value: &str) -> Value {
        Value::String(value.to_owned())
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
        assert!(!is_for_role(Some(&Value::Null), "dev"));
        assert!(!is_for_role(Some(&Value::Bool(true)), "dev"));
    }

    #[test]
    fn j17_each_member_of_a_list_must_fit() {
        let fits = || text("vault/dev");
        let other = || text("https://example.com");
        let list = |values: Vec<Value>| is_for_role(Some(&Value::Array(values)), "dev");
        assert!(list(vec![fits(), text("https://x/vault/dev")]));
        assert!(!list(vec![fits(), other()]));
        assert!(!list(vec![other(), fits()]));
        assert!(!list(vec![fits(), Value::Null]));
        assert!(!list(vec![]));
        assert!(list(vec![fits(); 32]));
        assert!(!list(vec![fits(); 33]));
    }

    #[test]
    fn bound_audiences_are_compared_exactly_and_count_beside_the_role() {
        let bound = ["https://gatehouse.example".to_owned()];
        let rule = AudienceRule {
            bound: &bound,
            ..STRICT
        };
        assert!(rule.accepts(Some(&text("https://gatehouse.example"))));
        assert!(rule.accepts(Some(&text("vault/dev"))));
        for other in [
            "https://gatehouse.example/",
            "HTTPS://gatehouse.example",
            "",
        ] {
            assert!(!rule.accepts(Some(&text(other))), "{other}");
        }
        let mixed = Value::Array(vec![text("https://gatehouse.example"), text("other")]);
        assert!(!rule.accepts(Some(&mixed)));
    }

    #[test]
    fn d4_d5_each_switch_takes_back_one_difference() {
        let lenient = AudienceRule {
            accept_missing: true,
            ..STRICT
        };
        assert!(lenient.accepts(None));
        assert!(!lenient.accepts(Some(&text("notvault/dev"))));
        assert!(!lenient.accepts(Some(&Value::Array(vec![]))));
        let boundless = AudienceRule {
            accept_without_boundary: true,
            ..STRICT
        };
        assert!(boundless.accepts(Some(&text("notvault/dev"))));
        assert!(!boundless.accepts(None));
        assert!(!boundless.accepts(Some(&text("vault/other"))));
    }
}
