//! [`AuthMethod`](gatehouse_auth_method_api::AuthMethod) over the component's imports.

use gatehouse_auth_method_api::bindings::gatehouse::auth_method::{
    config as config_wit, identity_tokens as identity_tokens_wit, login as login_wit,
    roles as roles_wit,
};
use gatehouse_auth_method_api::{
    CheckReport, Config, ConfigChanges, ConfigError, ConfigView, ConfigWarning, CredentialsReport,
    EditError, Identity, IdentityTokenError, IdentityTokens, IssuerError, ListEdit, Login,
    LoginError, LoginRequest, Mount, Precondition, PublicKey, RenewalError, RenewalRequest,
    Renewed, Role, RoleChanges, RoleError, RoleNames, RoleWarning, RoleWritten, Roles, Rotated,
    RotationError, StorageError,
};
use zeroize::Zeroizing;

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedAuthMethod;

impl Config for ImportedAuthMethod {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        config_wit::read(mount)
    }

    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        config_wit::write(mount, &Zeroizing::new(changes))
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        config_wit::delete(mount)
    }

    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError> {
        config_wit::rotate_root(mount)
    }

    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError> {
        config_wit::rotate_if_due(mount)
    }

    fn next_rotation(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        config_wit::next_rotation(mount)
    }

    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        config_wit::check(mount, projects)
    }

    fn google_keys_fetched_at(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        config_wit::google_keys_fetched_at(mount)
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        config_wit::forget_mount(mount_id)
    }
}

impl Roles for ImportedAuthMethod {
    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        roles_wit::read(mount, name)
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        roles_wit::write(mount, name, &changes, precondition)
    }

    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        roles_wit::edit_service_accounts(mount, name, edit)
    }

    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        roles_wit::edit_labels(mount, name, edit)
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        roles_wit::delete(mount, name)
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        roles_wit::list(mount)
    }

    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError> {
        roles_wit::list_after(mount, after, limit)
    }
}

impl Login for ImportedAuthMethod {
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        login_wit::login(mount, request)
    }

    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport> {
        login_wit::explain(mount, request)
    }

    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError> {
        login_wit::revalidate(mount, request)
    }
}

impl IdentityTokens for ImportedAuthMethod {
    fn read_issuer(&self) -> Result<String, StorageError> {
        identity_tokens_wit::read_issuer()
    }

    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError> {
        identity_tokens_wit::write_issuer(issuer)
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        identity_tokens_wit::issuer()
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        identity_tokens_wit::public_keys()
    }

    fn maintain_keys(&self) -> Result<Option<u64>, IdentityTokenError> {
        identity_tokens_wit::maintain_keys()
    }
}
