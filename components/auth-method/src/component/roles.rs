//! The interface `roles`.

use super::bindings::exports::gatehouse::auth_method::roles as wit;
use super::bindings::exports::gatehouse::auth_method::types::{Mount, StorageError};
use super::{Component, SERVICE};
use crate::AuthMethod;
use crate::crossing::Across;

impl wit::Guest for Component {
    fn read(mount: Mount, name: String) -> Result<Option<wit::Role>, StorageError> {
        SERVICE.with(|service| service.read_role(&mount.across(), &name).across())
    }

    fn write(
        mount: Mount,
        name: String,
        changes: wit::RoleChanges,
        precondition: wit::Precondition,
    ) -> Result<wit::RoleWritten, wit::RoleError> {
        let (changes, precondition) = (changes.across(), precondition.across());
        SERVICE.with(|service| {
            service
                .write_role(&mount.across(), &name, changes, precondition)
                .across()
        })
    }

    fn edit_service_accounts(
        mount: Mount,
        name: String,
        edit: wit::ListEdit,
    ) -> Result<Vec<wit::RoleWarning>, wit::EditError> {
        SERVICE.with(|service| {
            service
                .edit_service_accounts(&mount.across(), &name, &edit.across())
                .across()
        })
    }

    fn edit_labels(
        mount: Mount,
        name: String,
        edit: wit::ListEdit,
    ) -> Result<Vec<wit::RoleWarning>, wit::EditError> {
        SERVICE.with(|service| {
            service
                .edit_labels(&mount.across(), &name, &edit.across())
                .across()
        })
    }

    fn delete(mount: Mount, name: String) -> Result<(), StorageError> {
        SERVICE.with(|service| service.delete_role(&mount.across(), &name).across())
    }

    fn list(mount: Mount) -> Result<Vec<String>, StorageError> {
        SERVICE.with(|service| service.list_roles(&mount.across()).across())
    }

    fn list_after(
        mount: Mount,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::RoleNames, StorageError> {
        SERVICE.with(|service| {
            service
                .list_roles_after(&mount.across(), after.as_deref(), limit)
                .across()
        })
    }
}
