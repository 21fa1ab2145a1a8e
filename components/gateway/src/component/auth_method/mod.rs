//! [`AuthMethod`] over the component's imports.

mod errors;
mod records;

use gatehouse_auth_method::{
    AuthMethod, ConfigChanges, ConfigError, ConfigView, Identity, LoginError, LoginRequest, Mount,
    Precondition, RenewalError, RenewalRequest, Role, RoleChanges, RoleError, RoleWritten,
    TokenParameters,
};
use gatehouse_storage::StorageError;

use super::address_text;
use super::bindings::gatehouse::auth_method::{
    config as config_wit, login as login_wit, roles as roles_wit, types,
};

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImportedAuthMethod;

impl AuthMethod for ImportedAuthMethod {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        Ok(config_wit::read(&mount.into())?.into())
    }

    fn write_config(&self, mount: &Mount, changes: ConfigChanges) -> Result<(), ConfigError> {
        Ok(config_wit::write(&mount.into(), &changes.into())?)
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        Ok(config_wit::delete(&mount.into())?)
    }

    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        Ok(roles_wit::read(&mount.into(), name)?.map(Into::into))
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        let written = roles_wit::write(&mount.into(), name, &changes.into(), precondition.into())?;
        Ok(RoleWritten {
            created: written.created,
            warnings: written.warnings.into_iter().map(Into::into).collect(),
        })
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        Ok(roles_wit::delete(&mount.into(), name)?)
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        Ok(roles_wit::list(&mount.into())?)
    }

    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        let request = login_wit::LoginRequest {
            role: request.role.clone(),
            jwt: request.jwt.clone(),
            source_address: address_text(request.source_address),
        };
        Ok(login_wit::login(&mount.into(), &request)?.into())
    }

    fn revalidate(
        &self,
        mount: &Mount,
        request: &RenewalRequest,
    ) -> Result<TokenParameters, RenewalError> {
        let request = login_wit::RenewalRequest {
            renewal_state: request.renewal_state.clone(),
            token_policies: request.token_policies.clone(),
            source_address: address_text(request.source_address),
        };
        Ok(login_wit::revalidate(&mount.into(), &request)?.into())
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        Ok(config_wit::forget_mount(mount_id)?)
    }
}
