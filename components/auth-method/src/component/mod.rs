//! The capability as a component: it hands each call to the rules.

mod settings;

use gatehouse_auth_method_api::bindings::exports::gatehouse::auth_method::{
    config as config_wit, identity_tokens as identity_tokens_wit, login as login_wit,
    roles as roles_wit,
};
use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::wasm::{ImportedCache, ImportedStore};
use zeroize::Zeroizing;

use crate::wasi_http::WasiHttp;
use crate::{
    AuthMethodService, CheckReport, Config, ConfigChanges, ConfigError, ConfigView, ConfigWarning,
    CredentialsReport, EditError, Identity, IdentityTokenError, IdentityTokens, IssuerError,
    ListEdit, Login, LoginError, LoginRequest, Mount, Precondition, PublicKey, RenewalError,
    RenewalRequest, Renewed, Role, RoleChanges, RoleError, RoleNames, RoleWarning, RoleWritten,
    Roles, Rotated, RotationError, StorageError,
};

struct Component;

gatehouse_auth_method_api::bindings::export_auth_method!(Component);

type Service = AuthMethodService<ImportedStore, ImportedCache, WasiHttp, SystemClock, OsRandom>;

std::thread_local! {
    /// Lives as long as the instance, so that what Google said is remembered between requests.
    static SERVICE: Service = AuthMethodService::new(
        ImportedStore,
        ImportedCache,
        WasiHttp,
        SystemClock,
        OsRandom,
        settings::from_environment(),
    );
}

fn service<T>(call: impl FnOnce(&Service) -> T) -> T {
    SERVICE.with(call)
}

impl config_wit::Guest for Component {
    fn read(mount: Mount) -> Result<ConfigView, StorageError> {
        service(|it| it.read_config(&mount))
    }

    fn write(mount: Mount, changes: ConfigChanges) -> Result<Vec<ConfigWarning>, ConfigError> {
        service(|it| it.write_config(&mount, changes))
    }

    fn delete(mount: Mount) -> Result<(), StorageError> {
        service(|it| it.delete_config(&mount))
    }

    fn rotate_root(mount: Mount) -> Result<Rotated, RotationError> {
        service(|it| it.rotate_root(&mount))
    }

    fn rotate_if_due(mount: Mount) -> Result<Option<Rotated>, RotationError> {
        service(|it| it.rotate_if_due(&mount))
    }

    fn next_rotation(mount: Mount) -> Result<Option<u64>, StorageError> {
        service(|it| it.next_rotation(&mount))
    }

    fn check(mount: Mount, projects: Vec<String>) -> Result<CredentialsReport, StorageError> {
        service(|it| it.check_config(&mount, &projects))
    }

    fn google_keys_fetched_at(mount: Mount) -> Result<Option<u64>, StorageError> {
        service(|it| it.google_keys_fetched_at(&mount))
    }

    fn forget_mount(id: String) -> Result<(), StorageError> {
        service(|it| it.forget_mount(&id))
    }
}

impl roles_wit::Guest for Component {
    fn read(mount: Mount, name: String) -> Result<Option<Role>, StorageError> {
        service(|it| it.read_role(&mount, &name))
    }

    fn write(
        mount: Mount,
        name: String,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        service(|it| it.write_role(&mount, &name, changes, precondition))
    }

    fn edit_service_accounts(
        mount: Mount,
        name: String,
        edit: ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        service(|it| it.edit_service_accounts(&mount, &name, &edit))
    }

    fn edit_labels(
        mount: Mount,
        name: String,
        edit: ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        service(|it| it.edit_labels(&mount, &name, &edit))
    }

    fn delete(mount: Mount, name: String) -> Result<(), StorageError> {
        service(|it| it.delete_role(&mount, &name))
    }

    fn list(mount: Mount) -> Result<Vec<String>, StorageError> {
        service(|it| it.list_roles(&mount))
    }

    fn list_after(
        mount: Mount,
        after: Option<String>,
        limit: u32,
    ) -> Result<RoleNames, StorageError> {
        service(|it| it.list_roles_after(&mount, after.as_deref(), limit))
    }
}

impl login_wit::Guest for Component {
    fn login(mount: Mount, request: LoginRequest) -> Result<Identity, LoginError> {
        service(|it| it.login(&mount, &Zeroizing::new(request)))
    }

    fn explain(mount: Mount, request: LoginRequest) -> Vec<CheckReport> {
        service(|it| it.explain(&mount, &Zeroizing::new(request)))
    }

    fn revalidate(mount: Mount, request: RenewalRequest) -> Result<Renewed, RenewalError> {
        service(|it| it.revalidate(&mount, &request))
    }
}

impl identity_tokens_wit::Guest for Component {
    fn read_issuer() -> Result<String, StorageError> {
        service(Service::read_issuer)
    }

    fn write_issuer(issuer: String) -> Result<(), IssuerError> {
        service(|it| it.write_issuer(&issuer))
    }

    fn issuer() -> Result<String, IdentityTokenError> {
        service(Service::issuer)
    }

    fn public_keys() -> Result<Vec<PublicKey>, IdentityTokenError> {
        service(Service::public_keys)
    }

    fn maintain_keys() -> Result<Option<u64>, IdentityTokenError> {
        service(Service::maintain_keys)
    }
}
