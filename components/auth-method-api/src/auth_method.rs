//! The capability as a trait: implemented by the rules, and by the component that imports them.

use crate::{
    CheckReport, ConfigChanges, ConfigError, ConfigView, ConfigWarning, CredentialsReport,
    EditError, Identity, IdentityTokenError, IssuerError, ListEdit, LoginError, LoginRequest,
    Mount, Precondition, PublicKey, RenewalError, RenewalRequest, Renewed, Role, RoleChanges,
    RoleError, RoleNames, RoleWarning, RoleWritten, Rotated, RotationError, StorageError,
};

/// Who a caller is and under which role, decided by Google's word.
///
/// Every call names the mount, since one capability serves any number of them. Whoever calls has authorized the caller before.
pub trait AuthMethod {
    /// The configuration in force; a mount that was never configured has the defaults.
    ///
    /// # Errors
    ///
    /// When the store does not answer or holds a record that cannot be read.
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError>;

    /// Changes the fields that `changes` names and keeps the others (contract 2.2).
    ///
    /// # Errors
    ///
    /// When a value is not acceptable or the store failed; nothing was stored then.
    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError>;

    /// Back to the defaults, without credentials.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError>;

    /// Replaces the stored key by a new one of the same service account (contract 2.6).
    ///
    /// # Errors
    ///
    /// When there is no stored key, Google refuses, or the new key does not work yet; the stored key stays in use then.
    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError>;

    /// As [`Self::rotate_root`], if the mount's schedule says that it is time; `None` when it is not. To be called every minute or so.
    ///
    /// # Errors
    ///
    /// As [`Self::rotate_root`]. After a failure the next calls wait, longer each time.
    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError>;

    /// What the root credentials may do in `projects`; without any, in the project of the credentials and those that roles name.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError>;

    /// The role of this name, in any letter case; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer or holds a record that cannot be read.
    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError>;

    /// Makes a role or changes the fields that `changes` names (contract 3.2 to 3.4).
    ///
    /// # Errors
    ///
    /// When `precondition` does not hold, a value or the whole role is not acceptable, or the store failed; nothing was stored
    /// then.
    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError>;

    /// Adds and removes service accounts of an iam role (contract 3.6).
    ///
    /// # Errors
    ///
    /// When there is no such role, it is of the other type, or would not be acceptable; nothing was stored then.
    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError>;

    /// Adds labels, each `key:value`, and removes labels by their keys, of a gce role (contract 3.6).
    ///
    /// # Errors
    ///
    /// As [`Self::edit_service_accounts`].
    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError>;

    /// Removes the role of this name, in any letter case; a role that is not there is no error.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError>;

    /// The names of all roles, in byte order.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError>;

    /// The names of at most `limit` roles that come after `after` in byte order; a limit of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError>;

    /// Decides who holds the token in `request` and whether the role lets them in (contract 4.2 to 4.7).
    ///
    /// # Errors
    ///
    /// The first check that failed, in the order of contract 4.2.
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError>;

    /// Makes every check of a login and tells what became of each, in their order. It changes nothing, and the token can log in
    /// afterwards.
    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport>;

    /// Repeats the authorization of an earlier login against the role and Google as they are now (contract 4.10).
    ///
    /// # Errors
    ///
    /// The first check that failed, in the order of contract 4.10. A [`RenewalError::GoogleUnavailable`] says nothing about the
    /// token: its lease stays as it was.
    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError>;

    /// Deletes everything kept for a mount that is gone. Repeating it, also after a failure halfway, is harmless.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or there is more than one call deletes; some of the data is left then, and the next call goes on.
    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError>;

    /// Base URL of the issuer of this server's identity tokens, as it was set; empty when it follows the server's advertised address
    /// (contract 7.4).
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_issuer(&self) -> Result<String, StorageError>;

    /// Sets the base URL of the issuer; empty to follow the server's advertised address.
    ///
    /// # Errors
    ///
    /// When it is not a URL of the right form or the store failed.
    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError>;

    /// The issuer that identity tokens name now.
    ///
    /// # Errors
    ///
    /// When there is none, or the store does not answer.
    fn issuer(&self) -> Result<String, IdentityTokenError>;

    /// The keys that identity tokens in circulation are signed with, the newest first. Makes the first one, or a new one when
    /// [`Self::maintain_keys`] has not done so for long.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or no key can be made.
    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError>;

    /// Makes the next key ahead of time, so that no request has to: it may take seconds. To be called every minute or so; without an
    /// issuer it does nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::public_keys`].
    fn maintain_keys(&self) -> Result<(), IdentityTokenError>;
}
