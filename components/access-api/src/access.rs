//! The capability as a trait: implemented by the rules, and by the component that imports them.

use crate::{
    Admission, AliasPage, AliasRequest, AliasView, AliasWritten, Capability, ClientToken, Cluster,
    CreateError, CreateRequest, CubbyholeError, EntityChanges, EntityPage, EntityView, Failure,
    GroupChanges, GroupPage, GroupView, IdentityError, IdentityReference, IdentityTarget,
    IdentityWritten, InitializeError, Initialized, Issued, KeyPage, LoginError, LoginGrant,
    LookupError, MergeRequest, Migration, MountError, MountRequest, MountTuning, MountView, Parent,
    Policy, PolicyError, PrefixError, Refusal, RemountError, RenewError, RenewalSubject, Request,
    ResultantAcl, Revalidated, RevokeError, TokenGrant, TokenReference, TokenRole,
    TokenRoleChanges, TokenRoleError, TokenRoleWarning, TokenView, TuneError, UnwrapError,
    WrapError, WrapRequest, WrappingToken, WrappingView, WritePermission,
};

/// Decides who may do what: tokens, policies, identities, auth mounts, and the first start of a server.
pub trait Access {
    /// The server's identity; `None` until it has been initialized.
    ///
    /// # Errors
    ///
    /// When the store does not answer, sealed included.
    fn cluster(&self) -> Result<Option<Cluster>, Failure>;

    /// Prepares an empty store: server secret, policy `default`, mount `token/`, one root token. `root_token` is the
    /// identifier an operator chose for it (development only); `None` makes a random one.
    ///
    /// # Errors
    ///
    /// When it has been done before: of several that race, exactly one wins (SEC-A8).
    fn initialize(&self, root_token: Option<&str>) -> Result<Initialized, InitializeError>;

    /// Makes one more root token, which never expires: for a caller that has proven to hold the key of the store.
    ///
    /// # Errors
    ///
    /// When the store does not answer, sealed included, or there is no randomness. No token was made then.
    fn generate_root(&self) -> Result<ClientToken, Failure>;

    /// Does what is due without anybody asking: replaces the key that batch tokens are made under when it has been in use for long
    /// enough, and clears away a part of what no valid token leads to. To be called every minute or so; more often, and from several
    /// hosts at once, is harmless.
    ///
    /// # Errors
    ///
    /// When the store does not answer, sealed included. What was due is then done by the next call.
    fn maintain(&self) -> Result<(), Failure>;

    /// Authenticates and authorizes one request, once, and takes one use of a token whose uses are limited (SEC-T4).
    ///
    /// # Errors
    ///
    /// The reason of the refusal. The use stays taken when a policy refuses.
    fn admit(&self, request: &Request) -> Result<Admission, Refusal>;

    /// What the token of `reference` may do on each of `paths`, in the order that contract 5.6 prescribes for the names. A
    /// path without a rule gives `deny` alone, a root token `root` alone.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError>;

    /// The same of what is granted without conditions: a path whose rule looks at parameters or at wrapping gives `deny` alone.
    /// These decide what a caller owns.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError>;

    /// For each of `paths`, in their order, whether a rule of the token grants something there or below, be it denied by another.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError>;

    /// What the policies of the token grant together, for user interfaces.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError>;

    /// Makes the token of a successful login, its entity at the first one, and its memberships in external groups, in one commit.
    ///
    /// # Errors
    ///
    /// When the parameters or the entity forbid it; nothing is stored then.
    fn issue_login(&self, grant: &LoginGrant) -> Result<Issued, LoginError>;

    /// Makes a token for an authenticated caller (contract 5.4).
    ///
    /// # Errors
    ///
    /// One variant per refusal of the contract; nothing is stored then.
    fn create_token(&self, parent: &Parent, request: &CreateRequest)
    -> Result<Issued, CreateError>;

    /// Shows a valid token. The caller's own is already in [`Admission::caller`].
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError>;

    /// What must be checked before the token may be renewed, for a caller at `source_address`.
    ///
    /// # Errors
    ///
    /// When the token cannot be renewed at all.
    fn renewal(
        &self,
        reference: &TokenReference,
        source_address: Option<&str>,
    ) -> Result<RenewalSubject, RenewError>;

    /// Extends a token. `increment` is the wanted time to live in seconds, 0 for none in particular. `fresh` holds what a
    /// successful revalidation gave; it is required exactly when [`RenewalSubject::revalidation`] asked for one.
    ///
    /// # Errors
    ///
    /// When nothing is left to extend; the token then stays as it is.
    fn renew_token(
        &self,
        reference: &TokenReference,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError>;

    /// Ends a token and everything that descends from it, at once. Says whether there was such a token.
    ///
    /// # Errors
    ///
    /// When it is a batch token.
    fn revoke_token(&self, reference: &TokenReference) -> Result<bool, RevokeError>;

    /// Ends a token alone: its children become orphans and keep their descendants, all in one commit. Says whether there was such a
    /// token.
    ///
    /// # Errors
    ///
    /// When it is a batch token.
    fn revoke_token_alone(&self, reference: &TokenReference) -> Result<bool, RevokeError>;

    /// Starts clearing away what no valid token leads to, which is for [`Self::maintain`] to do. False when it had been started before
    /// and is still under way.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn tidy_tokens(&self) -> Result<bool, Failure>;

    /// The accessors of valid tokens, at most `limit` of them: from the beginning of the list, or from behind accessor `after`, be
    /// its token valid or not. Their order is fixed and means nothing.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure>;

    /// What lies directly below `prefix` in the tree of leases: hashes that name a lease there, and segments that lead on, which
    /// end in `/`. Sorted; at most `limit` that come after `after`. Leases of tokens that are not valid any more are left out.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, Failure>;

    /// Ends all tokens whose leases lie at or below `prefix`, in one change however many there are; what is issued from then on
    /// is not concerned. A prefix that fits nothing is a success.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or the mount has too many prefixes cut off apart from each other.
    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError>;

    /// The names of token-store roles, sorted, at most `limit` of them: from the beginning of the list, or from behind `after`.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure>;

    /// A token-store role.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, Failure>;

    /// Makes a token-store role or changes one, as far as `permission` goes.
    ///
    /// # Errors
    ///
    /// When the role as it would be could make no tokens, or the caller may not do it; nothing is stored then.
    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError>;

    /// Removes a token-store role; a missing one is a success. Its tokens live on, and are not renewed any more.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_token_role(&self, name: &str) -> Result<(), Failure>;

    /// The names of all policies, sorted, and after them `root`.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_policies(&self) -> Result<Vec<String>, Failure>;

    /// A policy as the operator wrote it; `root` shows an empty text.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_policy(&self, name: &str) -> Result<Option<Policy>, Failure>;

    /// Stores a policy, given as text or as base64 of the text.
    ///
    /// # Errors
    ///
    /// When the text does not parse, asks for what is not supported, or the policy is immutable; nothing is stored then.
    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError>;

    /// Removes a policy; a missing one is a success.
    ///
    /// # Errors
    ///
    /// When the policy may not be deleted.
    fn delete_policy(&self, name: &str) -> Result<(), PolicyError>;

    /// An entity.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_entity(&self, reference: &IdentityReference) -> Result<Option<EntityView>, Failure>;

    /// Entities, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_entities(&self, after: Option<&str>, limit: u32) -> Result<EntityPage, Failure>;

    /// Names of entities, at most `limit` of them, 1 to 10000, behind name `after`, which need not exist. Their order is fixed and
    /// means nothing.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure>;

    /// Makes or changes an entity.
    ///
    /// # Errors
    ///
    /// When the target does not exist or a change cannot be; nothing is stored then.
    fn write_entity(
        &self,
        target: &IdentityTarget,
        changes: &EntityChanges,
    ) -> Result<IdentityWritten, IdentityError>;

    /// Removes an entity, its aliases and its memberships; its tokens are refused from then on. Says whether there was one.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_entity(&self, reference: &IdentityReference) -> Result<bool, IdentityError>;

    /// Makes one entity of several, in one commit: their aliases and memberships go over, what else is said of those that cease
    /// to be is forgotten, and their tokens count as tokens of the entity that stays.
    ///
    /// # Errors
    ///
    /// When an entity does not exist, aliases clash, or the change is too large for one commit; nothing is stored then.
    fn merge_entities(&self, request: &MergeRequest) -> Result<(), IdentityError>;

    /// The entity alias with this identifier.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, Failure>;

    /// Entity aliases, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_entity_aliases(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure>;

    /// Makes or changes an entity alias.
    ///
    /// # Errors
    ///
    /// When mount, entity or alias do not exist or are taken; nothing is stored then.
    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError>;

    /// Removes an entity alias. Says whether there was one.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError>;

    /// A group with its members.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_group(&self, reference: &IdentityReference) -> Result<Option<GroupView>, Failure>;

    /// Groups, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, Failure>;

    /// Names of groups, at most `limit` of them, 1 to 10000, behind name `after`, which need not exist. Their order is fixed and
    /// means nothing.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure>;

    /// Makes or changes a group.
    ///
    /// # Errors
    ///
    /// When target or members do not exist or a change cannot be; nothing is stored then.
    fn write_group(
        &self,
        target: &IdentityTarget,
        changes: &GroupChanges,
    ) -> Result<IdentityWritten, IdentityError>;

    /// Removes a group, its memberships and its alias. Says whether there was one.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_group(&self, reference: &IdentityReference) -> Result<bool, IdentityError>;

    /// The group alias with this identifier.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, Failure>;

    /// Group aliases, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_group_aliases(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure>;

    /// Makes or changes the alias of an external group.
    ///
    /// # Errors
    ///
    /// When mount, group or alias do not exist or are taken; nothing is stored then.
    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError>;

    /// Removes a group alias; who is in the group by it is out of it. Says whether there was one.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError>;

    /// All auth mounts, `token/` included, sorted by path.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_mounts(&self) -> Result<Vec<MountView>, Failure>;

    /// The mount at `path`, written with or without its trailing `/` and without the leading `auth/`.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_mount(&self, path: &str) -> Result<Option<MountView>, Failure>;

    /// The mount that serves `path`: the one at it, or above it.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn find_mount(&self, path: &str) -> Result<Option<MountView>, Failure>;

    /// Enables an auth method at `path`.
    ///
    /// # Errors
    ///
    /// When the path is taken or malformed, or the request is (contract 6.3); nothing is stored then.
    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError>;

    /// Changes how an enabled mount, `token/` included, treats its tokens.
    ///
    /// # Errors
    ///
    /// When there is no mount at `path`, or the mount as it would be contradicts itself (contract 6.3); it stays as it is then.
    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError>;

    /// Disables the method at `path`, which ends all its tokens at once. Gives the mount's identifier, so that its data can be
    /// removed, and lists it in [`Self::list_disabled_mounts`] from the same commit on; `None` where there was no mount.
    ///
    /// # Errors
    ///
    /// When the mount may not be disabled.
    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError>;

    /// Identifiers of disabled mounts that [`Self::forget_disabled_mount`] was not called for, sorted: the first `limit` of them, 1 to
    /// 1000.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, Failure>;

    /// Takes a disabled mount off [`Self::list_disabled_mounts`], for when the method has removed what it kept for it. One that is
    /// not listed is a success.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn forget_disabled_mount(&self, id: &str) -> Result<(), Failure>;

    /// Moves the method at `from` to `to`, which ends all its tokens at once; its data, aliases and entities stay with it. Gives
    /// the identifier of the move, by which [`Self::read_migration`] shows it for a day.
    ///
    /// # Errors
    ///
    /// When there is nothing to move or no room for it; everything stays as it is then.
    fn move_mount(&self, from: &str, to: &str) -> Result<String, RemountError>;

    /// The move with this identifier; `None` also for one of more than a day ago.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_migration(&self, id: &str) -> Result<Option<Migration>, Failure>;

    /// Keeps a response and makes the token that gives it out once, in one commit (contract 1.8).
    ///
    /// # Errors
    ///
    /// When there is too much to keep or no time to keep it; nothing is stored then.
    fn wrap(&self, request: &WrapRequest) -> Result<WrappingToken, WrapError>;

    /// Shows a wrapping token without using it (contract 6.6).
    ///
    /// # Errors
    ///
    /// When it is not a valid wrapping token.
    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError>;

    /// Gives out what `token` wraps, and ends the token in the same commit: of several calls exactly one gets it (SEC-T4).
    ///
    /// # Errors
    ///
    /// When it is not a valid wrapping token.
    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError>;

    /// Puts a new wrapping token in the place of `token`, which ends. The new one lives as long as the old one was to live when
    /// it was made, or for `ttl` seconds where that is less; `None` and 0 do not shorten it.
    ///
    /// # Errors
    ///
    /// When it is not a valid wrapping token.
    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError>;

    /// The secret that `token` keeps at `path`; `None` where there is none (contract 6.1). Of a token whose last use was the admission
    /// of this request it is shown once more.
    ///
    /// # Errors
    ///
    /// When the token keeps nothing, since it is not valid or a batch token.
    fn read_cubbyhole(&self, token: &str, path: &str) -> Result<Option<Vec<u8>>, CubbyholeError>;

    /// What lies directly in a folder of the secrets of `token`, sorted; further folders end in `/`. An empty folder holds all.
    ///
    /// # Errors
    ///
    /// When the token keeps nothing, since it is not valid or a batch token.
    fn list_cubbyhole(&self, token: &str, folder: &str) -> Result<Vec<String>, CubbyholeError>;

    /// Has `token` keep a secret at `path`, as far as `permission` goes. It ends with the token, be that revoked, used up or expired.
    ///
    /// # Errors
    ///
    /// When the token keeps nothing or too much, or the caller may not do it; nothing is stored then.
    fn write_cubbyhole(
        &self,
        token: &str,
        path: &str,
        content: &[u8],
        permission: WritePermission,
    ) -> Result<(), CubbyholeError>;

    /// Removes a secret of `token`; a missing one is a success.
    ///
    /// # Errors
    ///
    /// When the token keeps nothing, since it is not valid or a batch token.
    fn delete_cubbyhole(&self, token: &str, path: &str) -> Result<(), CubbyholeError>;
}
