//! Token-store roles.

use gatehouse_access::{
    OldSpellings, RenamedField, TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning,
};

use super::token_roles_wit;

same_cases!(
    token_roles_wit::RenamedField,
    RenamedField,
    Period,
    BoundCidrs,
    ExplicitMaxTtl
);

same_fields!(token_roles_wit::OldSpellings => OldSpellings {
    bound_cidrs,
    explicit_max_ttl,
    period,
});
same_fields!(token_roles_wit::TokenRole => TokenRole {
    name,
    allowed_policies,
    allowed_policies_glob,
    disallowed_policies,
    disallowed_policies_glob,
    allowed_entity_aliases,
    orphan,
    renewable,
    path_suffix,
    bound_cidrs,
    explicit_max_ttl,
    no_default_policy,
    num_uses,
    period,
    token_type,
    old_spellings,
});

impl From<&TokenRoleChanges> for token_roles_wit::TokenRoleChanges {
    fn from(from: &TokenRoleChanges) -> Self {
        let from = from.clone();
        Self {
            allowed_policies: from.allowed_policies,
            allowed_policies_glob: from.allowed_policies_glob,
            disallowed_policies: from.disallowed_policies,
            disallowed_policies_glob: from.disallowed_policies_glob,
            allowed_entity_aliases: from.allowed_entity_aliases,
            orphan: from.orphan,
            renewable: from.renewable,
            path_suffix: from.path_suffix,
            bound_cidrs: from.bound_cidrs,
            explicit_max_ttl: from.explicit_max_ttl,
            no_default_policy: from.no_default_policy,
            num_uses: from.num_uses,
            period: from.period,
            token_type: from.token_type,
            old_bound_cidrs: from.old_bound_cidrs,
            old_explicit_max_ttl: from.old_explicit_max_ttl,
            old_period: from.old_period,
        }
    }
}

impl From<token_roles_wit::TokenRoleWarning> for TokenRoleWarning {
    fn from(from: token_roles_wit::TokenRoleWarning) -> Self {
        use token_roles_wit::TokenRoleWarning as Wit;
        match from {
            Wit::OldSpellingIgnored(field) => Self::OldSpellingIgnored(field.into()),
            Wit::ExplicitMaxTtlAboveMount(life) => Self::ExplicitMaxTtlAboveMount {
                explicit_max_ttl: life.explicit_max_ttl,
                mount_max: life.mount_max,
            },
        }
    }
}

impl From<token_roles_wit::TokenRoleError> for TokenRoleError {
    fn from(from: token_roles_wit::TokenRoleError) -> Self {
        use token_roles_wit::TokenRoleError as Wit;
        match from {
            Wit::InvalidName => Self::InvalidName,
            Wit::Denied => Self::Denied,
            Wit::InvalidPathSuffix => Self::InvalidPathSuffix,
            Wit::PathSuffixWithParent => Self::PathSuffixWithParent,
            Wit::NegativeNumUses => Self::NegativeNumUses,
            Wit::InvalidBoundCidr(invalid) => Self::InvalidBoundCidr {
                range: invalid.range,
                old_spelling: invalid.old_spelling,
            },
            Wit::InvalidTokenType(name) => Self::InvalidTokenType(name),
            Wit::BatchWithParent => Self::BatchWithParent,
            Wit::RenewableBatch => Self::RenewableBatch,
            Wit::BatchWith(field) => Self::BatchWith(field.into()),
            Wit::TooLarge(most) => Self::TooLarge(most),
            Wit::OnlyBlanks => Self::OnlyBlanks,
            Wit::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
