//! [`Access`] over the component's imports.

use gatehouse_access_api::{
    Access, Admission, AliasPage, AliasRequest, AliasView, AliasWritten, Capability, ClientToken,
    Cluster, CreateError, CreateRequest, CubbyholeError, EntityChanges, EntityPage, EntityView,
    Failure, GroupChanges, GroupPage, GroupView, IdentityError, IdentityReference, IdentityTarget,
    IdentityWritten, InitializeError, Initialized, Issued, KeyPage, LoginError, LoginGrant,
    LookupError, MergeRequest, Migration, MountError, MountRequest, MountTuning, MountView, Parent,
    Policy, PolicyError, PrefixError, Refusal, RemountError, RenewError, RenewalSubject, Request,
    ResultantAcl, Revalidated, RevokeError, TokenGrant, TokenReference, TokenRole,
    TokenRoleChanges, TokenRoleError, TokenRoleWarning, TokenView, TuneError, UnwrapError,
    WrapError, WrapRequest, WrappingToken, WrappingView, WritePermission,
};

use gatehouse_access_api::bindings::gatehouse::access::{
    cubbyhole as cubbyhole_wit, identity as identity_wit, leases as leases_wit,
    migrations as migrations_wit, mounts as mounts_wit, policies as policies_wit,
    requests as requests_wit, rights as rights_wit, system as system_wit,
    token_roles as token_roles_wit, tokens as tokens_wit, wrapping as wrapping_wit,
};

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedAccess;

impl Access for ImportedAccess {
    fn cluster(&self) -> Result<Option<Cluster>, Failure> {
        system_wit::current_cluster()
    }

    fn initialize(&self, root_token: Option<&str>) -> Result<Initialized, InitializeError> {
        system_wit::initialize(root_token)
    }

    fn generate_root(&self) -> Result<ClientToken, Failure> {
        Ok(ClientToken::new(system_wit::generate_root()?))
    }

    fn maintain(&self) -> Result<(), Failure> {
        system_wit::maintain()
    }

    fn admit(&self, request: &Request) -> Result<Admission, Refusal> {
        requests_wit::admit(request)
    }

    fn capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        requests_wit::capabilities(reference, paths)
    }

    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        rights_wit::unconditional_capabilities(reference, paths)
    }

    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError> {
        rights_wit::has_rights_below(reference, paths)
    }

    fn resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError> {
        rights_wit::resultant(reference)
    }

    fn issue_login(&self, grant: &LoginGrant) -> Result<Issued, LoginError> {
        tokens_wit::issue_login(grant).map(Into::into)
    }

    fn create_token(
        &self,
        parent: &Parent,
        request: &CreateRequest,
    ) -> Result<Issued, CreateError> {
        tokens_wit::create(parent, request).map(Into::into)
    }

    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError> {
        tokens_wit::read(reference)
    }

    fn renewal(
        &self,
        reference: &TokenReference,
        source_address: Option<&str>,
    ) -> Result<RenewalSubject, RenewError> {
        tokens_wit::renewal(reference, source_address)
    }

    fn renew_token(
        &self,
        reference: &TokenReference,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError> {
        tokens_wit::renew(reference, increment, fresh)
    }

    fn revoke_token(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        tokens_wit::revoke(reference)
    }

    fn revoke_token_alone(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        tokens_wit::revoke_alone(reference)
    }

    fn tidy_tokens(&self) -> Result<bool, Failure> {
        tokens_wit::tidy()
    }

    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        tokens_wit::list_accessors(after, limit)
    }

    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, Failure> {
        leases_wit::list_below(prefix, after, limit)
    }

    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError> {
        leases_wit::revoke_prefix(prefix)
    }

    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        token_roles_wit::list_names(after, limit)
    }

    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, Failure> {
        token_roles_wit::read(name)
    }

    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
        token_roles_wit::write(name, changes, permission)
    }

    fn delete_token_role(&self, name: &str) -> Result<(), Failure> {
        token_roles_wit::delete(name)
    }

    fn list_policies(&self) -> Result<Vec<String>, Failure> {
        policies_wit::list_names()
    }

    fn read_policy(&self, name: &str) -> Result<Option<Policy>, Failure> {
        policies_wit::read(name)
    }

    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError> {
        policies_wit::write(name, text)
    }

    fn delete_policy(&self, name: &str) -> Result<(), PolicyError> {
        policies_wit::delete(name)
    }

    fn read_entity(&self, reference: &IdentityReference) -> Result<Option<EntityView>, Failure> {
        identity_wit::read_entity(reference)
    }

    fn list_entities(&self, after: Option<&str>, limit: u32) -> Result<EntityPage, Failure> {
        identity_wit::list_entities(after, limit)
    }

    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
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

    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, Failure> {
        identity_wit::read_entity_alias(id)
    }

    fn list_entity_aliases(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure> {
        identity_wit::list_entity_aliases(after, limit)
    }

    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        identity_wit::write_entity_alias(request)
    }

    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError> {
        identity_wit::delete_entity_alias(id)
    }

    fn read_group(&self, reference: &IdentityReference) -> Result<Option<GroupView>, Failure> {
        identity_wit::read_group(reference)
    }

    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, Failure> {
        identity_wit::list_groups(after, limit)
    }

    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
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

    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, Failure> {
        identity_wit::read_group_alias(id)
    }

    fn list_group_aliases(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure> {
        identity_wit::list_group_aliases(after, limit)
    }

    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        identity_wit::write_group_alias(request)
    }

    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError> {
        identity_wit::delete_group_alias(id)
    }

    fn list_mounts(&self) -> Result<Vec<MountView>, Failure> {
        mounts_wit::list_all()
    }

    fn read_mount(&self, path: &str) -> Result<Option<MountView>, Failure> {
        mounts_wit::read(path)
    }

    fn find_mount(&self, path: &str) -> Result<Option<MountView>, Failure> {
        mounts_wit::find(path)
    }

    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError> {
        mounts_wit::enable(path, request)
    }

    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError> {
        mounts_wit::tune(path, tuning)
    }

    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError> {
        mounts_wit::disable(path)
    }

    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, Failure> {
        mounts_wit::list_disabled(limit)
    }

    fn forget_disabled_mount(&self, id: &str) -> Result<(), Failure> {
        mounts_wit::forget_disabled(id)
    }

    fn move_mount(&self, from: &str, to: &str) -> Result<String, RemountError> {
        migrations_wit::move_mount(from, to)
    }

    fn read_migration(&self, id: &str) -> Result<Option<Migration>, Failure> {
        migrations_wit::read(id)
    }

    fn wrap(&self, request: &WrapRequest) -> Result<WrappingToken, WrapError> {
        wrapping_wit::wrap(request)
    }

    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError> {
        wrapping_wit::read(token)
    }

    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError> {
        wrapping_wit::unwrap(token)
    }

    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError> {
        wrapping_wit::rewrap(token, ttl)
    }

    fn read_cubbyhole(&self, token: &str, path: &str) -> Result<Option<Vec<u8>>, CubbyholeError> {
        cubbyhole_wit::read(token, path)
    }

    fn list_cubbyhole(&self, token: &str, folder: &str) -> Result<Vec<String>, CubbyholeError> {
        cubbyhole_wit::list_keys(token, folder)
    }

    fn write_cubbyhole(
        &self,
        token: &str,
        path: &str,
        content: &[u8],
        permission: WritePermission,
    ) -> Result<(), CubbyholeError> {
        cubbyhole_wit::write(token, path, content, permission)
    }

    fn delete_cubbyhole(&self, token: &str, path: &str) -> Result<(), CubbyholeError> {
        cubbyhole_wit::delete(token, path)
    }
}
