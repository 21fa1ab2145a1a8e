//! [`AuthMethod`](gatehouse_auth_method_api::AuthMethod) by the component's exports.

use std::error::Error;

use gatehouse_auth_method_api::{
    Check, CheckReport, Config, ConfigChanges, ConfigError, ConfigView, ConfigWarning,
    CredentialsReport, EditError, Identity, IdentityTokenError, IdentityTokens, IssuerError,
    ListEdit, Login, LoginError, LoginRequest, Mount, Precondition, PublicKey, RenewalError,
    RenewalRequest, Renewed, Role, RoleChanges, RoleError, RoleNames, RoleWarning, RoleWritten,
    Roles, Rotated, RotationError, StorageError, Verdict,
};
use wasmtime::Store as Instance;

use super::bindings::Embedded;
use super::bindings::exports::gatehouse::auth_method::types as types_wit;
use super::calls::{CallError, Calls};
use super::crossing::{Across, FromAcross};
use crate::runtime::state::InstanceState;

/// The auth method, as a component inside this program. See the [module](super) for how its calls behave.
///
/// It may be shared by any number of threads.
pub struct AuthMethod {
    calls: Calls,
}

impl AuthMethod {
    pub(super) const fn over(calls: Calls) -> Self {
        Self { calls }
    }

    /// The component's answer to `call`, or that it gave none.
    fn ask<T: FromAcross<U>, E: FromAcross<F> + From<StorageError>, U, F>(
        &self,
        call: impl AsyncFnOnce(
            &Embedded,
            &mut Instance<InstanceState>,
        ) -> wasmtime::Result<Result<U, F>>,
    ) -> Result<T, E> {
        match self.calls.make(call) {
            Ok(answer) => answer.across(),
            Err(error) => Err(no_answer(&error).into()),
        }
    }
}

/// The error for callers when the component itself failed.
fn no_answer(error: &CallError) -> StorageError {
    tracing::error!(%error, cause = error.source(), "a call of the auth method failed");
    StorageError::Unavailable(error.to_string())
}

fn wit(mount: &Mount) -> types_wit::Mount {
    mount.clone().across()
}

impl Config for AuthMethod {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_read(store, &wit(mount)).await
        })
    }

    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config
                .call_write(store, &wit(mount), &changes.across())
                .await
        })
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_delete(store, &wit(mount)).await
        })
    }

    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_rotate_root(store, &wit(mount)).await
        })
    }

    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_rotate_if_due(store, &wit(mount)).await
        })
    }

    fn next_rotation(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_next_rotation(store, &wit(mount)).await
        })
    }

    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_check(store, &wit(mount), projects).await
        })
    }

    fn google_keys_fetched_at(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_google_keys_fetched_at(store, &wit(mount)).await
        })
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        self.ask(async |exports, store| {
            let config = exports.gatehouse_auth_method_config();
            config.call_forget_mount(store, mount_id).await
        })
    }
}

impl Roles for AuthMethod {
    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles.call_read(store, &wit(mount), name).await
        })
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles
                .call_write(
                    store,
                    &wit(mount),
                    name,
                    &changes.across(),
                    precondition.across(),
                )
                .await
        })
    }

    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles
                .call_edit_service_accounts(store, &wit(mount), name, &edit.clone().across())
                .await
        })
    }

    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles
                .call_edit_labels(store, &wit(mount), name, &edit.clone().across())
                .await
        })
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles.call_delete(store, &wit(mount), name).await
        })
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles.call_list(store, &wit(mount)).await
        })
    }

    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError> {
        self.ask(async |exports, store| {
            let roles = exports.gatehouse_auth_method_roles();
            roles
                .call_list_after(store, &wit(mount), after, limit)
                .await
        })
    }
}

impl Login for AuthMethod {
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        self.ask(async |exports, store| {
            let login = exports.gatehouse_auth_method_login();
            login
                .call_login(store, &wit(mount), &request.clone().across())
                .await
        })
    }

    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport> {
        let asked = self.calls.make(async |exports, store| {
            let login = exports.gatehouse_auth_method_login();
            login
                .call_explain(store, &wit(mount), &request.clone().across())
                .await
        });
        match asked {
            Ok(reports) => reports.across(),
            // There is no other place for it: the first check is the one that could not be made.
            Err(error) => vec![CheckReport {
                check: Check::Role,
                inputs: Vec::new(),
                verdict: Verdict::Failed(no_answer(&error).into()),
            }],
        }
    }

    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError> {
        self.ask(async |exports, store| {
            let login = exports.gatehouse_auth_method_login();
            login
                .call_revalidate(store, &wit(mount), &request.clone().across())
                .await
        })
    }
}

impl IdentityTokens for AuthMethod {
    fn read_issuer(&self) -> Result<String, StorageError> {
        self.ask(async |exports, store| {
            let identity_tokens = exports.gatehouse_auth_method_identity_tokens();
            identity_tokens.call_read_issuer(store).await
        })
    }

    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError> {
        self.ask(async |exports, store| {
            let identity_tokens = exports.gatehouse_auth_method_identity_tokens();
            identity_tokens.call_write_issuer(store, issuer).await
        })
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        self.ask(async |exports, store| {
            let identity_tokens = exports.gatehouse_auth_method_identity_tokens();
            identity_tokens.call_issuer(store).await
        })
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        self.ask(async |exports, store| {
            let identity_tokens = exports.gatehouse_auth_method_identity_tokens();
            identity_tokens.call_public_keys(store).await
        })
    }

    fn maintain_keys(&self) -> Result<Option<u64>, IdentityTokenError> {
        self.ask(async |exports, store| {
            let identity_tokens = exports.gatehouse_auth_method_identity_tokens();
            identity_tokens.call_maintain_keys(store).await
        })
    }
}
