//! Token-store roles, in and out.

use super::bindings::exports::gatehouse::access::token_roles as wit;
use super::{Component, access, requests_wit, types_wit};
use crate::{
    Access, OldSpellings, RenamedField, TokenRole, TokenRoleChanges, TokenRoleError,
    TokenRoleWarning, WritePermission,
};

impl wit::Guest for Component {
    fn list_names(
        after: Option<String>,
        limit: u32,
    ) -> Result<types_wit::KeyPage, types_wit::Failure> {
        Ok(access(|it| it.list_token_roles(after.as_deref(), limit))?.into())
    }

    fn read(name: String) -> Result<Option<wit::TokenRole>, types_wit::Failure> {
        Ok(access(|it| it.read_token_role(&name))?.map(Into::into))
    }

    fn write(
        name: String,
        changes: wit::TokenRoleChanges,
        permission: requests_wit::WritePermission,
    ) -> Result<Vec<wit::TokenRoleWarning>, wit::TokenRoleError> {
        let permission = WritePermission {
            create: permission.create,
            update: permission.update,
        };
        let warnings = access(|it| it.write_token_role(&name, &changes.into(), permission))?;
        Ok(warnings.into_iter().map(Into::into).collect())
    }

    fn delete(name: String) -> Result<(), types_wit::Failure> {
        Ok(access(|it| it.delete_token_role(&name))?)
    }
}

impl From<OldSpellings> for wit::OldSpellings {
    fn from(old: OldSpellings) -> Self {
        Self {
            bound_cidrs: old.bound_cidrs,
            explicit_max_ttl: old.explicit_max_ttl,
            period: old.period,
        }
    }
}

impl From<TokenRole> for wit::TokenRole {
    fn from(role: TokenRole) -> Self {
        Self {
            name: role.name,
            allowed_policies: role.allowed_policies,
            allowed_policies_glob: role.allowed_policies_glob,
            disallowed_policies: role.disallowed_policies,
            disallowed_policies_glob: role.disallowed_policies_glob,
            allowed_entity_aliases: role.allowed_entity_aliases,
            orphan: role.orphan,
            renewable: role.renewable,
            path_suffix: role.path_suffix,
            bound_cidrs: role.bound_cidrs,
            explicit_max_ttl: role.explicit_max_ttl,
            no_default_policy: role.no_default_policy,
            num_uses: role.num_uses,
            period: role.period,
            token_type: role.token_type.into(),
            old_spellings: role.old_spellings.into(),
        }
    }
}

impl From<wit::TokenRoleChanges> for TokenRoleChanges {
    fn from(changes: wit::TokenRoleChanges) -> Self {
        Self {
            allowed_policies: changes.allowed_policies,
            allowed_policies_glob: changes.allowed_policies_glob,
            disallowed_policies: changes.disallowed_policies,
            disallowed_policies_glob: changes.disallowed_policies_glob,
            allowed_entity_aliases: changes.allowed_entity_aliases,
            orphan: changes.orphan,
            renewable: changes.renewable,
            path_suffix: changes.path_suffix,
            bound_cidrs: changes.bound_cidrs,
            explicit_max_ttl: changes.explicit_max_ttl,
            no_default_policy: changes.no_default_policy,
            num_uses: changes.num_uses,
            period: changes.period,
            token_type: changes.token_type,
            old_bound_cidrs: changes.old_bound_cidrs,
            old_explicit_max_ttl: changes.old_explicit_max_ttl,
            old_period: changes.old_period,
        }
    }
}

impl From<RenamedField> for wit::RenamedField {
    fn from(field: RenamedField) -> Self {
        match field {
            RenamedField::Period => Self::Period,
            RenamedField::BoundCidrs => Self::BoundCidrs,
            RenamedField::ExplicitMaxTtl => Self::ExplicitMaxTtl,
        }
    }
}

impl From<TokenRoleWarning> for wit::TokenRoleWarning {
    fn from(warning: TokenRoleWarning) -> Self {
        match warning {
            TokenRoleWarning::OldSpellingIgnored(field) => Self::OldSpellingIgnored(field.into()),
            TokenRoleWarning::ExplicitMaxTtlAboveMount {
                explicit_max_ttl,
                mount_max,
            } => Self::ExplicitMaxTtlAboveMount(wit::ExcessiveLife {
                explicit_max_ttl,
                mount_max,
            }),
        }
    }
}

impl From<TokenRoleError> for wit::TokenRoleError {
    fn from(error: TokenRoleError) -> Self {
        match error {
            TokenRoleError::InvalidName => Self::InvalidName,
            TokenRoleError::Denied => Self::Denied,
            TokenRoleError::InvalidPathSuffix => Self::InvalidPathSuffix,
            TokenRoleError::PathSuffixWithParent => Self::PathSuffixWithParent,
            TokenRoleError::NegativeNumUses => Self::NegativeNumUses,
            TokenRoleError::InvalidBoundCidr {
                range,
                old_spelling,
            } => Self::InvalidBoundCidr(wit::InvalidRange {
                range,
                old_spelling,
            }),
            TokenRoleError::InvalidTokenType(name) => Self::InvalidTokenType(name),
            TokenRoleError::BatchWithParent => Self::BatchWithParent,
            TokenRoleError::RenewableBatch => Self::RenewableBatch,
            TokenRoleError::BatchWith(field) => Self::BatchWith(field.into()),
            TokenRoleError::TooLarge(most) => Self::TooLarge(most),
            TokenRoleError::OnlyBlanks => Self::OnlyBlanks,
            TokenRoleError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
