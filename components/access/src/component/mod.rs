//! The capability as a component: it hands each call to the rules.

mod identity;

use gatehouse_access_api::bindings::exports::gatehouse::access::{
    cubbyhole as cubbyhole_wit, identity as identity_wit, leases as leases_wit,
    migrations as migrations_wit, mounts as mounts_wit, policies as policies_wit,
    requests as requests_wit, rights as rights_wit, system as system_wit,
    token_roles as token_roles_wit, tokens as tokens_wit, wrapping as wrapping_wit,
};
use gatehouse_ports::{IpAddress, OsRandom, SystemClock};
use gatehouse_storage::wasm::ImportedStore;

use crate::{
    AccessService, Admission, AdmissionError, Capability, Cluster, CreateError, CreateRequest,
    Cubbyhole as _, CubbyholeError, InitializeError, Initialized, Issued, KeyPage, LeaseTree as _,
    LoginError, LoginGrant, Logins as _, LookupError, Migration, Migrations as _, MountError,
    MountRequest, MountTuning, MountView, Mounts as _, Parent, Policies as _, Policy, PolicyError,
    PrefixError, RemountError, RenewError, Renewal as _, RenewalSubject, Request, Requests as _,
    ResultantAcl, Revalidated, Revocation as _, RevokeError, Rights as _, ServiceError, Settings,
    System as _, Tidying as _, TokenCreation as _, TokenGrant, TokenLookup as _, TokenReference,
    TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning, TokenRoles as _, TokenView,
    TuneError, UnwrapError, WrapError, WrapRequest, Wrapping as _, WrappingToken, WrappingView,
    WritePermission,
};

struct Component;

gatehouse_access_api::bindings::export_access!(Component);

type Service = AccessService<ImportedStore, SystemClock, OsRandom>;

std::thread_local! {
    /// One for the life of the instance, so that the server's hashing key is read once, not for every request.
    static ACCESS: Service = AccessService::new(ImportedStore, SystemClock, OsRandom)
        .with_settings(Settings::from_variables(|name| std::env::var(name).ok()));
}

fn access<T>(call: impl FnOnce(&Service) -> T) -> T {
    ACCESS.with(call)
}

impl system_wit::Guest for Component {
    fn current_cluster() -> Result<Option<Cluster>, ServiceError> {
        access(Service::current_cluster)
    }

    fn initialize(root_token: Option<String>) -> Result<Initialized, InitializeError> {
        access(|it| it.initialize(root_token.as_deref()))
    }

    fn generate_root() -> Result<String, ServiceError> {
        Ok(access(Service::generate_root)?.expose().to_owned())
    }

    fn maintain() -> Result<(), ServiceError> {
        access(Service::maintain)
    }

    fn count_tokens() -> Result<Option<u64>, ServiceError> {
        access(Service::count_tokens)
    }
}

impl requests_wit::Guest for Component {
    fn admit(request: Request) -> Result<Admission, AdmissionError> {
        access(|it| it.admit(&request))
    }

    fn capabilities(
        token: TokenReference,
        paths: Vec<String>,
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        access(|it| it.capabilities(&token, &paths))
    }
}

impl rights_wit::Guest for Component {
    fn has_rights_below(
        token: TokenReference,
        paths: Vec<String>,
    ) -> Result<Vec<bool>, LookupError> {
        access(|it| it.has_rights_below(&token, &paths))
    }

    fn unconditional_capabilities(
        token: TokenReference,
        paths: Vec<String>,
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        access(|it| it.unconditional_capabilities(&token, &paths))
    }

    fn read_resultant_acl(token: TokenReference) -> Result<ResultantAcl, LookupError> {
        access(|it| it.read_resultant_acl(&token))
    }
}

impl tokens_wit::Guest for Component {
    fn issue_login(grant: LoginGrant) -> Result<Issued, LoginError> {
        access(|it| it.issue_login(&grant))
    }

    fn create_token(parent: Parent, request: CreateRequest) -> Result<Issued, CreateError> {
        access(|it| it.create_token(&parent, &request))
    }

    fn lookup_token(token: TokenReference) -> Result<TokenView, LookupError> {
        access(|it| it.lookup_token(&token))
    }

    fn renewal(
        token: TokenReference,
        source_address: Option<IpAddress>,
    ) -> Result<RenewalSubject, RenewError> {
        access(|it| it.renewal(&token, source_address))
    }

    fn renew_token(
        token: TokenReference,
        increment: u64,
        fresh: Option<Revalidated>,
    ) -> Result<TokenGrant, RenewError> {
        access(|it| it.renew_token(&token, increment, fresh.as_ref()))
    }

    fn revoke_token(token: TokenReference) -> Result<bool, RevokeError> {
        access(|it| it.revoke_token(&token))
    }

    fn revoke_token_alone(token: TokenReference) -> Result<bool, RevokeError> {
        access(|it| it.revoke_token_alone(&token))
    }

    fn tidy_tokens() -> Result<bool, ServiceError> {
        access(Service::tidy_tokens)
    }

    fn list_accessors(after: Option<String>, limit: u32) -> Result<KeyPage, ServiceError> {
        access(|it| it.list_accessors(after.as_deref(), limit))
    }
}

impl leases_wit::Guest for Component {
    fn list_leases(
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<KeyPage, ServiceError> {
        access(|it| it.list_leases(&prefix, after.as_deref(), limit))
    }

    fn revoke_prefix(prefix: String) -> Result<(), PrefixError> {
        access(|it| it.revoke_prefix(&prefix))
    }
}

impl token_roles_wit::Guest for Component {
    fn list_token_roles(after: Option<String>, limit: u32) -> Result<KeyPage, ServiceError> {
        access(|it| it.list_token_roles(after.as_deref(), limit))
    }

    fn read_token_role(name: String) -> Result<Option<TokenRole>, ServiceError> {
        access(|it| it.read_token_role(&name))
    }

    fn write_token_role(
        name: String,
        changes: TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
        access(|it| it.write_token_role(&name, &changes, permission))
    }

    fn delete_token_role(name: String) -> Result<(), ServiceError> {
        access(|it| it.delete_token_role(&name))
    }
}

impl policies_wit::Guest for Component {
    fn list_policies() -> Result<Vec<String>, ServiceError> {
        access(Service::list_policies)
    }

    fn read_policy(name: String) -> Result<Option<Policy>, ServiceError> {
        access(|it| it.read_policy(&name))
    }

    fn write_policy(name: String, text: String) -> Result<(), PolicyError> {
        access(|it| it.write_policy(&name, &text))
    }

    fn delete_policy(name: String) -> Result<(), PolicyError> {
        access(|it| it.delete_policy(&name))
    }
}

impl mounts_wit::Guest for Component {
    fn list_mounts() -> Result<Vec<MountView>, ServiceError> {
        access(Service::list_mounts)
    }

    fn read_mount(path: String) -> Result<Option<MountView>, ServiceError> {
        access(|it| it.read_mount(&path))
    }

    fn find_mount(path: String) -> Result<Option<MountView>, ServiceError> {
        access(|it| it.find_mount(&path))
    }

    fn enable_mount(path: String, request: MountRequest) -> Result<(), MountError> {
        access(|it| it.enable_mount(&path, &request))
    }

    fn tune_mount(path: String, tuning: MountTuning) -> Result<(), TuneError> {
        access(|it| it.tune_mount(&path, &tuning))
    }

    fn disable_mount(path: String) -> Result<Option<String>, MountError> {
        access(|it| it.disable_mount(&path))
    }

    fn list_disabled_mounts(limit: u32) -> Result<Vec<String>, ServiceError> {
        access(|it| it.list_disabled_mounts(limit))
    }

    fn forget_disabled_mount(id: String) -> Result<(), ServiceError> {
        access(|it| it.forget_disabled_mount(&id))
    }
}

impl migrations_wit::Guest for Component {
    fn move_mount(source: String, target: String) -> Result<String, RemountError> {
        access(|it| it.move_mount(&source, &target))
    }

    fn read_migration(id: String) -> Result<Option<Migration>, ServiceError> {
        access(|it| it.read_migration(&id))
    }
}

impl wrapping_wit::Guest for Component {
    fn wrap(request: WrapRequest) -> Result<WrappingToken, WrapError> {
        access(|it| it.wrap(&request))
    }

    fn read_wrapping(token: String) -> Result<WrappingView, UnwrapError> {
        access(|it| it.read_wrapping(&token))
    }

    fn unwrap_content(token: String) -> Result<Vec<u8>, UnwrapError> {
        access(|it| it.unwrap_content(&token))
    }

    fn rewrap(token: String, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError> {
        access(|it| it.rewrap(&token, ttl))
    }
}

impl cubbyhole_wit::Guest for Component {
    fn read_cubbyhole(token: String, path: String) -> Result<Option<Vec<u8>>, CubbyholeError> {
        access(|it| it.read_cubbyhole(&token, &path))
    }

    fn list_cubbyhole(token: String, folder: String) -> Result<Vec<String>, CubbyholeError> {
        access(|it| it.list_cubbyhole(&token, &folder))
    }

    fn write_cubbyhole(
        token: String,
        path: String,
        content: Vec<u8>,
        permission: WritePermission,
    ) -> Result<(), CubbyholeError> {
        access(|it| it.write_cubbyhole(&token, &path, &content, permission))
    }

    fn delete_cubbyhole(token: String, path: String) -> Result<(), CubbyholeError> {
        access(|it| it.delete_cubbyhole(&token, &path))
    }
}
