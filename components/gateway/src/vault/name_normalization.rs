//! Names that exist only in lower case, folded to it before any policy is evaluated (SEC-A2, G17).
//!
//! A capability finds a role or a policy under any spelling of its name. Without folding, a rule that denies `role/prod` would not match `role/PROD`,
//! and the request would get the denied role.

use std::borrow::Cow;

use gatehouse_access_api::folded_identity_name;

use super::errors::ApiError;

/// The prefixes of paths that end in the name of a policy.
const POLICY_FAMILIES: [&str; 2] = ["sys/policies/acl/", "sys/policy/"];

/// The prefixes of paths that end in the name of an entity or a group. Both are found regardless of case.
const IDENTITY_FAMILIES: [&str; 2] = ["identity/entity/name/", "identity/group/name/"];

/// The suffixes of paths after the name of a role.
const ROLE_LISTS: [&str; 2] = ["/service-accounts", "/labels"];

/// The prefix of the paths of token-store roles. Their names are case-sensitive, so they are not folded.
const TOKEN_ROLES: &str = "auth/token/roles/";

/// `path`, which is below `v1/`, with the name of a role, a policy, an entity or a group in the one spelling that policies and routes see.
///
/// # Errors
///
/// 400 for the name of a policy with blanks around it, which would name the same policy as without them.
pub(super) fn folded(path: &str) -> Result<Cow<'_, str>, ApiError> {
    for family in POLICY_FAMILIES {
        if let Some(name) = path.strip_prefix(family) {
            if name.trim() != name {
                let text = "policy names must not begin or end with a blank";
                return Err(ApiError::plain(400, text));
            }
            return Ok(replaced(path, family, name, name.to_lowercase()));
        }
    }
    for family in IDENTITY_FAMILIES {
        if let Some(name) = path.strip_prefix(family) {
            return Ok(replaced(path, family, name, folded_identity_name(name)));
        }
    }
    if let Some((before, name)) = role_name(path) {
        return Ok(replaced(path, before, name, name.to_ascii_lowercase()));
    }
    for list in ROLE_LISTS {
        if let Some((before, name)) = path.strip_suffix(list).and_then(role_name) {
            let folded = name.to_ascii_lowercase() + list;
            return Ok(replaced(
                path,
                before,
                path.strip_prefix(before).unwrap_or(name),
                folded,
            ));
        }
    }
    Ok(Cow::Borrowed(path))
}

/// The part of the path before the name of a role, and the name. The mount's part of the path is known only after admission. So for a mount whose own
/// path ends in `role`, the next segment counts as the name of a role, for policies and routes alike.
pub(super) fn role_name(path: &str) -> Option<(&str, &str)> {
    let (before, name) = path.split_at_checked(path.rfind('/')? + 1)?;
    (before.starts_with("auth/") && before.ends_with("/role/")).then_some((before, name))
}

/// True if `path` is that of a token-store role.
pub(super) fn is_token_role(path: &str) -> bool {
    path.strip_prefix(TOKEN_ROLES)
        .is_some_and(|name| !name.contains('/'))
}

fn replaced<'p>(path: &'p str, before: &str, name: &str, folded: String) -> Cow<'p, str> {
    if folded == name {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("{before}{folded}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g17_names_are_folded_and_nothing_else_is() {
        for (sent, seen) in [
            ("sys/policies/acl/Prod", "sys/policies/acl/prod"),
            ("sys/policy/PROD/Ä", "sys/policy/prod/ä"),
            ("identity/entity/name/ÄNN", "identity/entity/name/änn"),
            ("identity/group/name/Ops", "identity/group/name/ops"),
            ("identity/group/id/Ops", "identity/group/id/Ops"),
            ("auth/gcp/role/Dev", "auth/gcp/role/dev"),
            ("auth/Team/A/role/DEV", "auth/Team/A/role/dev"),
            ("auth/role/role/DEV", "auth/role/role/dev"),
            ("auth/gcp/role/DEV/labels", "auth/gcp/role/dev/labels"),
            (
                "auth/gcp/role/DEV/service-accounts",
                "auth/gcp/role/dev/service-accounts",
            ),
            ("auth/gcp/role/ROLE/labels", "auth/gcp/role/role/labels"),
            ("auth/gcp/role/DEV/Labels", "auth/gcp/role/DEV/Labels"),
            ("auth/Gcp/login", "auth/Gcp/login"),
            ("sys/auth/Gcp", "sys/auth/Gcp"),
            ("sys/Policies/acl/A", "sys/Policies/acl/A"),
            ("auth/gcp/Role/A", "auth/gcp/Role/A"),
        ] {
            assert_eq!(folded(sent).unwrap(), seen);
        }
    }

    #[test]
    fn a2_blanks_around_the_name_of_a_policy_are_refused() {
        for path in ["sys/policies/acl/ prod", "sys/policy/prod "] {
            assert!(folded(path).is_err(), "{path}");
        }
        assert!(folded("sys/policy/a b").is_ok());
    }
}
