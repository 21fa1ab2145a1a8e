//! The interface `roles`.

use std::borrow::Cow;

use super::bindings::exports::gatehouse::auth_method::roles as wit;
use super::bindings::exports::gatehouse::auth_method::types::{Mount, StorageError};
use super::{Component, SERVICE};
use crate::{
    AuthMethod, LegacyTokenFields, Precondition, Role, RoleChanges, RoleError, RoleRules,
    RoleWarning, RoleWritten,
};

impl wit::Guest for Component {
    fn read(mount: Mount, name: String) -> Result<Option<wit::Role>, StorageError> {
        let role = SERVICE.with(|service| service.read_role(&mount.into(), &name))?;
        Ok(role.map(Into::into))
    }

    fn write(
        mount: Mount,
        name: String,
        changes: wit::RoleChanges,
        precondition: wit::Precondition,
    ) -> Result<wit::RoleWritten, wit::RoleError> {
        let precondition = match precondition {
            wit::Precondition::Any => Precondition::Any,
            wit::Precondition::MustBeNew => Precondition::MustBeNew,
            wit::Precondition::MustExist => Precondition::MustExist,
        };
        SERVICE
            .with(|service| service.write_role(&mount.into(), &name, changes.into(), precondition))
            .map(Into::into)
            .map_err(Into::into)
    }

    fn delete(mount: Mount, name: String) -> Result<(), StorageError> {
        Ok(SERVICE.with(|service| service.delete_role(&mount.into(), &name))?)
    }

    fn list(mount: Mount) -> Result<Vec<String>, StorageError> {
        Ok(SERVICE.with(|service| service.list_roles(&mount.into()))?)
    }
}

impl From<RoleRules> for wit::RoleRules {
    fn from(rules: RoleRules) -> Self {
        match rules {
            RoleRules::Iam {
                maximum_jwt_lifetime,
                allow_gce_inference,
            } => Self::Iam(wit::IamRules {
                maximum_jwt_lifetime,
                allow_gce_inference,
            }),
        }
    }
}

impl From<LegacyTokenFields> for wit::LegacyTokenFields {
    fn from(fields: LegacyTokenFields) -> Self {
        Self {
            policies: fields.policies,
            ttl: fields.ttl,
            maximum_ttl: fields.maximum_ttl,
            period: fields.period,
        }
    }
}

impl From<Role> for wit::Role {
    fn from(role: Role) -> Self {
        Self {
            role_id: role.role_id,
            rules: role.rules.into(),
            bound_service_accounts: role.bound_service_accounts,
            bound_projects: role.bound_projects,
            add_group_aliases: role.add_group_aliases,
            token: role.token.into(),
            legacy: role.legacy.into(),
        }
    }
}

impl From<wit::RoleChanges> for RoleChanges {
    fn from(changes: wit::RoleChanges) -> Self {
        Self {
            role_type: changes.role_type,
            bound_service_accounts: changes.bound_service_accounts,
            service_accounts: changes.service_accounts,
            bound_projects: changes.bound_projects,
            project_id: changes.project_id,
            add_group_aliases: changes.add_group_aliases,
            max_jwt_exp: changes.max_jwt_exp,
            allow_gce_inference: changes.allow_gce_inference,
            bound_zones: changes.bound_zones,
            bound_regions: changes.bound_regions,
            bound_instance_groups: changes.bound_instance_groups,
            bound_labels: changes.bound_labels,
            bound_zone: changes.bound_zone,
            bound_region: changes.bound_region,
            bound_instance_group: changes.bound_instance_group,
            token_ttl: changes.token_ttl,
            token_max_ttl: changes.token_max_ttl,
            token_explicit_max_ttl: changes.token_explicit_max_ttl,
            token_period: changes.token_period,
            token_policies: changes.token_policies,
            token_bound_cidrs: changes.token_bound_cidrs,
            token_no_default_policy: changes.token_no_default_policy,
            token_num_uses: changes.token_num_uses,
            token_type: changes.token_type,
            policies: changes.policies,
            ttl: changes.ttl,
            max_ttl: changes.max_ttl,
            period: changes.period,
        }
    }
}

impl From<RoleWarning> for wit::RoleWarning {
    fn from(warning: RoleWarning) -> Self {
        let above = |given, bound| wit::AboveBound { given, bound };
        match warning {
            RoleWarning::DeprecatedField { used, instead } => {
                Self::DeprecatedField(wit::DeprecatedField {
                    used: used.into_owned(),
                    instead: instead.into_owned(),
                })
            }
            RoleWarning::TtlAboveMountMaximum { ttl, mount_maximum } => {
                Self::TtlAboveMountMaximum(above(ttl, mount_maximum))
            }
            RoleWarning::TtlAboveMountDefault { ttl, mount_default } => {
                Self::TtlAboveMountDefault(above(ttl, mount_default))
            }
            RoleWarning::MaximumTtlAboveMountMaximum {
                maximum_ttl,
                mount_maximum,
            } => Self::MaximumTtlAboveMountMaximum(above(maximum_ttl, mount_maximum)),
            RoleWarning::GroupAliasesOnSharedEntity => Self::GroupAliasesOnSharedEntity,
            RoleWarning::AnyServiceAccountOfAnyProject => Self::AnyServiceAccountOfAnyProject,
        }
    }
}

impl From<RoleWritten> for wit::RoleWritten {
    fn from(written: RoleWritten) -> Self {
        Self {
            created: written.created,
            warnings: written.warnings.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<RoleError> for wit::RoleError {
    fn from(error: RoleError) -> Self {
        match error {
            RoleError::InvalidName => Self::InvalidName,
            RoleError::Exists => Self::Exists,
            RoleError::DoesNotExist => Self::DoesNotExist,
            RoleError::BoundCidr(entry) => Self::BoundCidr(entry),
            RoleError::NegativeNumberOfUses => Self::NegativeNumberOfUses,
            RoleError::TokenType(value) => Self::TokenType(value),
            RoleError::PeriodicBatch => Self::PeriodicBatch,
            RoleError::LimitedUseBatch => Self::LimitedUseBatch,
            RoleError::TtlAboveMaximumTtl => Self::TtlAboveMaximumTtl,
            RoleError::PeriodAboveMountMaximum {
                period,
                mount_maximum,
            } => Self::PeriodAboveMountMaximum(wit::AboveBound {
                given: period,
                bound: mount_maximum,
            }),
            RoleError::TypeMissing => Self::TypeMissing,
            RoleError::TypeInvalid(value) => Self::TypeInvalid(value),
            RoleError::TypeChanged => Self::TypeChanged,
            RoleError::WildcardWithOthers => Self::WildcardWithOthers,
            RoleError::ProjectsTwice => Self::ProjectsTwice,
            RoleError::FieldsOfOtherType { role_type, fields } => {
                Self::FieldsOfOtherType(wit::ForeignFields {
                    role_type: role_type.into(),
                    fields: fields.into_iter().map(Cow::into_owned).collect(),
                })
            }
            RoleError::JwtLifetimeTooLong => Self::JwtLifetimeTooLong,
            RoleError::NoServiceAccounts => Self::NoServiceAccounts,
            RoleError::TooLarge => Self::TooLarge,
            RoleError::Random(_) => Self::RandomnessFailed,
            RoleError::Storage(error) => Self::Storage(error.into()),
        }
    }
}
