//! Values that pass between the gateway and `auth-method`.

use gatehouse_auth_method::{
    AliasSource, ConfigChanges, ConfigView, CredentialsView, CustomEndpoints, Identity,
    LegacyTokenFields, Mount, Precondition, Role, RoleChanges, RoleRules, RoleType, RoleWarning,
    TokenParameters, TokenType,
};

use super::{config_wit, login_wit, roles_wit, types};

same_cases!(types::RoleType, RoleType, Iam, Gce);
same_cases!(types::TokenType, TokenType, Default, Service, Batch);
same_cases!(config_wit::AliasSource, AliasSource, RoleId, Caller);
same_cases!(
    roles_wit::Precondition,
    Precondition,
    Any,
    MustBeNew,
    MustExist
);

same_fields!(types::TokenParameters => TokenParameters {
    ttl,
    maximum_ttl,
    explicit_maximum_ttl,
    period,
    policies,
    bound_cidrs,
    no_default_policy,
    number_of_uses,
    token_type,
});
same_fields!(config_wit::CredentialsView => CredentialsView {
    client_email,
    client_id,
    private_key_id,
    project_id,
});
same_fields!(config_wit::CustomEndpoints => CustomEndpoints { api, iam, crm, compute });
same_fields!(ConfigChanges => config_wit::ConfigChanges {
    credentials,
    iam_alias,
    gce_alias,
    iam_metadata,
    gce_metadata,
    custom_endpoint,
});
same_fields!(roles_wit::LegacyTokenFields => LegacyTokenFields {
    policies,
    ttl,
    maximum_ttl,
    period,
});
same_fields!(roles_wit::Role => Role {
    role_id,
    rules,
    bound_service_accounts,
    bound_projects,
    add_group_aliases,
    token,
    legacy,
});
same_fields!(RoleChanges => roles_wit::RoleChanges {
    role_type,
    bound_service_accounts,
    service_accounts,
    bound_projects,
    project_id,
    add_group_aliases,
    max_jwt_exp,
    allow_gce_inference,
    bound_zones,
    bound_regions,
    bound_instance_groups,
    bound_labels,
    bound_zone,
    bound_region,
    bound_instance_group,
    token_ttl,
    token_max_ttl,
    token_explicit_max_ttl,
    token_period,
    token_policies,
    token_bound_cidrs,
    token_no_default_policy,
    token_num_uses,
    token_type,
    policies,
    ttl,
    max_ttl,
    period,
});
same_fields!(login_wit::Identity => Identity {
    role,
    role_id,
    display_name,
    alias_name,
    metadata,
    token,
    renewal_state,
});

impl From<&Mount> for types::Mount {
    fn from(from: &Mount) -> Self {
        Self {
            id: from.id.clone(),
            accessor: from.accessor.clone(),
            path: from.path.clone(),
            default_lease: from.default_lease,
            maximum_lease: from.maximum_lease,
        }
    }
}

impl From<config_wit::ConfigView> for ConfigView {
    fn from(from: config_wit::ConfigView) -> Self {
        Self {
            credentials: from.credentials.map(Into::into),
            iam_alias: from.iam_alias.into(),
            gce_alias: from.gce_alias.into(),
            iam_metadata: from.iam_metadata,
            gce_metadata: from.gce_metadata,
            custom_endpoint: from.custom_endpoint.into(),
        }
    }
}

impl From<roles_wit::RoleRules> for RoleRules {
    fn from(from: roles_wit::RoleRules) -> Self {
        match from {
            roles_wit::RoleRules::Iam(rules) => Self::Iam {
                maximum_jwt_lifetime: rules.maximum_jwt_lifetime,
                allow_gce_inference: rules.allow_gce_inference,
            },
        }
    }
}

impl From<roles_wit::RoleWarning> for RoleWarning {
    fn from(from: roles_wit::RoleWarning) -> Self {
        use roles_wit::RoleWarning as Wit;
        match from {
            Wit::DeprecatedField(field) => Self::DeprecatedField {
                used: field.used.into(),
                instead: field.instead.into(),
            },
            Wit::TtlAboveMountMaximum(above) => Self::TtlAboveMountMaximum {
                ttl: above.given,
                mount_maximum: above.bound,
            },
            Wit::TtlAboveMountDefault(above) => Self::TtlAboveMountDefault {
                ttl: above.given,
                mount_default: above.bound,
            },
            Wit::MaximumTtlAboveMountMaximum(above) => Self::MaximumTtlAboveMountMaximum {
                maximum_ttl: above.given,
                mount_maximum: above.bound,
            },
            Wit::GroupAliasesOnSharedEntity => Self::GroupAliasesOnSharedEntity,
            Wit::AnyServiceAccountOfAnyProject => Self::AnyServiceAccountOfAnyProject,
        }
    }
}
