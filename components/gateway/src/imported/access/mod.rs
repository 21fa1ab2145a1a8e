//! [`Access`] over the component's imports.

/// One direction between two error enumerations of the same cases. Those before the `;` hold nothing, those after it one
/// value.
macro_rules! same_errors {
    ($module:ident::$wit:ident => $plain:ty { $($case:ident),* ; $($holder:ident),* $(,)? }) => {
        impl From<$module::$wit> for $plain {
            fn from(from: $module::$wit) -> Self {
                use $module::$wit as Wit;
                match from {
                    $(Wit::$case => Self::$case,)*
                    $(Wit::$holder(held) => Self::$holder(held.into()),)*
                }
            }
        }
    };
}

mod errors;
mod identity;
mod records;
mod rights;
mod token_roles;
mod wrapping;

use std::net::IpAddr;

use gatehouse_access::{
    Access, Admission, AliasRequest, AliasView, AliasWritten, Capability, ClientToken, Cluster,
    CreateError, CreateRequest, EntityChanges, EntityView, Failure, GroupChanges, GroupView,
    IdentityError, IdentityReference, IdentityTarget, IdentityWritten, InitializeError,
    Initialized, Issued, KeyPage, ListPage, LoginError, LoginGrant, LookupError, MergeRequest,
    Migration, MountError, MountRequest, MountTuning, MountView, Parent, PolicyError, PolicyView,
    PrefixError, Refusal, RemountError, RenewError, RenewalSubject, Request, ResultantAcl,
    Revalidated, RevokeError, TokenGrant, TokenReference, TokenRole, TokenRoleChanges,
    TokenRoleError, TokenRoleWarning, TokenView, TuneError, UnwrapError, WrapError, WrapRequest,
    WrappingToken, WrappingView, WritePermission,
};

use super::address_text;
use super::bindings::gatehouse::access::{
    identity as identity_wit, leases as leases_wit, migrations as migrations_wit,
    mounts as mounts_wit, policies as policies_wit, requests as requests_wit, rights as rights_wit,
    system as system_wit, token_roles as token_roles_wit, tokens as tokens_wit, types,
    wrapping as wrapping_wit,
};

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedAccess;

impl Access for ImportedAccess {
    fn cluster(&self) -> Result<Option<Cluster>, Failure> {
        Ok(system_wit::current_cluster()?.map(Into::into))
    }

    fn initialize(&self, root_token: Option<&str>) -> Result<Initialized, InitializeError> {
        let initialized = system_wit::initialize(root_token)?;
        Ok(Initialized {
            root_token: ClientToken::new(initialized.root_token),
        })
    }

    fn generate_root(&self) -> Result<ClientToken, Failure> {
        Ok(ClientToken::new(system_wit::generate_root()?))
    }

    fn maintain(&self) -> Result<(), Failure> {
        Ok(system_wit::maintain()?)
    }

    fn admit(&self, request: &Request<'_>) -> Result<Admission, Refusal> {
        let admission = requests_wit::admit(&requests_wit::Request {
            token: request.token.map(ToOwned::to_owned),
            operation: request.operation.into(),
            path: request.path.to_owned(),
            source_address: address_text(request.source_address),
            wrap_ttl: request.wrap_ttl,
            parameters: request.parameters.map(|parameters| {
                let parameters = parameters
                    .iter()
                    .cloned()
                    .map(requests_wit::Parameter::from);
                parameters.collect()
            }),
        })?;
        Ok(admission.into())
    }

    fn capabilities(
        &self,
        reference: TokenReference<'_>,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        let lists = requests_wit::capabilities(&reference.into(), paths)?;
        let list = |list: Vec<types::Capability>| list.into_iter().map(Into::into).collect();
        Ok(lists.into_iter().map(list).collect())
    }

    fn unconditional_capabilities(
        &self,
        reference: TokenReference<'_>,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        let lists = rights_wit::unconditional_capabilities(&reference.into(), paths)?;
        let list = |list: Vec<types::Capability>| list.into_iter().map(Into::into).collect();
        Ok(lists.into_iter().map(list).collect())
    }

    fn has_rights_below(
        &self,
        reference: TokenReference<'_>,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError> {
        Ok(rights_wit::has_rights_below(&reference.into(), paths)?)
    }

    fn resultant_acl(&self, reference: TokenReference<'_>) -> Result<ResultantAcl, LookupError> {
        Ok(rights_wit::resultant(&reference.into())?.into())
    }

    fn issue_login(&self, grant: &LoginGrant) -> Result<Issued, LoginError> {
        Ok(tokens_wit::issue_login(&grant.into())?.into())
    }

    fn create_token(
        &self,
        parent: &Parent<'_>,
        request: &CreateRequest,
    ) -> Result<Issued, CreateError> {
        let parent = tokens_wit::Parent {
            token: parent.token.to_owned(),
            sudo: parent.sudo,
            limited_uses: parent.limited_uses,
            orphan_path: parent.orphan_path,
        };
        Ok(tokens_wit::create(&parent, &request.into())?.into())
    }

    fn lookup_token(&self, reference: TokenReference<'_>) -> Result<TokenView, LookupError> {
        Ok(tokens_wit::read(&reference.into())?.into())
    }

    fn renewal(
        &self,
        reference: TokenReference<'_>,
        source_address: Option<IpAddr>,
    ) -> Result<RenewalSubject, RenewError> {
        let source_address = address_text(source_address);
        let subject = tokens_wit::renewal(&reference.into(), source_address.as_deref())?;
        Ok(RenewalSubject {
            revalidation: subject.revalidation.map(Into::into),
        })
    }

    fn renew_token(
        &self,
        reference: TokenReference<'_>,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError> {
        let fresh = fresh.map(Into::into);
        Ok(tokens_wit::renew(&reference.into(), increment, fresh.as_ref())?.into())
    }

    fn revoke_token(&self, reference: TokenReference<'_>) -> Result<bool, RevokeError> {
        Ok(tokens_wit::revoke(&reference.into())?)
    }

    fn revoke_token_alone(&self, reference: TokenReference<'_>) -> Result<bool, RevokeError> {
        Ok(tokens_wit::revoke_alone(&reference.into())?)
    }

    fn tidy_tokens(&self) -> Result<bool, Failure> {
        Ok(tokens_wit::tidy()?)
    }

    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        Ok(tokens_wit::list_accessors(after, limit)?.into())
    }

    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, Failure> {
        Ok(leases_wit::list_below(prefix, after, limit)?.into())
    }

    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError> {
        Ok(leases_wit::revoke_prefix(prefix)?)
    }

    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        Ok(token_roles_wit::list_names(after, limit)?.into())
    }

    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, Failure> {
        Ok(token_roles_wit::read(name)?.map(Into::into))
    }

    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
        let warnings = token_roles_wit::write(name, &changes.into(), permission.into())?;
        Ok(warnings.into_iter().map(Into::into).collect())
    }

    fn delete_token_role(&self, name: &str) -> Result<(), Failure> {
        Ok(token_roles_wit::delete(name)?)
    }

    fn list_policies(&self) -> Result<Vec<String>, Failure> {
        Ok(policies_wit::list_names()?)
    }

    fn read_policy(&self, name: &str) -> Result<Option<PolicyView>, Failure> {
        Ok(policies_wit::read(name)?.map(Into::into))
    }

    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError> {
        Ok(policies_wit::write(name, text)?)
    }

    fn delete_policy(&self, name: &str) -> Result<(), PolicyError> {
        Ok(policies_wit::delete(name)?)
    }

    fn read_entity(&self, reference: IdentityReference<'_>) -> Result<Option<EntityView>, Failure> {
        Ok(identity_wit::read_entity(&reference.into())?.map(Into::into))
    }

    fn list_entities(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ListPage<EntityView>, Failure> {
        Ok(identity_wit::list_entities(after, limit)?.into())
    }

    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        Ok(identity_wit::list_entity_names(after, limit)?.into())
    }

    fn write_entity(
        &self,
        target: IdentityTarget<'_>,
        changes: &EntityChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        Ok(identity_wit::write_entity(&target.into(), &changes.into())?.into())
    }

    fn delete_entity(&self, reference: IdentityReference<'_>) -> Result<bool, IdentityError> {
        Ok(identity_wit::delete_entity(&reference.into())?)
    }

    fn merge_entities(&self, request: &MergeRequest) -> Result<(), IdentityError> {
        Ok(identity_wit::merge_entities(&request.into())?)
    }

    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, Failure> {
        Ok(identity_wit::read_entity_alias(id)?.map(Into::into))
    }

    fn list_entity_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ListPage<AliasView>, Failure> {
        Ok(identity_wit::list_entity_aliases(after, limit)?.into())
    }

    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        Ok(identity_wit::write_entity_alias(&request.into())?.into())
    }

    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError> {
        Ok(identity_wit::delete_entity_alias(id)?)
    }

    fn read_group(&self, reference: IdentityReference<'_>) -> Result<Option<GroupView>, Failure> {
        Ok(identity_wit::read_group(&reference.into())?.map(Into::into))
    }

    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<ListPage<GroupView>, Failure> {
        Ok(identity_wit::list_groups(after, limit)?.into())
    }

    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        Ok(identity_wit::list_group_names(after, limit)?.into())
    }

    fn write_group(
        &self,
        target: IdentityTarget<'_>,
        changes: &GroupChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        Ok(identity_wit::write_group(&target.into(), &changes.into())?.into())
    }

    fn delete_group(&self, reference: IdentityReference<'_>) -> Result<bool, IdentityError> {
        Ok(identity_wit::delete_group(&reference.into())?)
    }

    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, Failure> {
        Ok(identity_wit::read_group_alias(id)?.map(Into::into))
    }

    fn list_group_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ListPage<AliasView>, Failure> {
        Ok(identity_wit::list_group_aliases(after, limit)?.into())
    }

    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        Ok(identity_wit::write_group_alias(&request.into())?.into())
    }

    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError> {
        Ok(identity_wit::delete_group_alias(id)?)
    }

    fn list_mounts(&self) -> Result<Vec<MountView>, Failure> {
        Ok(mounts_wit::list_all()?
            .into_iter()
            .map(Into::into)
            .collect())
    }

    fn read_mount(&self, path: &str) -> Result<Option<MountView>, Failure> {
        Ok(mounts_wit::read(path)?.map(Into::into))
    }

    fn find_mount(&self, path: &str) -> Result<Option<MountView>, Failure> {
        Ok(mounts_wit::find(path)?.map(Into::into))
    }

    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError> {
        Ok(mounts_wit::enable(path, &request.into())?)
    }

    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError> {
        Ok(mounts_wit::tune(path, &tuning.into())?)
    }

    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError> {
        Ok(mounts_wit::disable(path)?)
    }

    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, Failure> {
        Ok(mounts_wit::list_disabled(limit)?)
    }

    fn forget_disabled_mount(&self, id: &str) -> Result<(), Failure> {
        Ok(mounts_wit::forget_disabled(id)?)
    }

    fn move_mount(&self, from: &str, to: &str) -> Result<String, RemountError> {
        Ok(migrations_wit::move_mount(from, to)?)
    }

    fn read_migration(&self, id: &str) -> Result<Option<Migration>, Failure> {
        Ok(migrations_wit::read(id)?.map(Into::into))
    }

    fn wrap(&self, request: &WrapRequest<'_>) -> Result<WrappingToken, WrapError> {
        Ok(wrapping_wit::wrap(&request.into())?.into())
    }

    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError> {
        Ok(wrapping_wit::read(token)?.into())
    }

    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError> {
        Ok(wrapping_wit::unwrap(token)?)
    }

    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError> {
        Ok(wrapping_wit::rewrap(token, ttl)?.into())
    }
}
