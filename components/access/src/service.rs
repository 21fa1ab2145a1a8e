//! The capability over its ports.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{CachedReads, RecordCache, Records};
use zeroize::Zeroizing;

use crate::api::{
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
use crate::identity::Named;
use crate::records::{SYSTEM_KEY, SystemRecord};
use crate::secret::IdentifierHasher;
use crate::settings::Settings;

/// [`Access`] over a store, a clock and a source of randomness.
///
/// It holds no state but two caches: the key that identifiers are hashed under, which initialization writes once and nothing ever
/// changes, and decoded records, which are compared with the store at every read.
pub struct AccessService<S, C, R> {
    pub(crate) records: Records<S>,
    pub(crate) clock: C,
    pub(crate) random: R,
    pub(crate) settings: Settings,
    hasher: OnceLock<IdentifierHasher>,
    cache: RecordCache,
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The capability over these ports.
    pub const fn new(store: S, clock: C, random: R) -> Self {
        Self {
            records: Records::new(store),
            clock,
            random,
            settings: Settings::DEFAULT,
            hasher: OnceLock::new(),
            cache: RecordCache::new(),
        }
    }

    /// The same with what the operator decided.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Reads the entries of `keys` as they are now, without decoding again what has not changed.
    pub(crate) fn read_cached(
        &self,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<CachedReads<'_>, Failure> {
        Ok(self.cache.read(self.records.store(), keys)?)
    }

    /// The server's hasher, read once.
    pub(crate) fn hasher(&self) -> Result<&IdentifierHasher, Failure> {
        if let Some(hasher) = self.hasher.get() {
            return Ok(hasher);
        }
        let system = self
            .records
            .get::<SystemRecord>(SYSTEM_KEY)?
            .ok_or(Failure::NotInitialized)?;
        let damaged = || Failure::Damaged("the server secret is malformed".to_owned());
        let key = STANDARD
            .decode(&system.record.identifier_key)
            .map(Zeroizing::new)
            .map_err(|_| damaged())?;
        let hasher = IdentifierHasher::new(&key).ok_or_else(damaged)?;
        Ok(self.hasher.get_or_init(|| hasher))
    }
}

impl<S: Store, C: Clock, R: Random> Access for AccessService<S, C, R> {
    fn cluster(&self) -> Result<Option<Cluster>, Failure> {
        self.current_cluster()
    }

    fn initialize(&self, root_token: Option<&str>) -> Result<Initialized, InitializeError> {
        self.initialize_store(root_token)
    }

    fn generate_root(&self) -> Result<ClientToken, Failure> {
        self.store_root_token()
    }

    fn maintain(&self) -> Result<(), Failure> {
        let rotated = self.rotate_batch_key();
        let indexed = self
            .advance_policy_names()
            .and(self.advance_token_role_names())
            .and(self.advance_names(Named::Entity))
            .and(self.advance_names(Named::Group));
        self.sweep().and(rotated).and(indexed.map(|_| ()))
    }

    fn admit(&self, request: &Request) -> Result<Admission, Refusal> {
        self.admit_request(request)
    }

    fn capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        self.capabilities_of(reference, paths, |verdict| verdict.capabilities())
    }

    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        self.capabilities_of(reference, paths, |verdict| {
            verdict.unconditional_capabilities()
        })
    }

    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError> {
        self.rights_below(reference, paths)
    }

    fn resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError> {
        self.acl(reference)
    }

    fn issue_login(&self, grant: &LoginGrant) -> Result<Issued, LoginError> {
        self.issue_for_login(grant)
    }

    fn create_token(
        &self,
        parent: &Parent,
        request: &CreateRequest,
    ) -> Result<Issued, CreateError> {
        self.create_child(parent, request)
    }

    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError> {
        let token = self.find(reference)?.ok_or(LookupError::UnknownToken)?;
        Ok(token.view(self.clock.now_seconds()))
    }

    fn renewal(
        &self,
        reference: &TokenReference,
        source_address: Option<&str>,
    ) -> Result<RenewalSubject, RenewError> {
        self.renewal_subject(reference, source_address)
    }

    fn renew_token(
        &self,
        reference: &TokenReference,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError> {
        self.extend(reference, increment, fresh)
    }

    fn revoke_token(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        self.revoke(reference)
    }

    fn revoke_token_alone(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        self.revoke_alone(reference)
    }

    fn tidy_tokens(&self) -> Result<bool, Failure> {
        self.tidy()
    }

    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        self.accessors(after, limit)
    }

    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, Failure> {
        self.leases_below(prefix, after, limit)
    }

    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError> {
        self.cut_off(prefix)
    }

    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        self.token_role_names(after, limit)
    }

    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, Failure> {
        self.token_role(name)
    }

    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
        self.put_token_role(name, changes, permission)
    }

    fn delete_token_role(&self, name: &str) -> Result<(), Failure> {
        self.remove_token_role(name)
    }

    fn list_policies(&self) -> Result<Vec<String>, Failure> {
        self.policy_names()
    }

    fn read_policy(&self, name: &str) -> Result<Option<Policy>, Failure> {
        self.policy(name)
    }

    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError> {
        self.put_policy(name, text)
    }

    fn delete_policy(&self, name: &str) -> Result<(), PolicyError> {
        self.remove_policy(name)
    }

    fn read_entity(&self, reference: &IdentityReference) -> Result<Option<EntityView>, Failure> {
        self.entity_view(reference)
    }

    fn list_entities(&self, after: Option<&str>, limit: u32) -> Result<EntityPage, Failure> {
        self.entity_page(after, limit)
    }

    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        self.entity_names(after, limit)
    }

    fn write_entity(
        &self,
        target: &IdentityTarget,
        changes: &EntityChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        self.put_entity(target, changes)
    }

    fn delete_entity(&self, reference: &IdentityReference) -> Result<bool, IdentityError> {
        self.remove_entity(reference)
    }

    fn merge_entities(&self, request: &MergeRequest) -> Result<(), IdentityError> {
        self.merge(request)
    }

    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, Failure> {
        self.alias_view(id)
    }

    fn list_entity_aliases(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure> {
        self.alias_page(after, limit)
    }

    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        self.put_alias(request)
    }

    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError> {
        self.remove_alias(id)
    }

    fn read_group(&self, reference: &IdentityReference) -> Result<Option<GroupView>, Failure> {
        self.group_view(reference)
    }

    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, Failure> {
        self.group_page(after, limit)
    }

    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        self.group_names(after, limit)
    }

    fn write_group(
        &self,
        target: &IdentityTarget,
        changes: &GroupChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        self.put_group(target, changes)
    }

    fn delete_group(&self, reference: &IdentityReference) -> Result<bool, IdentityError> {
        self.remove_group(reference)
    }

    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, Failure> {
        self.group_alias(id)
    }

    fn list_group_aliases(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure> {
        self.group_alias_page(after, limit)
    }

    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        self.put_group_alias(request)
    }

    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError> {
        self.remove_group_alias(id)
    }

    fn list_mounts(&self) -> Result<Vec<MountView>, Failure> {
        self.mounts()
    }

    fn read_mount(&self, path: &str) -> Result<Option<MountView>, Failure> {
        self.mount(path)
    }

    fn find_mount(&self, path: &str) -> Result<Option<MountView>, Failure> {
        self.mount_serving(path)
    }

    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError> {
        self.enable(path, request)
    }

    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError> {
        self.tune(path, tuning)
    }

    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError> {
        self.disable(path)
    }

    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, Failure> {
        self.disabled_mounts(limit)
    }

    fn forget_disabled_mount(&self, id: &str) -> Result<(), Failure> {
        self.forget_disabled(id)
    }

    fn move_mount(&self, from: &str, to: &str) -> Result<String, RemountError> {
        self.move_to(from, to)
    }

    fn read_migration(&self, id: &str) -> Result<Option<Migration>, Failure> {
        self.migration(id)
    }

    fn wrap(&self, request: &WrapRequest) -> Result<WrappingToken, WrapError> {
        self.wrap_content(request)
    }

    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError> {
        self.wrapping_view(token)
    }

    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError> {
        self.take_content(token)
    }

    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError> {
        self.replace_wrapping(token, ttl)
    }

    fn read_cubbyhole(&self, token: &str, path: &str) -> Result<Option<Vec<u8>>, CubbyholeError> {
        self.cubbyhole_secret(token, path)
    }

    fn list_cubbyhole(&self, token: &str, folder: &str) -> Result<Vec<String>, CubbyholeError> {
        self.cubbyhole_keys(token, folder)
    }

    fn write_cubbyhole(
        &self,
        token: &str,
        path: &str,
        content: &[u8],
        permission: WritePermission,
    ) -> Result<(), CubbyholeError> {
        self.put_cubbyhole_secret(token, path, content, permission)
    }

    fn delete_cubbyhole(&self, token: &str, path: &str) -> Result<(), CubbyholeError> {
        self.remove_cubbyhole_secret(token, path)
    }
}
