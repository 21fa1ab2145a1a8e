//! What comes in.

use std::net::IpAddr;

use super::{mounts_wit, requests_wit, tokens_wit, types_wit};
use crate::{
    CreateRequest, Lifetime, LoginGrant, MountRequest, MountTuning, Operation, Parameter, Parent,
    Revalidated, TokenParameters, TokenReference, TokenType,
};

/// A text that is no address is an unknown address, which lies in no range.
pub(super) fn address(text: Option<&str>) -> Option<IpAddr> {
    text?.parse().ok()
}

impl<'a> From<&'a types_wit::TokenReference> for TokenReference<'a> {
    fn from(reference: &'a types_wit::TokenReference) -> Self {
        match reference {
            types_wit::TokenReference::Id(id) => Self::Id(id),
            types_wit::TokenReference::Accessor(accessor) => Self::Accessor(accessor),
            types_wit::TokenReference::Lease(id) => Self::Lease(id),
        }
    }
}

impl From<types_wit::TokenType> for TokenType {
    fn from(token_type: types_wit::TokenType) -> Self {
        match token_type {
            types_wit::TokenType::Service => Self::Service,
            types_wit::TokenType::Batch => Self::Batch,
        }
    }
}

impl From<requests_wit::Parameter> for Parameter {
    fn from(parameter: requests_wit::Parameter) -> Self {
        Self {
            name: parameter.name,
            value: parameter.value,
        }
    }
}

impl From<requests_wit::Operation> for Operation {
    fn from(operation: requests_wit::Operation) -> Self {
        match operation {
            requests_wit::Operation::Read => Self::Read,
            requests_wit::Operation::List => Self::List,
            requests_wit::Operation::Update => Self::Update,
            requests_wit::Operation::CreateOrUpdate => Self::CreateOrUpdate,
            requests_wit::Operation::Patch => Self::Patch,
            requests_wit::Operation::Delete => Self::Delete,
            requests_wit::Operation::Help => Self::Help,
        }
    }
}

impl From<tokens_wit::Lifetime> for Lifetime {
    fn from(lifetime: tokens_wit::Lifetime) -> Self {
        Self {
            ttl: lifetime.ttl,
            max_ttl: lifetime.max_ttl,
            explicit_max_ttl: lifetime.explicit_max_ttl,
            period: lifetime.period,
        }
    }
}

impl From<tokens_wit::Revalidated> for Revalidated {
    fn from(revalidated: tokens_wit::Revalidated) -> Self {
        Self {
            lifetime: revalidated.lifetime.into(),
            group_aliases: revalidated.group_aliases,
        }
    }
}

impl From<tokens_wit::TokenParameters> for TokenParameters {
    fn from(parameters: tokens_wit::TokenParameters) -> Self {
        Self {
            lifetime: parameters.lifetime.into(),
            policies: parameters.policies,
            no_default_policy: parameters.no_default_policy,
            bound_cidrs: parameters.bound_cidrs,
            num_uses: parameters.num_uses,
            token_type: parameters.token_type.map(Into::into),
        }
    }
}

impl From<tokens_wit::LoginGrant> for LoginGrant {
    fn from(grant: tokens_wit::LoginGrant) -> Self {
        Self {
            mount_id: grant.mount_id,
            mount_path: grant.mount_path,
            role: grant.role,
            alias_name: grant.alias_name,
            metadata: grant.metadata.into_iter().collect(),
            display_name: grant.display_name,
            group_aliases: grant.group_aliases,
            parameters: grant.parameters.into(),
            renewal_state: grant.renewal_state,
            source_address: address(grant.source_address.as_deref()),
        }
    }
}

impl<'a> From<&'a tokens_wit::Parent> for Parent<'a> {
    fn from(parent: &'a tokens_wit::Parent) -> Self {
        Self {
            token: &parent.token,
            sudo: parent.sudo,
            limited_uses: parent.limited_uses,
            orphan_path: parent.orphan_path,
        }
    }
}

impl From<tokens_wit::CreateRequest> for CreateRequest {
    fn from(request: tokens_wit::CreateRequest) -> Self {
        Self {
            role: request.role,
            id: request.id,
            policies: request.policies,
            metadata: request.metadata.map(|it| it.into_iter().collect()),
            no_parent: request.no_parent,
            no_default_policy: request.no_default_policy,
            renewable: request.renewable,
            ttl: request.ttl,
            explicit_max_ttl: request.explicit_max_ttl,
            period: request.period,
            display_name: request.display_name,
            num_uses: request.num_uses,
            token_type: request.token_type,
            entity_alias: request.entity_alias,
        }
    }
}

impl From<mounts_wit::MountTuning> for MountTuning {
    fn from(tuning: mounts_wit::MountTuning) -> Self {
        Self {
            default_lease_ttl: tuning.default_lease_ttl,
            max_lease_ttl: tuning.max_lease_ttl,
            description: tuning.description,
            token_type: tuning.token_type,
            listing_visibility: tuning.listing_visibility,
            audit_non_hmac_request_keys: tuning.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: tuning.audit_non_hmac_response_keys,
            passthrough_request_headers: tuning.passthrough_request_headers,
            allowed_response_headers: tuning.allowed_response_headers,
            identity_token_key: tuning.identity_token_key,
            trim_request_trailing_slashes: tuning.trim_request_trailing_slashes,
            options: tuning.options,
        }
    }
}

impl From<mounts_wit::MountRequest> for MountRequest {
    fn from(request: mounts_wit::MountRequest) -> Self {
        Self {
            mount_type: request.mount_type,
            description: request.description,
            default_lease_ttl: request.default_lease_ttl,
            max_lease_ttl: request.max_lease_ttl,
            force_no_cache: request.force_no_cache,
            token_type: request.token_type,
            listing_visibility: request.listing_visibility,
            audit_non_hmac_request_keys: request.audit_non_hmac_request_keys,
            audit_non_hmac_response_keys: request.audit_non_hmac_response_keys,
            passthrough_request_headers: request.passthrough_request_headers,
            allowed_response_headers: request.allowed_response_headers,
            identity_token_key: request.identity_token_key,
            trim_request_trailing_slashes: request.trim_request_trailing_slashes,
            options: request.options,
            local: request.local,
            seal_wrap: request.seal_wrap,
            external_entropy_access: request.external_entropy_access,
        }
    }
}
