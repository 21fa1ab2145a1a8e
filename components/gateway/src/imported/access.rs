//! [`gatehouse_access_api::Access`] over the component's imports.

use gatehouse_access_api::{
    Admission, AdmissionError, AliasPage, AliasRequest, AliasView, AliasWritten, Capability,
    ClientToken, Cluster, CreateError, CreateRequest, Cubbyhole, CubbyholeError, Entities,
    EntityAliases, EntityChanges, EntityPage, EntityView, GroupAliases, GroupChanges, GroupPage,
    GroupView, Groups, IdentityError, IdentityReference, IdentityTarget, IdentityWritten,
    InitializeError, Initialized, Issued, KeyPage, LeaseTree, LoginError, LoginGrant, Logins,
    LookupError, MergeRequest, Migration, Migrations, MountError, MountRequest, MountTuning,
    MountView, Mounts, Parent, Policies, Policy, PolicyError, PrefixError, RemountError,
    RenewError, Renewal, RenewalSubject, Request, Requests, ResultantAcl, Revalidated, Revocation,
    RevokeError, Rights, ServiceError, System, Tidying, TokenCreation, TokenGrant, TokenLookup,
    TokenReference, TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning, TokenRoles,
    TokenView, TuneError, UnwrapError, WrapError, WrapRequest, Wrapping, WrappingToken,
    WrappingView, WritePermission,
};
use gatehouse_ports::IpAddress;

use gatehouse_access_api::bindings::gatehouse::access::{
    cubbyhole as cubbyhole_wit, identity as identity_wit, leases as leases_wit,
    migrations as migrations_wit, mounts as mounts_wit, policies as policies_wit,
    requests as requests_wit, rights as rights_wit, system as system_wit,
    token_roles as token_roles_wit, tokens as tokens_wit, wrapping as wrapping_wit,
};

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedAccess;

impl System for ImportedAccess {
    fn current_cluster(&self) -> Result<Option<Cluster>, ServiceError> {
        system_wit::current_cluster()
    }

    fn initialize(&self, root_token: Option<&str>) -> Result<Initialized, InitializeError> {
        system_wit::initialize(root_token)
    }

    fn generate_root(&self) -> Result<ClientToken, ServiceError> {
        Ok(ClientToken::new(system_wit::generate_root()?))
    }

    fn maintain(&self) -> Result<(), ServiceError> {
        system_wit::maintain()
    }

    fn count_tokens(&self) -> Result<Option<u64>, ServiceError> {
        system_wit::count_tokens()
    }
}

impl Requests for ImportedAccess {
    fn admit(&self, request: &Request) -> Result<Admission, AdmissionError> {
        requests_wit::admit(request)
    }

    fn capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        requests_wit::capabilities(reference, paths)
    }
}

impl Rights for ImportedAccess {
    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError> {
        rights_wit::has_rights_below(reference, paths)
    }

    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        rights_wit::unconditional_capabilities(reference, paths)
    }

    fn read_resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError> {
        rights_wit::read_resultant_acl(reference)
    }
}

impl Logins for ImportedAccess {
    fn issue_login(&self, grant: &LoginGrant) -> Result<Issued, LoginError> {
        tokens_wit::issue_login(grant)
    }
}

impl TokenCreation for ImportedAccess {
    fn create_token(
        &self,
        parent: &Parent,
        request: &CreateRequest,
    ) -> Result<Issued, CreateError> {
        tokens_wit::create_token(parent, request)
    }
}

impl TokenLookup for ImportedAccess {
    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError> {
        tokens_wit::lookup_token(reference)
    }

    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        tokens_wit::list_accessors(after, limit)
    }
}

impl Renewal for ImportedAccess {
    fn renewal(
        &self,
        reference: &TokenReference,
        source_address: Option<IpAddress>,
    ) -> Result<RenewalSubject, RenewError> {
        tokens_wit::renewal(reference, source_address)
    }

    fn renew_token(
        &self,
        reference: &TokenReference,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError> {
        tokens_wit::renew_token(reference, increment, fresh)
    }
}

impl Revocation for ImportedAccess {
    fn revoke_token(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        tokens_wit::revoke_token(reference)
    }

    fn revoke_token_alone(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        tokens_wit::revoke_token_alone(reference)
    }
}

impl Tidying for ImportedAccess {
    fn tidy_tokens(&self) -> Result<bool, ServiceError> {
        tokens_wit::tidy_tokens()
    }
}

impl LeaseTree for ImportedAccess {
    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, ServiceError> {
        leases_wit::list_leases(prefix, after, limit)
    }

    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError> {
        leases_wit::revoke_prefix(prefix)
    }
}

impl TokenRoles for ImportedAccess {
    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        token_roles_wit::list_token_roles(after, limit)
    }

    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, ServiceError> {
        token_roles_wit::read_token_role(name)
    }

    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
        token_roles_wit::write_token_role(name, changes, permission)
    }

    fn delete_token_role(&self, name: &str) -> Result<(), ServiceError> {
        token_roles_wit::delete_token_role(name)
    }
}

impl Policies for ImportedAccess {
    fn list_policies(&self) -> Result<Vec<String>, ServiceError> {
        policies_wit::list_policies()
    }

    fn read_policy(&self, name: &str) -> Result<Option<Policy>, ServiceError> {
        policies_wit::read_policy(name)
    }

    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError> {
        policies_wit::write_policy(name, text)
    }

    fn delete_policy(&self, name: &str) -> Result<(), PolicyError> {
        policies_wit::delete_policy(name)
    }
}

impl Entities for ImportedAccess {
    fn read_entity(
        &self,
        reference: &IdentityReference,
    ) -> Result<Option<EntityView>, ServiceError> {
        identity_wit::read_entity(reference)
    }

    fn list_entities(&self, after: Option<&str>, limit: u32) -> Result<EntityPage, ServiceError> {
        identity_wit::list_entities(after, limit)
    }

    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        identity_wit::list_entity_names(after, limit)
    }

    fn write_entity(
        &self,
        target: &IdentityTarget,
        changes: &EntityChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        identity_wit::write_entity(target, changes)
    }

    fn delete_entity(&self, reference: &IdentityReference) -> Result<bool, IdentityError> {
        identity_wit::delete_entity(reference)
    }

    fn merge_entities(&self, request: &MergeRequest) -> Result<(), IdentityError> {
        identity_wit::merge_entities(request)
    }
}

impl EntityAliases for ImportedAccess {
    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, ServiceError> {
        identity_wit::read_entity_alias(id)
    }

    fn list_entity_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, ServiceError> {
        identity_wit::list_entity_aliases(after, limit)
    }

    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        identity_wit::write_entity_alias(request)
    }

    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError> {
        identity_wit::delete_entity_alias(id)
    }
}

impl Groups for ImportedAccess {
    fn read_group(&self, reference: &IdentityReference) -> Result<Option<GroupView>, ServiceError> {
        identity_wit::read_group(reference)
    }

    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, ServiceError> {
        identity_wit::list_groups(after, limit)
    }

    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        identity_wit::list_group_names(after, limit)
    }

    fn write_group(
        &self,
        target: &IdentityTarget,
        changes: &GroupChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        identity_wit::write_group(target, changes)
    }

    fn delete_group(&self, reference: &IdentityReference) -> Result<bool, IdentityError> {
        identity_wit::delete_group(reference)
    }
}

impl GroupAliases for ImportedAccess {
    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, ServiceError> {
        identity_wit::read_group_alias(id)
    }

    fn list_group_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, ServiceError> {
        identity_wit::list_group_aliases(after, limit)
    }

    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        identity_wit::write_group_alias(request)
    }

    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError> {
        identity_wit::delete_group_alias(id)
    }
}

impl Mounts for ImportedAccess {
    fn list_mounts(&self) -> Result<Vec<MountView>, ServiceError> {
        mounts_wit::list_mounts()
    }

    fn read_mount(&self, path: &str) -> Result<Option<MountView>, ServiceError> {
        mounts_wit::read_mount(path)
    }

    fn find_mount(&self, path: &str) -> Result<Option<MountView>, ServiceError> {
        mounts_wit::find_mount(path)
    }

    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError> {
        mounts_wit::enable_mount(path, request)
    }

    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError> {
        mounts_wit::tune_mount(path, tuning)
    }

    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError> {
        mounts_wit::disable_mount(path)
    }

    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, ServiceError> {
        mounts_wit::list_disabled_mounts(limit)
    }

    fn forget_disabled_mount(&self, id: &str) -> Result<(), ServiceError> {
        mounts_wit::forget_disabled_mount(id)
    }
}

impl Migrations for ImportedAccess {
    fn move_mount(&self, source: &str, target: &str) -> Result<String, RemountError> {
        migrations_wit::move_mount(source, target)
    }

    fn read_migration(&self, id: &str) -> Result<Option<Migration>, ServiceError> {
        migrations_wit::read_migration(id)
    }
}

impl Wrapping for ImportedAccess {
    fn wrap(&self, request: &WrapRequest) -> Result<WrappingToken, WrapError> {
        wrapping_wit::wrap(request)
    }

    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError> {
        wrapping_wit::read_wrapping(token)
    }

    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError> {
        wrapping_wit::unwrap_content(token)
    }

    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError> {
        wrapping_wit::rewrap(token, ttl)
    }
}

impl Cubbyhole for ImportedAccess {
    fn read_cubbyhole(&self, token: &str, path: &str) -> Result<Option<Vec<u8>>, CubbyholeError> {
        cubbyhole_wit::read_cubbyhole(token, path)
    }

    fn list_cubbyhole(&self, token: &str, folder: &str) -> Result<Vec<String>, CubbyholeError> {
        cubbyhole_wit::list_cubbyhole(token, folder)
    }

    fn write_cubbyhole(
        &self,
        token: &str,
        path: &str,
        content: &[u8],
        permission: WritePermission,
    ) -> Result<(), CubbyholeError> {
        cubbyhole_wit::write_cubbyhole(token, path, content, permission)
    }

    fn delete_cubbyhole(&self, token: &str, path: &str) -> Result<(), CubbyholeError> {
        cubbyhole_wit::delete_cubbyhole(token, path)
    }
}
