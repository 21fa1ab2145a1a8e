//! Names with a meaning of their own, the policy that every new server has, and the one that every server has.

use super::compile::compile;
use super::rule::Rule;
use crate::api::ServiceError;

/// Grants everything; has no text.
pub(crate) const ROOT: &str = "root";
/// On every token unless it is left out.
pub(crate) const DEFAULT: &str = "default";

/// On wrapping tokens, and on nothing else.
pub(crate) use gatehouse_access_api::RESPONSE_WRAPPING;

/// Policies that the server attaches by itself, never a person.
const INTERNAL: [&str; 2] = [RESPONSE_WRAPPING, "control-group"];

/// The text of policy `response-wrapping`, which cannot be changed.
pub(crate) const RESPONSE_WRAPPING_TEXT: &str = r#"# What a wrapping token may do with itself.
path "sys/wrapping/lookup" {
  capabilities = ["update"]
}
path "sys/wrapping/unwrap" {
  capabilities = ["update"]
}
path "sys/wrapping/rewrap" {
  capabilities = ["update"]
}
"#;

/// The rules of policy `response-wrapping`.
pub(crate) fn response_wrapping_rules() -> Result<Vec<Rule>, ServiceError> {
    compile(RESPONSE_WRAPPING_TEXT).map_err(|error| ServiceError::Damaged(error.to_string()))
}

/// The first text of policy `default`. Operators may change it.
pub(crate) const DEFAULT_TEXT: &str = r#"# What every token may do unless its role leaves this policy out.

# Its own token: look at it, keep it alive, end it.
path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/renew-self" {
  capabilities = ["update"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}

# Its own rights.
path "sys/capabilities-self" {
  capabilities = ["update"]
}
path "sys/internal/ui/resultant-acl" {
  capabilities = ["read"]
}

# Its own identity.
path "identity/entity/id/{{identity.entity.id}}" {
  capabilities = ["read"]
}
path "identity/entity/name/{{identity.entity.name}}" {
  capabilities = ["read"]
}

# Leases whose identifier it knows.
path "sys/renew" {
  capabilities = ["update"]
}
path "sys/leases/renew" {
  capabilities = ["update"]
}
path "sys/leases/lookup" {
  capabilities = ["update"]
}

# Its private store.
path "cubbyhole/*" {
  capabilities = ["create", "read", "update", "delete", "list"]
}

# Response wrapping.
path "sys/wrapping/wrap" {
  capabilities = ["update"]
}
path "sys/wrapping/lookup" {
  capabilities = ["update"]
}
path "sys/wrapping/unwrap" {
  capabilities = ["update"]
}

# Hashing of what it sends.
path "sys/tools/hash" {
  capabilities = ["update"]
}
path "sys/tools/hash/*" {
  capabilities = ["update"]
}
"#;

/// True if a policy of this name can be neither written nor deleted.
pub(crate) fn is_immutable(name: &str) -> bool {
    name == ROOT || INTERNAL.contains(&name)
}

/// True if a policy of this name cannot be put on a token.
pub(crate) fn is_unassignable(name: &str) -> bool {
    INTERNAL.contains(&name)
}

/// The one spelling of a policy's name.
pub(crate) fn normalize_name(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Names in their one spelling, sorted, without empty ones and duplicates; `root` swallows all others (contract 5.2).
pub(crate) fn sanitize<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let names = folded(names);
    if names.iter().any(|name| name == ROOT) {
        return vec![ROOT.to_owned()];
    }
    names
}

/// Names in their one spelling, sorted, without empty ones and duplicates.
pub(crate) fn folded<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names
        .into_iter()
        .map(|name| normalize_name(name))
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitized(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        sanitize(&names)
    }

    #[test]
    fn contract_5_2_names_are_trimmed_lowered_sorted_and_unique() {
        assert_eq!(
            sanitized(&[" Dev", "default", "", "dev", "A"]),
            ["a", "default", "dev"]
        );
    }

    #[test]
    fn a4_every_spelling_of_root_is_root_and_stands_alone() {
        for spelling in [
            "root",
            "Root",
            " root",
            "root ",
            "ROOT",
            "\troot\n",
            "\u{a0}root",
        ] {
            assert_eq!(sanitized(&["dev", spelling]), ["root"], "{spelling:?}");
        }
    }

    #[test]
    fn a4_look_alikes_are_other_policies() {
        // Cyrillic o; a zero-width space inside.
        for other in ["r\u{43e}ot", "ro\u{200b}ot"] {
            assert_eq!(sanitized(&[other]).len(), 1);
            assert_ne!(sanitized(&[other]), ["root"]);
        }
    }
}
