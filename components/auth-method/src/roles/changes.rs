//! The effect of a write on a stored role, in the order of contract 3.3.

use super::{bindings, bounds, gce, iam, requirements, token_fields, warnings};
use crate::config::ConfigRecord;
use crate::excerpt::value_excerpt;
use crate::{
    FieldsOfOtherType, LegacyTokenFields, Mount, Role, RoleChanges, RoleError, RoleRules, RoleType,
    RoleWarning, TokenParameters,
};

/// A role that passed all checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) role: Role,
    pub(crate) warnings: Vec<RoleWarning>,
}

/// The role after `changes`. `stored` is what there is; without it `new_role_id` makes the id of a new role.
pub(crate) fn apply(
    stored: Option<Role>,
    changes: &RoleChanges,
    mount: &Mount,
    config: &ConfigRecord,
    new_role_id: impl FnOnce() -> Result<String, RoleError>,
) -> Result<Written, RoleError> {
    let before = stored.clone();
    let (mut token, mut legacy) = stored
        .as_ref()
        .map_or_else(<(TokenParameters, LegacyTokenFields)>::default, |role| {
            (role.token.clone(), role.legacy.clone())
        });
    token_fields::apply(&mut token, &mut legacy, changes)?;
    let mut role = match stored {
        Some(role) => {
            check_type(changes, role.rules.role_type())?;
            role
        }
        None => new_role(changes, new_role_id)?,
    };
    role.token = token;
    role.legacy = legacy;
    let mut warnings = Vec::new();
    bindings::apply(&mut role, changes, &mut warnings)?;
    refuse_fields_of_other_type(changes, role.rules.role_type())?;
    role.options.alias = bindings::alias(&role, changes)?;
    match &mut role.rules {
        RoleRules::Iam(rules) => iam::apply(rules, changes)?,
        RoleRules::Gce(rules) => gce::apply(rules, changes, &mut warnings)?,
    }
    requirements::check(&role)?;
    bounds::refuse_blank_lists(changes)?;
    bounds::check(&role, before.as_ref())?;
    requirements::check_sent_period(&role, changes, mount)?;
    warnings::add_warnings(&role, mount, config, &mut warnings);
    Ok(Written { role, warnings })
}

fn new_role(
    changes: &RoleChanges,
    new_role_id: impl FnOnce() -> Result<String, RoleError>,
) -> Result<Role, RoleError> {
    let rules = match changes.role_type.as_deref() {
        None | Some("") => return Err(RoleError::TypeMissing),
        Some("iam") => iam::defaults(),
        Some("gce") => RoleRules::Gce(crate::GceRules::default()),
        Some(other) => return Err(RoleError::TypeInvalid(value_excerpt(other))),
    };
    Ok(bindings::unbound(new_role_id()?, rules))
}

fn check_type(changes: &RoleChanges, stored: RoleType) -> Result<(), RoleError> {
    match changes.role_type.as_deref() {
        None => Ok(()),
        Some("") => Err(RoleError::TypeMissing),
        Some(sent) if sent == stored.to_string() => Ok(()),
        Some("iam" | "gce") => Err(RoleError::TypeChanged),
        Some(other) => Err(RoleError::TypeInvalid(value_excerpt(other))),
    }
}

/// Fields that would be without effect. The old names of gce's lists are not among them: on iam roles they always were.
fn refuse_fields_of_other_type(
    changes: &RoleChanges,
    role_type: RoleType,
) -> Result<(), RoleError> {
    let fields = match role_type {
        RoleType::Iam => gce::sent(changes),
        RoleType::Gce => iam::sent(changes),
    };
    if fields.is_empty() {
        Ok(())
    } else {
        Err(RoleError::FieldsOfOtherType(FieldsOfOtherType {
            role_type,
            fields,
        }))
    }
}
