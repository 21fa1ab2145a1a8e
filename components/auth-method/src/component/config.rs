//! The interface `config`.

use super::bindings::exports::gatehouse::auth_method::config as wit;
use super::bindings::exports::gatehouse::auth_method::types::{Mount, StorageError};
use super::{Component, SERVICE};
use crate::AuthMethod;
use crate::crossing::Across;

impl wit::Guest for Component {
    fn read(mount: Mount) -> Result<wit::ConfigView, StorageError> {
        SERVICE.with(|service| service.read_config(&mount.across()).across())
    }

    fn write(
        mount: Mount,
        changes: wit::ConfigChanges,
    ) -> Result<Vec<wit::ConfigWarning>, wit::ConfigError> {
        SERVICE.with(|service| {
            service
                .write_config(&mount.across(), changes.across())
                .across()
        })
    }

    fn delete(mount: Mount) -> Result<(), StorageError> {
        SERVICE.with(|service| service.delete_config(&mount.across()).across())
    }

    fn rotate_root(mount: Mount) -> Result<wit::Rotated, wit::RotationError> {
        SERVICE.with(|service| service.rotate_root(&mount.across()).across())
    }

    fn rotate_if_due(mount: Mount) -> Result<Option<wit::Rotated>, wit::RotationError> {
        SERVICE.with(|service| service.rotate_if_due(&mount.across()).across())
    }

    fn check(mount: Mount, projects: Vec<String>) -> Result<wit::CredentialsReport, StorageError> {
        SERVICE.with(|service| service.check_config(&mount.across(), &projects).across())
    }

    fn forget_mount(id: String) -> Result<(), StorageError> {
        SERVICE.with(|service| service.forget_mount(&id).across())
    }
}
