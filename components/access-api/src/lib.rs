//! The WIT package `gatehouse:access` in Rust: its functions as traits, which [`Access`] joins, and one set of types for the rules, the
//! component that exports the package and the one that imports it.
//!
//! They are generated from the WIT files, whose documentation they carry, except for errors that have a text and records that hold
//! secrets: those are written here, and the compiler holds them to the WIT. So are the rules that the gateway needs as well.

mod access;
mod bounds;
mod client_token;
mod cubbyhole;
pub mod duration;
mod identity;
mod leases;
mod migrations;
mod mounts;
mod policies;
mod requests;
mod rights;
mod root_token_hash;
mod service_error;
mod system;
mod token_roles;
mod tokens;
mod wrapping;

pub use access::Access;
pub use bindings::gatehouse::access::identity::{
    AliasPage, AliasPlace, AliasRequest, AliasView, AliasWritten, EntityChanges, EntityPage,
    EntityView, GroupChanges, GroupPage, GroupType, GroupView, IdentityReference, IdentityTarget,
    IdentityWritten, MergeRequest,
};
pub use bindings::gatehouse::access::migrations::Migration;
pub use bindings::gatehouse::access::mounts::{
    Leases, ListingVisibility, MountConfiguration, MountRequest, MountTokenType, MountTuning,
    MountView,
};
pub use bindings::gatehouse::access::policies::{KeyPosition, MalformedDuration, Policy};
pub use bindings::gatehouse::access::requests::{Admission, Operation, Parameter, WritePermission};
pub use bindings::gatehouse::access::rights::{PathRights, ResultantAcl, RuleSet};
pub use bindings::gatehouse::access::system::Cluster;
pub use bindings::gatehouse::access::token_roles::{
    ExcessiveLife, InvalidRange, OldSpellings, RenamedField, TokenRole, TokenRoleChanges,
    TokenRoleWarning,
};
pub use bindings::gatehouse::access::tokens::{
    Cap, CreateRequest, Lifetime, LoginGrant, PoliciesOfRole, RenewalSubject, Revalidated,
    Revalidation, ServiceField, TokenGrant, TokenParameters, TokenWarning,
};
pub use bindings::gatehouse::access::types::{Capability, KeyPage, Mount, TokenType, TokenView};
pub use bindings::gatehouse::access::wrapping::WrappingView;
pub use bounds::FieldTooLong;
pub use client_token::{
    BASE62, BATCH_TOKEN_PREFIX, ClientToken, ROOT_TOKEN_CHARACTERS, SERVICE_TOKEN_PREFIX,
};
pub use cubbyhole::{Cubbyhole, CubbyholeError};
pub use identity::{
    Entities, EntityAliases, GroupAliases, Groups, IdentityError, folded_identity_name,
};
pub use leases::{LeaseTree, PrefixError};
pub use migrations::{Migrations, RemountError};
pub use mounts::{MountError, Mounts, TuneError};
pub use policies::{Policies, PolicyError};
pub use requests::{AdmissionError, Request, Requests};
pub use rights::Rights;
pub use root_token_hash::RootTokenHash;
pub use service_error::ServiceError;
pub use system::{InitializeError, Initialized, System};
pub use token_roles::{TokenRoleError, TokenRoles};
pub use tokens::{
    CreateError, Issued, LoginError, Logins, LookupError, Parent, RESPONSE_WRAPPING, RenewError,
    Renewal, Revocation, RevokeError, Tidying, TokenCreation, TokenLookup, TokenReference,
};
pub use wrapping::{UnwrapError, WrapError, WrapRequest, Wrapping, WrappingToken};

/// The generated code. The functions below call the imports of the component they are linked into; outside of a component they abort.
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all, clippy::restriction)]
pub mod bindings {
    wit_bindgen::generate!({
        inline: "
            package gatehouse:access-api;
            world access {
                import gatehouse:access/types@0.1.0;
                import gatehouse:access/system@0.1.0;
                import gatehouse:access/requests@0.1.0;
                import gatehouse:access/tokens@0.1.0;
                import gatehouse:access/leases@0.1.0;
                import gatehouse:access/rights@0.1.0;
                import gatehouse:access/token-roles@0.1.0;
                import gatehouse:access/policies@0.1.0;
                import gatehouse:access/identity@0.1.0;
                import gatehouse:access/mounts@0.1.0;
                import gatehouse:access/migrations@0.1.0;
                import gatehouse:access/wrapping@0.1.0;
                import gatehouse:access/cubbyhole@0.1.0;
                export gatehouse:access/types@0.1.0;
                export gatehouse:access/system@0.1.0;
                export gatehouse:access/requests@0.1.0;
                export gatehouse:access/tokens@0.1.0;
                export gatehouse:access/leases@0.1.0;
                export gatehouse:access/rights@0.1.0;
                export gatehouse:access/token-roles@0.1.0;
                export gatehouse:access/policies@0.1.0;
                export gatehouse:access/identity@0.1.0;
                export gatehouse:access/mounts@0.1.0;
                export gatehouse:access/migrations@0.1.0;
                export gatehouse:access/wrapping@0.1.0;
                export gatehouse:access/cubbyhole@0.1.0;
            }
        ",
        path: ["../../wit/network", "../../wit/storage", "../../wit/access"],
        world: "gatehouse:access-api/access",
        with: {
            "gatehouse:network/addresses@0.1.0/ip-address": gatehouse_ports::IpAddress,
            "gatehouse:access/types@0.1.0/service-error": crate::ServiceError,
            "gatehouse:access/types@0.1.0/field-too-long": crate::FieldTooLong,
            "gatehouse:access/system@0.1.0/initialized": crate::Initialized,
            "gatehouse:access/system@0.1.0/initialize-error": crate::InitializeError,
            "gatehouse:access/requests@0.1.0/capabilities-error": crate::LookupError,
            "gatehouse:access/tokens@0.1.0/lookup-error": crate::LookupError,
            "gatehouse:access/types@0.1.0/token-reference": crate::TokenReference,
            "gatehouse:access/requests@0.1.0/request": crate::Request,
            "gatehouse:access/requests@0.1.0/admission-error": crate::AdmissionError,
            "gatehouse:access/tokens@0.1.0/parent": crate::Parent,
            "gatehouse:access/tokens@0.1.0/issued": crate::Issued,
            "gatehouse:access/tokens@0.1.0/login-error": crate::LoginError,
            "gatehouse:access/tokens@0.1.0/create-error": crate::CreateError,
            "gatehouse:access/tokens@0.1.0/renew-error": crate::RenewError,
            "gatehouse:access/tokens@0.1.0/revoke-error": crate::RevokeError,
            "gatehouse:access/identity@0.1.0/identity-error": crate::IdentityError,
            "gatehouse:access/leases@0.1.0/prefix-error": crate::PrefixError,
            "gatehouse:access/rights@0.1.0/rights-error": crate::LookupError,
            "gatehouse:access/token-roles@0.1.0/token-role-error": crate::TokenRoleError,
            "gatehouse:access/policies@0.1.0/policy-error": crate::PolicyError,
            "gatehouse:access/mounts@0.1.0/mount-error": crate::MountError,
            "gatehouse:access/mounts@0.1.0/tune-error": crate::TuneError,
            "gatehouse:access/migrations@0.1.0/remount-error": crate::RemountError,
            "gatehouse:access/wrapping@0.1.0/wrap-request": crate::WrapRequest,
            "gatehouse:access/wrapping@0.1.0/wrap-error": crate::WrapError,
            "gatehouse:access/wrapping@0.1.0/unwrap-error": crate::UnwrapError,
            "gatehouse:access/wrapping@0.1.0/wrapping-token": crate::WrappingToken,
            "gatehouse:access/cubbyhole@0.1.0/cubbyhole-error": crate::CubbyholeError,
        },
        generate_all,
        merge_structurally_equal_types: true,
        additional_derives: [PartialEq, Eq],
        // Types that the store keeps as they are carry their form there.
        additional_type_attributes: {
            "gatehouse:access/tokens@0.1.0/lifetime": [#[derive(Default)]],
            "gatehouse:access/tokens@0.1.0/create-request": [#[derive(Default)]],
            "gatehouse:access/tokens@0.1.0/token-parameters": [#[derive(Default)]],
            "gatehouse:access/tokens@0.1.0/revalidated": [#[derive(Default)]],
            "gatehouse:access/identity@0.1.0/merge-request": [#[derive(Default)]],
            "gatehouse:access/identity@0.1.0/entity-changes": [#[derive(Default)]],
            "gatehouse:access/identity@0.1.0/group-changes": [#[derive(Default)]],
            "gatehouse:access/identity@0.1.0/alias-request": [#[derive(Default)]],
            "gatehouse:access/identity@0.1.0/group-type": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:access/types@0.1.0/key-page": [#[derive(Default)]],
            "gatehouse:access/mounts@0.1.0/mount-token-type": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:access/mounts@0.1.0/listing-visibility": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "kebab-case")]],
            "gatehouse:access/mounts@0.1.0/mount-configuration": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:access/mounts@0.1.0/mount-request": [#[derive(Default)]],
            "gatehouse:access/mounts@0.1.0/mount-tuning": [#[derive(Default)]],
            "gatehouse:access/token-roles@0.1.0/token-role": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:access/token-roles@0.1.0/old-spellings": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:access/token-roles@0.1.0/token-role-changes": [#[derive(Default)]],
        },
        additional_member_attributes: {
            "gatehouse:access/identity@0.1.0/group-type.internal": [#[default]],
            "gatehouse:access/mounts@0.1.0/mount-token-type.default-service": [#[default]],
            "gatehouse:access/mounts@0.1.0/mount-configuration.identity-token-key": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:access/mounts@0.1.0/mount-configuration.trim-request-trailing-slashes": [#[serde(default, skip_serializing_if = "std::ops::Not::not")]],
            "gatehouse:access/token-roles@0.1.0/token-role.allowed-policies": [#[serde(default, skip_serializing_if = "Vec::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/token-role.allowed-policies-glob": [#[serde(default, skip_serializing_if = "Vec::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/token-role.disallowed-policies": [#[serde(default, skip_serializing_if = "Vec::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/token-role.disallowed-policies-glob": [#[serde(default, skip_serializing_if = "Vec::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/token-role.bound-cidrs": [#[serde(default, skip_serializing_if = "Vec::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/token-role.allowed-entity-aliases": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:access/token-roles@0.1.0/token-role.path-suffix": [#[serde(default, skip_serializing_if = "String::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/token-role.old-spellings": [#[serde(default)]],
            "gatehouse:access/token-roles@0.1.0/old-spellings.bound-cidrs": [#[serde(default, skip_serializing_if = "Vec::is_empty")]],
            "gatehouse:access/token-roles@0.1.0/old-spellings.explicit-max-ttl": [#[serde(default)]],
            "gatehouse:access/token-roles@0.1.0/old-spellings.period": [#[serde(default)]],
        },
        pub_export_macro: true,
        export_macro_name: "export_access",
        default_bindings_module: "gatehouse_access_api::bindings",
    });
}
