//! Values that pass between the gateway and `access`.

use std::collections::BTreeMap;

use gatehouse_access::{
    Admission, Capability, ClientToken, Cluster, CreateRequest, Issued, KeyPage, Leases, Lifetime,
    ListingVisibility, LoginGrant, Migration, Mount, MountConfiguration, MountRequest,
    MountTokenType, MountTuning, MountView, Operation, Parameter, PolicyView, Revalidated,
    Revalidation, TokenGrant, TokenParameters, TokenReference, TokenType, TokenView, TokenWarning,
    WritePermission,
};

use super::{
    migrations_wit, mounts_wit, policies_wit, requests_wit, system_wit, tokens_wit, types,
};
use crate::imported::address_text;

same_cases!(
    requests_wit::Operation,
    Operation,
    Read,
    List,
    Update,
    CreateOrUpdate,
    Patch,
    Delete,
    Help
);
same_cases!(
    types::Capability,
    Capability,
    Root,
    Deny,
    Sudo,
    Read,
    List,
    Update,
    Delete,
    Create,
    Patch
);
same_cases!(types::TokenType, TokenType, Service, Batch);
same_cases!(
    mounts_wit::MountTokenType,
    MountTokenType,
    DefaultService,
    DefaultBatch,
    Service,
    Batch
);
same_cases!(
    mounts_wit::ListingVisibility,
    ListingVisibility,
    Hidden,
    Unauthenticated
);

same_fields!(system_wit::Cluster => Cluster { id, name });
same_fields!(policies_wit::Policy => PolicyView { name, text });
same_fields!(requests_wit::WritePermission => WritePermission { create, update });
same_fields!(migrations_wit::Migration => Migration { source, target });
same_fields!(WritePermission => requests_wit::WritePermission { create, update });
same_fields!(types::KeyPage => KeyPage { keys, next });
same_fields!(Parameter => requests_wit::Parameter { name, value });
same_fields!(types::Mount => Mount {
    id,
    accessor,
    path,
    mount_type,
    default_lease_ttl,
    max_lease_ttl,
    audit_non_hmac_request_keys,
    audit_non_hmac_response_keys,
});
same_fields!(Lifetime => tokens_wit::Lifetime {
    ttl,
    max_ttl,
    explicit_max_ttl,
    period,
});
same_fields!(tokens_wit::Revalidation => Revalidation {
    mount,
    renewal_state,
    token_policies,
});
same_fields!(mounts_wit::Leases => Leases { default_ttl, max_ttl });

impl From<&MountRequest> for mounts_wit::MountRequest {
    fn from(from: &MountRequest) -> Self {
        let from = from.clone();
        Self {
            mount_type: from.mount_type,
            description: from.description,
            default_lease_ttl: from.default_lease_ttl,
            max_lease_ttl: from.max_lease_ttl,
            force_no_cache: from.force_no_cache,
            token_type: from.token_type,
            listing_visibility: from.listing_visibility,
            audit_non_hmac_request_keys: from.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: from.audit_non_hmac_response_keys,
            passthrough_request_headers: from.passthrough_request_headers,
            allowed_response_headers: from.allowed_response_headers,
            identity_token_key: from.identity_token_key,
            trim_request_trailing_slashes: from.trim_request_trailing_slashes,
            options: from.options,
            local: from.local,
            seal_wrap: from.seal_wrap,
            external_entropy_access: from.external_entropy_access,
        }
    }
}

impl From<&MountTuning> for mounts_wit::MountTuning {
    fn from(from: &MountTuning) -> Self {
        let from = from.clone();
        Self {
            default_lease_ttl: from.default_lease_ttl,
            max_lease_ttl: from.max_lease_ttl,
            description: from.description,
            token_type: from.token_type,
            listing_visibility: from.listing_visibility,
            audit_non_hmac_request_keys: from.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: from.audit_non_hmac_response_keys,
            passthrough_request_headers: from.passthrough_request_headers,
            allowed_response_headers: from.allowed_response_headers,
            identity_token_key: from.identity_token_key,
            trim_request_trailing_slashes: from.trim_request_trailing_slashes,
            options: from.options,
        }
    }
}
same_fields!(mounts_wit::MountView => MountView {
    path,
    id,
    accessor,
    mount_type,
    description,
    configuration,
    leases,
    options,
    local,
    seal_wrap,
    external_entropy_access,
});

impl From<mounts_wit::MountConfiguration> for MountConfiguration {
    fn from(from: mounts_wit::MountConfiguration) -> Self {
        Self {
            default_lease_ttl: from.default_lease_ttl,
            max_lease_ttl: from.max_lease_ttl,
            force_no_cache: from.force_no_cache,
            token_type: from.token_type.into(),
            listing_visibility: from.listing_visibility.map(Into::into),
            audit_non_hmac_request_keys: from.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: from.audit_non_hmac_response_keys,
            passthrough_request_headers: from.passthrough_request_headers,
            allowed_response_headers: from.allowed_response_headers,
            identity_token_key: from.identity_token_key,
            trim_request_trailing_slashes: from.trim_request_trailing_slashes,
        }
    }
}

impl From<TokenReference<'_>> for types::TokenReference {
    fn from(from: TokenReference<'_>) -> Self {
        match from {
            TokenReference::Id(token) => Self::Id(token.to_owned()),
            TokenReference::Accessor(accessor) => Self::Accessor(accessor.to_owned()),
            TokenReference::Lease(id) => Self::Lease(id.to_owned()),
        }
    }
}

impl From<requests_wit::Admission> for Admission {
    fn from(from: requests_wit::Admission) -> Self {
        Self {
            caller: from.caller.map(Into::into),
            mount: from.mount.map(Into::into),
            remainder: from.remainder,
            write: from.write.into(),
            sudo: from.sudo,
            limited_uses: from.limited_uses,
        }
    }
}

fn metadata(from: Option<Vec<(String, String)>>) -> Option<BTreeMap<String, String>> {
    from.map(|pairs| pairs.into_iter().collect())
}

fn pairs(from: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let pair = |(name, value): (&String, &String)| (name.clone(), value.clone());
    from.iter().map(pair).collect()
}

impl From<types::TokenView> for TokenView {
    fn from(from: types::TokenView) -> Self {
        Self {
            accessor: from.accessor,
            creation_time: from.creation_time,
            creation_ttl: from.creation_ttl,
            display_name: from.display_name,
            entity_id: from.entity_id,
            expire_time: from.expire_time,
            explicit_max_ttl: from.explicit_max_ttl,
            last_renewal_time: from.last_renewal_time,
            metadata: metadata(from.metadata),
            num_uses: from.num_uses,
            orphan: from.orphan,
            path: from.path,
            role: from.role,
            period: from.period,
            policies: from.policies,
            identity_policies: from.identity_policies,
            bound_cidrs: from.bound_cidrs,
            renewable: from.renewable,
            ttl: from.ttl,
            token_type: from.token_type.into(),
        }
    }
}

impl From<&TokenParameters> for tokens_wit::TokenParameters {
    fn from(from: &TokenParameters) -> Self {
        Self {
            lifetime: from.lifetime.into(),
            policies: from.policies.clone(),
            no_default_policy: from.no_default_policy,
            bound_cidrs: from.bound_cidrs.clone(),
            num_uses: from.num_uses,
            token_type: from.token_type.map(Into::into),
        }
    }
}

impl From<&Revalidated> for tokens_wit::Revalidated {
    fn from(from: &Revalidated) -> Self {
        Self {
            lifetime: from.lifetime.into(),
            group_aliases: from.group_aliases.clone(),
        }
    }
}

impl From<&LoginGrant> for tokens_wit::LoginGrant {
    fn from(from: &LoginGrant) -> Self {
        Self {
            mount_id: from.mount_id.clone(),
            mount_path: from.mount_path.clone(),
            role: from.role.clone(),
            alias_name: from.alias_name.clone(),
            metadata: pairs(&from.metadata),
            display_name: from.display_name.clone(),
            group_aliases: from.group_aliases.clone(),
            parameters: (&from.parameters).into(),
            renewal_state: from.renewal_state.clone(),
            source_address: address_text(from.source_address),
        }
    }
}

impl From<&CreateRequest> for tokens_wit::CreateRequest {
    fn from(from: &CreateRequest) -> Self {
        Self {
            role: from.role.clone(),
            id: from.id.clone(),
            policies: from.policies.clone(),
            metadata: from.metadata.as_ref().map(pairs),
            no_parent: from.no_parent,
            no_default_policy: from.no_default_policy,
            renewable: from.renewable,
            ttl: from.ttl,
            explicit_max_ttl: from.explicit_max_ttl,
            period: from.period,
            display_name: from.display_name.clone(),
            num_uses: from.num_uses,
            token_type: from.token_type.clone(),
            entity_alias: from.entity_alias.clone(),
        }
    }
}

impl From<tokens_wit::TokenWarning> for TokenWarning {
    fn from(from: tokens_wit::TokenWarning) -> Self {
        match from {
            tokens_wit::TokenWarning::TtlCapped(cap) => Self::TtlCapped {
                asked: cap.asked,
                effective_max_ttl: cap.effective_max_ttl,
            },
            tokens_wit::TokenWarning::PeriodCapped(cap) => Self::PeriodCapped {
                asked: cap.asked,
                effective_max_ttl: cap.effective_max_ttl,
            },
            tokens_wit::TokenWarning::LesserExplicitMaxTtl(lesser) => {
                Self::LesserExplicitMaxTtl(lesser)
            }
            tokens_wit::TokenWarning::LesserPeriod(lesser) => Self::LesserPeriod(lesser),
            tokens_wit::TokenWarning::UnknownPolicy(name) => Self::UnknownPolicy(name),
            tokens_wit::TokenWarning::ChosenId => Self::ChosenId,
            tokens_wit::TokenWarning::IgnoredId => Self::IgnoredId,
        }
    }
}

impl From<tokens_wit::TokenGrant> for TokenGrant {
    fn from(from: tokens_wit::TokenGrant) -> Self {
        Self {
            accessor: from.accessor,
            policies: from.policies,
            token_policies: from.token_policies,
            identity_policies: from.identity_policies,
            metadata: metadata(from.metadata),
            lease_duration: from.lease_duration,
            renewable: from.renewable,
            entity_id: from.entity_id,
            token_type: from.token_type.into(),
            orphan: from.orphan,
            num_uses: from.num_uses,
            warnings: from.warnings.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<tokens_wit::Issued> for Issued {
    fn from(from: tokens_wit::Issued) -> Self {
        Self {
            client_token: ClientToken::new(from.client_token),
            grant: from.grant.into(),
        }
    }
}
