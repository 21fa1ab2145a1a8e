//! What goes out.

use super::{mounts_wit, policies_wit, requests_wit, system_wit, tokens_wit, types_wit};
use crate::{
    Admission, Capability, Cluster, Initialized, Issued, KeyPage, ListingVisibility, Mount,
    MountConfiguration, MountTokenType, MountView, PolicyView, RenewalSubject, TokenGrant,
    TokenType, TokenView, TokenWarning,
};

impl From<Cluster> for system_wit::Cluster {
    fn from(cluster: Cluster) -> Self {
        Self {
            id: cluster.id,
            name: cluster.name,
        }
    }
}

impl From<Initialized> for system_wit::Initialized {
    fn from(initialized: Initialized) -> Self {
        Self {
            root_token: initialized.root_token.expose().to_owned(),
        }
    }
}

impl From<TokenType> for types_wit::TokenType {
    fn from(token_type: TokenType) -> Self {
        match token_type {
            TokenType::Service => Self::Service,
            TokenType::Batch => Self::Batch,
        }
    }
}

impl From<Capability> for types_wit::Capability {
    fn from(capability: Capability) -> Self {
        match capability {
            Capability::Root => Self::Root,
            Capability::Deny => Self::Deny,
            Capability::Sudo => Self::Sudo,
            Capability::Read => Self::Read,
            Capability::List => Self::List,
            Capability::Update => Self::Update,
            Capability::Delete => Self::Delete,
            Capability::Create => Self::Create,
            Capability::Patch => Self::Patch,
        }
    }
}

impl From<TokenView> for types_wit::TokenView {
    fn from(view: TokenView) -> Self {
        Self {
            accessor: view.accessor,
            creation_time: view.creation_time,
            creation_ttl: view.creation_ttl,
            display_name: view.display_name,
            entity_id: view.entity_id,
            expire_time: view.expire_time,
            explicit_max_ttl: view.explicit_max_ttl,
            last_renewal_time: view.last_renewal_time,
            metadata: view.metadata.map(|it| it.into_iter().collect()),
            num_uses: view.num_uses,
            orphan: view.orphan,
            path: view.path,
            role: view.role,
            period: view.period,
            policies: view.policies,
            identity_policies: view.identity_policies,
            bound_cidrs: view.bound_cidrs,
            renewable: view.renewable,
            ttl: view.ttl,
            token_type: view.token_type.into(),
        }
    }
}

impl From<KeyPage> for types_wit::KeyPage {
    fn from(page: KeyPage) -> Self {
        Self {
            keys: page.keys,
            next: page.next,
        }
    }
}

impl From<Mount> for types_wit::Mount {
    fn from(mount: Mount) -> Self {
        Self {
            id: mount.id,
            accessor: mount.accessor,
            path: mount.path,
            mount_type: mount.mount_type,
            default_lease_ttl: mount.default_lease_ttl,
            max_lease_ttl: mount.max_lease_ttl,
            audit_non_hmac_request_keys: mount.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: mount.audit_non_hmac_response_keys,
        }
    }
}

impl From<Admission> for requests_wit::Admission {
    fn from(admission: Admission) -> Self {
        Self {
            caller: admission.caller.map(Into::into),
            mount: admission.mount.map(Into::into),
            remainder: admission.remainder,
            write: requests_wit::WritePermission {
                create: admission.write.create,
                update: admission.write.update,
            },
            sudo: admission.sudo,
            limited_uses: admission.limited_uses,
        }
    }
}

impl From<TokenWarning> for tokens_wit::TokenWarning {
    fn from(warning: TokenWarning) -> Self {
        match warning {
            TokenWarning::TtlCapped {
                asked,
                effective_max_ttl,
            } => Self::TtlCapped(tokens_wit::Cap {
                asked,
                effective_max_ttl,
            }),
            TokenWarning::PeriodCapped {
                asked,
                effective_max_ttl,
            } => Self::PeriodCapped(tokens_wit::Cap {
                asked,
                effective_max_ttl,
            }),
            TokenWarning::LesserExplicitMaxTtl(lesser) => Self::LesserExplicitMaxTtl(lesser),
            TokenWarning::LesserPeriod(lesser) => Self::LesserPeriod(lesser),
            TokenWarning::UnknownPolicy(name) => Self::UnknownPolicy(name),
            TokenWarning::ChosenId => Self::ChosenId,
            TokenWarning::IgnoredId => Self::IgnoredId,
        }
    }
}

impl From<TokenGrant> for tokens_wit::TokenGrant {
    fn from(grant: TokenGrant) -> Self {
        Self {
            accessor: grant.accessor,
            policies: grant.policies,
            token_policies: grant.token_policies,
            identity_policies: grant.identity_policies,
            metadata: grant.metadata.map(|it| it.into_iter().collect()),
            lease_duration: grant.lease_duration,
            renewable: grant.renewable,
            entity_id: grant.entity_id,
            token_type: grant.token_type.into(),
            orphan: grant.orphan,
            num_uses: grant.num_uses,
            warnings: grant.warnings.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Issued> for tokens_wit::Issued {
    fn from(issued: Issued) -> Self {
        Self {
            client_token: issued.client_token.expose().to_owned(),
            grant: issued.grant.into(),
        }
    }
}

impl From<RenewalSubject> for tokens_wit::RenewalSubject {
    fn from(subject: RenewalSubject) -> Self {
        let revalidation = subject.revalidation.map(|it| tokens_wit::Revalidation {
            mount: it.mount.into(),
            renewal_state: it.renewal_state,
            token_policies: it.token_policies,
        });
        Self { revalidation }
    }
}

impl From<PolicyView> for policies_wit::Policy {
    fn from(policy: PolicyView) -> Self {
        Self {
            name: policy.name,
            text: policy.text,
        }
    }
}

impl From<MountTokenType> for mounts_wit::MountTokenType {
    fn from(token_type: MountTokenType) -> Self {
        match token_type {
            MountTokenType::DefaultService => Self::DefaultService,
            MountTokenType::DefaultBatch => Self::DefaultBatch,
            MountTokenType::Service => Self::Service,
            MountTokenType::Batch => Self::Batch,
        }
    }
}

impl From<ListingVisibility> for mounts_wit::ListingVisibility {
    fn from(visibility: ListingVisibility) -> Self {
        match visibility {
            ListingVisibility::Hidden => Self::Hidden,
            ListingVisibility::Unauthenticated => Self::Unauthenticated,
        }
    }
}

impl From<MountConfiguration> for mounts_wit::MountConfiguration {
    fn from(configuration: MountConfiguration) -> Self {
        Self {
            default_lease_ttl: configuration.default_lease_ttl,
            max_lease_ttl: configuration.max_lease_ttl,
            force_no_cache: configuration.force_no_cache,
            token_type: configuration.token_type.into(),
            listing_visibility: configuration.listing_visibility.map(Into::into),
            audit_non_hmac_request_keys: configuration.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: configuration.audit_non_hmac_response_keys,
            passthrough_request_headers: configuration.passthrough_request_headers,
            allowed_response_headers: configuration.allowed_response_headers,
            identity_token_key: configuration.identity_token_key,
            trim_request_trailing_slashes: configuration.trim_request_trailing_slashes,
        }
    }
}

impl From<MountView> for mounts_wit::MountView {
    fn from(mount: MountView) -> Self {
        Self {
            path: mount.path,
            id: mount.id,
            accessor: mount.accessor,
            mount_type: mount.mount_type,
            description: mount.description,
            configuration: mount.configuration.into(),
            leases: mounts_wit::Leases {
                default_ttl: mount.leases.default_ttl,
                max_ttl: mount.leases.max_ttl,
            },
            options: mount.options,
            local: mount.local,
            seal_wrap: mount.seal_wrap,
            external_entropy_access: mount.external_entropy_access,
        }
    }
}
