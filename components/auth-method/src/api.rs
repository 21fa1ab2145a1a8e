//! What the capability offers: the Rust face of the WIT package `gatehouse:auth-method`, which is its specification.

mod config;
mod login;
mod mount;
mod roles;

pub use config::{
    AliasSource, ConfigChanges, ConfigError, ConfigView, CredentialsFlaw, CredentialsView,
    CustomEndpoints, EndpointFlaw, MetadataFlaw, RoleType,
};
pub use login::{
    AccountRefusal, CredentialsFailure, Identity, JwtFlaw, KeyRefusal, LoginError, LoginRequest,
    RenewalError, RenewalRequest,
};
pub use mount::Mount;
pub use roles::{
    LegacyTokenFields, Precondition, Role, RoleChanges, RoleError, RoleRules, RoleWarning,
    RoleWritten, TokenParameters, TokenType,
};

use gatehouse_storage::StorageError;

/// Who a caller is and under which role, decided by Google's word.
///
/// Every call names the mount, since one capability serves any number of them. Authorization of the caller is somebody else's
/// matter and has happened before.
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
    fn write_config(&self, mount: &Mount, changes: ConfigChanges) -> Result<(), ConfigError>;

    /// Back to the defaults, without credentials.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError>;

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

    /// Decides who holds the token in `request` and whether the role lets them in (contract 4.2 to 4.5, 4.7).
    ///
    /// # Errors
    ///
    /// The first check that failed, in the order of contract 4.2.
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError>;

    /// Repeats the authorization of an earlier login against the role and Google as they are now (contract 4.10).
    ///
    /// # Errors
    ///
    /// The first check that failed, in the order of contract 4.10. A [`RenewalError::GoogleUnavailable`] says nothing about the
    /// token: its lease stays as it was.
    fn revalidate(
        &self,
        mount: &Mount,
        request: &RenewalRequest,
    ) -> Result<TokenParameters, RenewalError>;

    /// Deletes everything kept for a mount that is gone. Repeating it, also after a failure halfway, is harmless.
    ///
    /// # Errors
    ///
    /// When the store does not answer; some of the data may be left then.
    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError>;
}
