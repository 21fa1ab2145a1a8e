//! The fields of a role that its tokens inherit, under their new and their old names (contract 3.2).

use gatehouse_ports::networks;

use super::set;
use crate::excerpt::value_excerpt;
use crate::policies::sanitized;
use crate::{LegacyTokenFields, RoleChanges, RoleError, TokenParameters, TokenType};

/// Applies the token fields of `changes`, new names first.
pub(super) fn apply(
    token: &mut TokenParameters,
    legacy: &mut LegacyTokenFields,
    changes: &RoleChanges,
) -> Result<(), RoleError> {
    if let Some(entries) = &changes.token_bound_cidrs {
        token.bound_cidrs = entries
            .iter()
            .map(|entry| entry.trim())
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                networks::normalized(entry)
                    .ok_or_else(|| RoleError::BoundCidr(value_excerpt(entry)))
            })
            .collect::<Result<_, _>>()?;
    }
    set(
        &mut token.explicit_maximum_ttl,
        changes.token_explicit_max_ttl,
    );
    set(&mut token.maximum_ttl, changes.token_max_ttl);
    set(
        &mut token.no_default_policy,
        changes.token_no_default_policy,
    );
    set(&mut token.period, changes.token_period);
    set(
        &mut token.policies,
        changes.token_policies.as_deref().map(trimmed),
    );
    if let Some(value) = &changes.token_type {
        token.token_type = token_type(value)?;
    }
    set(&mut token.ttl, changes.token_ttl);
    if let Some(number) = changes.token_num_uses {
        token.number_of_uses =
            u64::try_from(number).map_err(|_| RoleError::NegativeNumberOfUses)?;
    }
    apply_legacy(token, legacy, changes);
    check(token)
}

fn apply_legacy(
    token: &mut TokenParameters,
    legacy: &mut LegacyTokenFields,
    changes: &RoleChanges,
) {
    mirror(
        &mut token.policies,
        &mut legacy.policies,
        changes.token_policies.is_some(),
        changes.policies.as_deref().map(sanitized),
    );
    mirror(
        &mut token.ttl,
        &mut legacy.ttl,
        changes.token_ttl.is_some(),
        changes.ttl,
    );
    mirror(
        &mut token.maximum_ttl,
        &mut legacy.maximum_ttl,
        changes.token_max_ttl.is_some(),
        changes.max_ttl,
    );
    mirror(
        &mut token.period,
        &mut legacy.period,
        changes.token_period.is_some(),
        changes.period,
    );
}

/// The old name sets both fields, unless the new one was sent: then that wins, and the old field mirrors it if it was sent too and
/// is forgotten if not.
fn mirror<T: Clone>(
    field: &mut T,
    old_field: &mut Option<T>,
    new_name_sent: bool,
    old_name_value: Option<T>,
) {
    match (new_name_sent, old_name_value) {
        (false, None) => {}
        (false, Some(value)) => {
            *field = value.clone();
            *old_field = Some(value);
        }
        (true, None) => *old_field = None,
        (true, Some(_)) => *old_field = Some(field.clone()),
    }
}

fn check(token: &TokenParameters) -> Result<(), RoleError> {
    if token.token_type == TokenType::Batch {
        if token.period > 0 {
            return Err(RoleError::PeriodicBatch);
        }
        if token.number_of_uses > 0 {
            return Err(RoleError::LimitedUseBatch);
        }
    }
    if token.maximum_ttl > 0 && token.ttl > token.maximum_ttl {
        return Err(RoleError::TtlAboveMaximumTtl);
    }
    Ok(())
}

fn token_type(value: &str) -> Result<TokenType, RoleError> {
    match value {
        "" | "default" => Ok(TokenType::Default),
        "service" => Ok(TokenType::Service),
        "batch" => Ok(TokenType::Batch),
        _ => Err(RoleError::TokenType(value_excerpt(value))),
    }
}

fn trimmed(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.trim().to_owned()).collect()
}
