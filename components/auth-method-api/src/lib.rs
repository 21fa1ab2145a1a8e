//! The WIT package `gatehouse:auth-method` in Rust: its functions as the trait [`AuthMethod`], which joins one trait
//! for each interface, and one set of types for the rules, the
//! component that exports the package and the one that imports it.
//!
//! They are generated from the WIT files, whose documentation they carry, except for errors that have a text and records that hold
//! secrets: those are written here, and the compiler holds them to the WIT. So are the rules that the gateway needs as well.

mod auth_method;
mod config;
mod google;
mod identity_tokens;
mod login;
mod role_name;
mod roles;
mod storage_error;
mod stored_role;

pub use auth_method::AuthMethod;
pub use bindings::gatehouse::auth_method::config::{
    ConfigBound, ConfigView, ConfigWarning, CredentialsReport, CredentialsSource, CredentialsView,
    CustomEndpoints, EndpointError, EndpointValue, JsonPosition, Metadata, PermissionsFound,
    ProjectReport, Rotated, RotationSettings, Unavailable,
};
pub use bindings::gatehouse::auth_method::identity_tokens::PublicKey;
pub use bindings::gatehouse::auth_method::login::{
    AccountNotBound, AccountRefusal, AncestorNotBound, Check, CheckReport, CreatedLater,
    GroupLocations, GroupNotFound, Identity, Instance, InstanceAccountNotBound,
    InstanceProjectNotBound, InstanceRefused, InstanceTooOld, JwtError, KeyLookupError,
    KeyNotFound, LabelMissing, ProjectNotBound, ProjectRefusal, RenewalRequest, Renewed, Verdict,
};
pub use bindings::gatehouse::auth_method::roles::{
    AboveBound, DeprecatedField, FieldsOfOtherType, GceRules, IamRules, LegacyTokenFields,
    ListEdit, Precondition, Role, RoleBound, RoleChanges, RoleNames, RoleOptions, RoleRules,
    RoleWarning, RoleWritten, SentTwice,
};
pub use bindings::gatehouse::auth_method::types::{
    AliasSource, ApiRefusal, CredentialsRefusal, CredentialsStep, Mount, RoleType, TokenParameters,
    TokenType,
};
pub use config::{
    Config, ConfigChanges, ConfigError, KeyFileError, MetadataError, RotationError, ScheduleError,
};
pub use google::{CredentialsError, GoogleCallError};
pub use identity_tokens::{IdentityTokenError, IdentityTokens, IssuerError};
pub use login::{InstanceError, Login, LoginError, LoginRequest, RenewalError};
pub use role_name::RoleName;
pub use roles::{EditError, RoleError, Roles};
pub use storage_error::StorageError;

/// The generated bindings. Their functions call the imports of the component they are linked into; outside of a component they abort.
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all, clippy::restriction)]
pub mod bindings {
    wit_bindgen::generate!({
        inline: "
            package gatehouse:auth-method-api;
            world auth-method {
                import gatehouse:auth-method/types@0.1.0;
                import gatehouse:auth-method/config@0.1.0;
                import gatehouse:auth-method/roles@0.1.0;
                import gatehouse:auth-method/login@0.1.0;
                import gatehouse:auth-method/identity-tokens@0.1.0;
                export gatehouse:auth-method/types@0.1.0;
                export gatehouse:auth-method/config@0.1.0;
                export gatehouse:auth-method/roles@0.1.0;
                export gatehouse:auth-method/login@0.1.0;
                export gatehouse:auth-method/identity-tokens@0.1.0;
            }
        ",
        path: [
            "../../wit/deps/io",
            "../../wit/deps/clocks",
            "../../wit/deps/random",
            "../../wit/deps/filesystem",
            "../../wit/deps/sockets",
            "../../wit/deps/cli",
            "../../wit/deps/http",
            "../../wit/network",
            "../../wit/storage",
            "../../wit/auth-method",
        ],
        world: "gatehouse:auth-method-api/auth-method",
        with: {
            "gatehouse:network/addresses@0.1.0/ip-address": gatehouse_ports::IpAddress,
            "gatehouse:auth-method/types@0.1.0/storage-error": crate::StorageError,
            "gatehouse:auth-method/types@0.1.0/credentials-error": crate::CredentialsError,
            "gatehouse:auth-method/types@0.1.0/identity-token-error": crate::IdentityTokenError,
            "gatehouse:auth-method/config@0.1.0/config-changes": crate::ConfigChanges,
            "gatehouse:auth-method/config@0.1.0/key-file-error": crate::KeyFileError,
            "gatehouse:auth-method/config@0.1.0/metadata-error": crate::MetadataError,
            "gatehouse:auth-method/config@0.1.0/schedule-error": crate::ScheduleError,
            "gatehouse:auth-method/config@0.1.0/config-error": crate::ConfigError,
            "gatehouse:auth-method/config@0.1.0/rotation-error": crate::RotationError,
            "gatehouse:auth-method/config@0.1.0/google-call-error": crate::GoogleCallError,
            "gatehouse:auth-method/roles@0.1.0/role-error": crate::RoleError,
            "gatehouse:auth-method/roles@0.1.0/edit-error": crate::EditError,
            "gatehouse:auth-method/login@0.1.0/login-request": crate::LoginRequest,
            "gatehouse:auth-method/login@0.1.0/instance-error": crate::InstanceError,
            "gatehouse:auth-method/login@0.1.0/login-error": crate::LoginError,
            "gatehouse:auth-method/login@0.1.0/renewal-error": crate::RenewalError,
            "gatehouse:auth-method/identity-tokens@0.1.0/issuer-error": crate::IssuerError,
        },
        generate_all,
        merge_structurally_equal_types: true,
        additional_derives: [PartialEq, Eq],
        // A type that is kept in the store, or in the cache that instances share, as it is carried has its form there.
        additional_type_attributes: {
            "gatehouse:auth-method/types@0.1.0/alias-source": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "snake_case")]],
            "gatehouse:auth-method/types@0.1.0/token-type": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "lowercase")]],
            "gatehouse:auth-method/types@0.1.0/token-parameters": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/types@0.1.0/api-refusal": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/types@0.1.0/credentials-step": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/types@0.1.0/credentials-refusal": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/config@0.1.0/rotation-settings": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/config@0.1.0/custom-endpoints": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/roles@0.1.0/iam-rules": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]],
            "gatehouse:auth-method/roles@0.1.0/gce-rules": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]],
            "gatehouse:auth-method/roles@0.1.0/role-rules": [#[derive(serde::Serialize, serde::Deserialize)] #[serde(rename_all = "lowercase")]],
            "gatehouse:auth-method/roles@0.1.0/legacy-token-fields": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/roles@0.1.0/role-options": [#[derive(Default)] #[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]],
            "gatehouse:auth-method/roles@0.1.0/role": [#[derive(serde::Serialize, serde::Deserialize)]],
            "gatehouse:auth-method/roles@0.1.0/role-changes": [#[derive(Default)]],
            "gatehouse:auth-method/roles@0.1.0/list-edit": [#[derive(Default)]],
            "gatehouse:auth-method/login@0.1.0/key-lookup-error": [#[derive(serde::Serialize, serde::Deserialize)]],
        },
        additional_member_attributes: {
            "gatehouse:auth-method/types@0.1.0/alias-source.role-id": [#[default]],
            "gatehouse:auth-method/types@0.1.0/token-type.default": [#[default]],
            "gatehouse:auth-method/config@0.1.0/custom-endpoints.api": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/config@0.1.0/custom-endpoints.iam": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/config@0.1.0/custom-endpoints.crm": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/config@0.1.0/custom-endpoints.compute": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/roles@0.1.0/gce-rules.bound-labels": [#[serde(with = "crate::stored_role::labels")]],
            "gatehouse:auth-method/roles@0.1.0/role-rules.gce": [#[serde(serialize_with = "crate::stored_role::only_what_is_set")]],
            "gatehouse:auth-method/roles@0.1.0/legacy-token-fields.policies": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/roles@0.1.0/legacy-token-fields.ttl": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/roles@0.1.0/legacy-token-fields.maximum-ttl": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/roles@0.1.0/legacy-token-fields.period": [#[serde(default, skip_serializing_if = "Option::is_none")]],
            "gatehouse:auth-method/roles@0.1.0/role.options": [#[serde(flatten, serialize_with = "crate::stored_role::only_what_is_set")]],
        },
        pub_export_macro: true,
        export_macro_name: "export_auth_method",
        default_bindings_module: "gatehouse_auth_method_api::bindings",
    });
}
