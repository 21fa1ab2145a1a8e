//! The terms of a role for a new token.

use super::pattern::any_matches;
use crate::api::{
    CreateError, Lifetime, MountTokenType, PoliciesOfRole, ServiceField, TokenRole, TokenType,
    TokenWarning,
};
use crate::policy::{DEFAULT, sanitize};

/// The type of a token for which its creator asks for `asked`; empty for no wish.
pub(crate) const fn token_type<'a>(role: &TokenRole, asked: &'a str) -> &'a str {
    match role.token_type {
        MountTokenType::Service => "service",
        MountTokenType::Batch => "batch",
        MountTokenType::DefaultBatch if asked.is_empty() => "batch",
        MountTokenType::DefaultBatch | MountTokenType::DefaultService => asked,
    }
}

/// True if a token may have an alias of this name, which is in lower case.
pub(super) fn allows_alias(role: &TokenRole, name: &str) -> bool {
    let allowed = role.allowed_entity_aliases.as_deref().unwrap_or_default();
    any_matches(allowed, name)
}

/// Limits a creator's wishes by those of the role: of two limits the lesser one, which is warned of where it may
/// come as a surprise.
pub(crate) fn limited(
    role: &TokenRole,
    token_type: TokenType,
    lifetime: &mut Lifetime,
    num_uses: &mut u64,
) -> Result<Vec<TokenWarning>, CreateError> {
    let limits = [
        (role.explicit_max_ttl, ServiceField::ExplicitMaxTtl),
        (role.num_uses, ServiceField::NumUses),
        (role.period, ServiceField::Period),
    ];
    // A limit that cannot be kept is not dropped.
    if token_type == TokenType::Batch
        && let Some((_, field)) = limits.into_iter().find(|(limit, _)| *limit > 0)
    {
        return Err(CreateError::BatchWith(field));
    }
    lesser(num_uses, role.num_uses);
    let explicit_max_ttl = lesser(&mut lifetime.explicit_max_ttl, role.explicit_max_ttl);
    let period = lesser(&mut lifetime.period, role.period);
    let warnings = [
        explicit_max_ttl.map(TokenWarning::LesserExplicitMaxTtl),
        period.map(TokenWarning::LesserPeriod),
    ];
    Ok(warnings.into_iter().flatten().collect())
}

/// The path that its tokens are issued at.
pub(crate) fn issuing_path(role: &TokenRole) -> String {
    let path = format!("auth/token/create/{}", role.name);
    match role.path_suffix.as_str() {
        "" => path,
        suffix => format!("{path}/{suffix}"),
    }
}

/// True if the role decides which policies a token may have; otherwise that is for its parent.
pub(crate) fn decides_policies(role: &TokenRole) -> bool {
    [
        &role.allowed_policies,
        &role.allowed_policies_glob,
        &role.disallowed_policies,
        &role.disallowed_policies_glob,
    ]
    .iter()
    .any(|list| !list.is_empty())
}

/// The policies of a token for which its creator asks for `asked`, or without it for none in particular. `no_default` leaves
/// `default` out.
pub(crate) fn policies(
    role: &TokenRole,
    asked: Option<&[String]>,
    no_default: bool,
    of_parent: &[String],
) -> Result<Vec<String>, CreateError> {
    let disallows = |policy: &str| {
        role.disallowed_policies.iter().any(|it| it == policy)
            || any_matches(&role.disallowed_policies_glob, policy)
    };
    let adds_default = !no_default && !role.no_default_policy && !disallows(DEFAULT);
    let default = adds_default.then(|| DEFAULT.to_owned());
    let with_default = |policies: &[String]| sanitize(policies.iter().chain(&default));

    let allows_only = !role.allowed_policies.is_empty() || !role.allowed_policies_glob.is_empty();
    let allowed = with_default(&role.allowed_policies);
    let mut policies = match (asked, allows_only) {
        (None, true) => allowed,
        (None, false) => with_default(of_parent),
        (Some(asked), true) => {
            let policies = with_default(asked);
            let globs = &role.allowed_policies_glob;
            let is_allowed = |it: &String| allowed.contains(it) || any_matches(globs, it);
            if !policies.iter().all(is_allowed) {
                return Err(CreateError::PoliciesNotOfRole(PoliciesOfRole {
                    policies,
                    allowed,
                    allowed_glob: globs.clone(),
                }));
            }
            policies
        }
        (Some(asked), false) => with_default(asked),
    };
    if let Some(policy) = policies.iter().find(|policy| disallows(policy)) {
        return Err(CreateError::PolicyDisallowedByRole(policy.clone()));
    }
    if no_default {
        policies.retain(|policy| policy != DEFAULT);
    }
    Ok(policies)
}

/// Brings a limit down to another one, of which 0 means no limit; gives what they come to where there were two.
fn lesser(limit: &mut u64, other: u64) -> Option<u64> {
    match (*limit, other) {
        (_, 0) => None,
        (0, other) => {
            *limit = other;
            None
        }
        (one, other) => {
            *limit = one.min(other);
            Some(*limit)
        }
    }
}
