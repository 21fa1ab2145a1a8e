//! The fields that only iam roles have.

use super::{set, true_names};
use crate::{IamRules, RoleChanges, RoleError, RoleRules};

/// Seconds that the `exp` of an account-signed token may lie ahead when the operator does not say.
const DEFAULT_JWT_LIFETIME: u64 = 900;
/// Seconds that it may lie ahead at most.
const MAXIMUM_JWT_LIFETIME: u64 = 3600;

/// The rules of a new role.
pub(super) const fn defaults() -> RoleRules {
    RoleRules::Iam(IamRules {
        maximum_jwt_lifetime: DEFAULT_JWT_LIFETIME,
        allow_gce_inference: true,
    })
}

pub(super) fn apply(rules: &mut IamRules, changes: &RoleChanges) -> Result<(), RoleError> {
    match changes.max_jwt_exp {
        None => {}
        Some(0) => rules.maximum_jwt_lifetime = DEFAULT_JWT_LIFETIME,
        Some(seconds @ ..=MAXIMUM_JWT_LIFETIME) => rules.maximum_jwt_lifetime = seconds,
        Some(_) => return Err(RoleError::JwtLifetimeTooLong),
    }
    set(&mut rules.allow_gce_inference, changes.allow_gce_inference);
    Ok(())
}

/// The fields among those sent that only iam roles have, sorted.
pub(super) fn sent(changes: &RoleChanges) -> Vec<String> {
    true_names([
        ("allow_gce_inference", changes.allow_gce_inference.is_some()),
        ("max_jwt_exp", changes.max_jwt_exp.is_some()),
    ])
}
