//! The real auth method, except where a test sets its next answer.

use std::sync::{Arc, Mutex};

use gatehouse_auth_method::{
    CheckReport, Config, ConfigChanges, ConfigError, ConfigView, ConfigWarning, CredentialsReport,
    EditError, Identity, IdentityTokenError, IdentityTokens, IssuerError, ListEdit, Login,
    LoginError, LoginRequest, Mount, Precondition, PublicKey, RenewalError, RenewalRequest,
    Renewed, Role, RoleChanges, RoleError, RoleNames, RoleWarning, RoleWritten, Roles, Rotated,
    RotationError, StorageError,
};

/// An answer that is given once.
pub struct Next<T>(Mutex<Option<T>>);

impl<T> Default for Next<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Next<T> {
    pub fn is(&self, answer: T) {
        *self.0.lock().unwrap() = Some(answer);
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap().take()
    }
}

/// The scripted answer, or otherwise that of the real method.
macro_rules! scripted {
    ($next:expr, $real:expr) => {
        match $next.take() {
            Some(answer) => answer,
            None => $real,
        }
    };
}

/// The next answers of the method, and the calls that it received.
#[derive(Default)]
pub struct Script {
    pub config: Next<Result<ConfigView, StorageError>>,
    pub config_write: Next<Result<Vec<ConfigWarning>, ConfigError>>,
    pub rotation: Next<Result<Rotated, RotationError>>,
    pub due_rotation: Next<Result<Option<Rotated>, RotationError>>,
    pub next_rotation: Next<Result<Option<u64>, StorageError>>,
    pub check: Next<Result<CredentialsReport, StorageError>>,
    pub role: Next<Result<Option<Role>, StorageError>>,
    pub role_write: Next<Result<RoleWritten, RoleError>>,
    pub edit: Next<Result<Vec<RoleWarning>, EditError>>,
    pub login: Next<Result<Identity, LoginError>>,
    pub explanation: Next<Vec<CheckReport>>,
    pub renewal: Next<Result<Renewed, RenewalError>>,
    pub issuer: Next<Result<String, IdentityTokenError>>,
    pub set_issuer: Next<Result<String, StorageError>>,
    pub issuer_write: Next<Result<(), IssuerError>>,
    pub keys: Next<Result<Vec<PublicKey>, IdentityTokenError>>,
    pub keys_fetched: Next<Result<Option<u64>, StorageError>>,
    pub due_keys: Next<Result<Option<u64>, IdentityTokenError>>,
    pub config_changes: Mutex<Vec<ConfigChanges>>,
    pub role_changes: Mutex<Vec<RoleChanges>>,
    pub edits: Mutex<Vec<(String, ListEdit)>>,
    pub checked: Mutex<Vec<Vec<String>>>,
    pub asked: Mutex<Vec<LoginRequest>>,
    pub issuers: Mutex<Vec<String>>,
    pub rotated_mounts: Mutex<Vec<String>>,
}

pub struct ScriptedMethod<M> {
    pub real: M,
    pub script: Arc<Script>,
}

impl<M: Config> Config for ScriptedMethod<M> {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        scripted!(self.script.config, self.real.read_config(mount))
    }

    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        let mut seen = self.script.config_changes.lock().unwrap();
        seen.push(changes.clone());
        scripted!(
            self.script.config_write,
            self.real.write_config(mount, changes)
        )
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        self.real.delete_config(mount)
    }

    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError> {
        scripted!(self.script.rotation, self.real.rotate_root(mount))
    }

    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError> {
        let mut seen = self.script.rotated_mounts.lock().unwrap();
        seen.push(mount.path.clone());
        scripted!(self.script.due_rotation, self.real.rotate_if_due(mount))
    }

    fn next_rotation(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        scripted!(self.script.next_rotation, self.real.next_rotation(mount))
    }

    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        self.script.checked.lock().unwrap().push(projects.to_vec());
        scripted!(self.script.check, self.real.check_config(mount, projects))
    }

    fn google_keys_fetched_at(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        scripted!(
            self.script.keys_fetched,
            self.real.google_keys_fetched_at(mount)
        )
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        self.real.forget_mount(mount_id)
    }
}

impl<M: Roles> Roles for ScriptedMethod<M> {
    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        scripted!(self.script.role, self.real.read_role(mount, name))
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        let mut seen = self.script.role_changes.lock().unwrap();
        seen.push(changes.clone());
        scripted!(
            self.script.role_write,
            self.real.write_role(mount, name, changes, precondition)
        )
    }

    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        let mut seen = self.script.edits.lock().unwrap();
        seen.push((format!("service accounts of {name}"), edit.clone()));
        scripted!(
            self.script.edit,
            self.real.edit_service_accounts(mount, name, edit)
        )
    }

    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        let mut seen = self.script.edits.lock().unwrap();
        seen.push((format!("labels of {name}"), edit.clone()));
        scripted!(self.script.edit, self.real.edit_labels(mount, name, edit))
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        self.real.delete_role(mount, name)
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        self.real.list_roles(mount)
    }

    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError> {
        self.real.list_roles_after(mount, after, limit)
    }
}

impl<M: Login> Login for ScriptedMethod<M> {
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        scripted!(self.script.login, self.real.login(mount, request))
    }

    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport> {
        self.script.asked.lock().unwrap().push(request.clone());
        scripted!(self.script.explanation, self.real.explain(mount, request))
    }

    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError> {
        scripted!(self.script.renewal, self.real.revalidate(mount, request))
    }
}

impl<M: IdentityTokens> IdentityTokens for ScriptedMethod<M> {
    fn read_issuer(&self) -> Result<String, StorageError> {
        scripted!(self.script.set_issuer, self.real.read_issuer())
    }

    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError> {
        self.script.issuers.lock().unwrap().push(issuer.to_owned());
        scripted!(self.script.issuer_write, self.real.write_issuer(issuer))
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        scripted!(self.script.issuer, self.real.issuer())
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        scripted!(self.script.keys, self.real.public_keys())
    }

    fn maintain_keys(&self) -> Result<Option<u64>, IdentityTokenError> {
        scripted!(self.script.due_keys, self.real.maintain_keys())
    }
}
