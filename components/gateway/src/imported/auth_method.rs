//! [`AuthMethod`] over the component's imports.

use gatehouse_auth_method::crossing::Across;
use gatehouse_auth_method::{
    AuthMethod, CheckReport, ConfigChanges, ConfigError, ConfigView, ConfigWarning,
    CredentialsReport, EditError, Identity, IdentityTokenError, IssuerError, ListEdit, LoginError,
    LoginRequest, Mount, Precondition, PublicKey, RenewalError, RenewalRequest, Renewed, Role,
    RoleChanges, RoleError, RoleNames, RoleWarning, RoleWritten, Rotated, RotationError,
};
use gatehouse_storage::StorageError;

use super::bindings::gatehouse::auth_method::{
    config as config_wit, identity_tokens as identity_tokens_wit, login as login_wit,
    roles as roles_wit, types as types_wit,
};

gatehouse_auth_method::crossings!();

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedAuthMethod;

fn wit(mount: &Mount) -> types_wit::Mount {
    mount.clone().across()
}

impl AuthMethod for ImportedAuthMethod {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        config_wit::read(&wit(mount)).across()
    }

    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        config_wit::write(&wit(mount), &changes.across()).across()
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        config_wit::delete(&wit(mount)).across()
    }

    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError> {
        config_wit::rotate_root(&wit(mount)).across()
    }

    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError> {
        config_wit::rotate_if_due(&wit(mount)).across()
    }

    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        config_wit::check(&wit(mount), projects).across()
    }

    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        roles_wit::read(&wit(mount), name).across()
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        roles_wit::write(&wit(mount), name, &changes.across(), precondition.across()).across()
    }

    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        roles_wit::edit_service_accounts(&wit(mount), name, &edit.clone().across()).across()
    }

    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        roles_wit::edit_labels(&wit(mount), name, &edit.clone().across()).across()
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        roles_wit::delete(&wit(mount), name).across()
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        roles_wit::list(&wit(mount)).across()
    }

    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError> {
        roles_wit::list_after(&wit(mount), after, limit).across()
    }

    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        login_wit::login(&wit(mount), &request.clone().across()).across()
    }

    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport> {
        login_wit::explain(&wit(mount), &request.clone().across()).across()
    }

    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError> {
        login_wit::revalidate(&wit(mount), &request.clone().across()).across()
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        config_wit::forget_mount(mount_id).across()
    }

    fn read_issuer(&self) -> Result<String, StorageError> {
        identity_tokens_wit::read_issuer().across()
    }

    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError> {
        identity_tokens_wit::write_issuer(issuer).across()
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        identity_tokens_wit::issuer().across()
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        identity_tokens_wit::public_keys().across()
    }

    fn maintain_keys(&self) -> Result<(), IdentityTokenError> {
        identity_tokens_wit::maintain_keys().across()
    }
}
