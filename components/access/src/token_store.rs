//! Tokens and the store: reading one with everything that its validity rests on, and writing a service token with its indexes.

use std::sync::Arc;

use gatehouse_ports::{Clock, IpAddress, Random, Store, Version, networks};
use gatehouse_storage::{Loaded, StorageError, Transaction};

use crate::api::{ClientToken, ServiceError, TokenGrant, TokenReference, TokenView};
use crate::foundation_guesses::GuessedReads;
use crate::identity::EntityGroups;
use crate::policy::{RESPONSE_WRAPPING, ROOT, Rule, response_wrapping_rules};
use crate::quotas::put_slot;
use crate::random;
use crate::records::{
    AccessorRecord, ChildRecord, EntityRecord, MountRecord, RulesRecord, TokenRecord, accessor_key,
    child_key, cubbyhole_key, entity_key, mount_key, rules_key, token_key, wrapped_key,
};
use crate::secret::{IdentifierHasher, TokenHash, TokenNames};
use crate::service::AccessService;
use crate::token_location::{LocatedToken, StoredToken, TokenLocation};

/// Longest policy name, in bytes.
pub(crate) const MAXIMUM_POLICY_NAME_BYTES: usize = 128;

/// A token that is valid now.
pub(crate) struct LiveToken {
    pub(crate) record: TokenRecord,
    /// `None` for a batch token.
    pub(crate) stored: Option<StoredToken>,
    /// The ancestors that its validity rests on, from the oldest to the parent, as they were read: for commits that depend on them.
    pub(crate) ancestors: Vec<(TokenHash, Version)>,
    /// The mount that issued it, if one did.
    pub(crate) issuer: Option<Arc<MountRecord>>,
    /// `None` also when the token names an entity that is gone.
    pub(crate) entity: Option<Loaded<Arc<EntityRecord>>>,
    /// The groups that the entity is in.
    pub(crate) groups: EntityGroups,
    /// Of its own policies and its identity's; empty unless they were asked for.
    pub(crate) rules: Vec<Arc<RulesRecord>>,
}

/// How much to read with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadScope {
    /// Only what decides whether the token is valid.
    Liveness,
    /// The same, and the rules of its policies.
    LivenessAndRules,
}

impl LiveToken {
    /// True if it names an entity that is disabled or gone.
    pub(crate) fn has_unusable_entity(&self) -> bool {
        let entity = self.entity.as_ref();
        self.record.entity_id.is_some() && entity.is_none_or(|entity| entity.record.disabled)
    }

    /// True if it may be used from `address` (SEC-T9). A root token without an end may, whatever its ranges say.
    pub(crate) fn may_be_used_from(&self, address: Option<IpAddress>) -> bool {
        let endless_root = self.record.is_root() && self.record.expire_time.is_none();
        endless_root || networks::allow(&self.record.bound_cidrs, address)
    }

    /// The policies of the entity and of its groups as they are now.
    pub(crate) fn identity_policies(&self) -> Vec<String> {
        match &self.entity {
            Some(entity) if !entity.record.disabled => {
                let of_groups: Vec<String> = self.groups.policies().cloned().collect();
                identity_policies(&entity.record, &of_groups)
            }
            _ => Vec::new(),
        }
    }

    /// All rules that were read, of all policies.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().flat_map(|policy| policy.rules.iter())
    }

    /// The token as a lookup shows it at `now`.
    pub(crate) fn view(&self, now: u64) -> TokenView {
        let record = &self.record;
        TokenView {
            accessor: record.accessor.clone(),
            creation_time: record.creation_time,
            creation_ttl: record.creation_ttl,
            display_name: record.display_name.clone(),
            entity_id: record.entity_id.clone(),
            expire_time: record.expire_time,
            explicit_max_ttl: record.explicit_max_ttl,
            last_renewal_time: record.last_renewal_time,
            metadata: record.shown_metadata(),
            num_uses: record.num_uses,
            orphan: self.ancestors.is_empty(),
            path: record.path.clone(),
            role: record.role.clone(),
            period: record.period,
            policies: record.policies.clone(),
            identity_policies: self.identity_policies(),
            bound_cidrs: record.bound_cidrs.clone(),
            renewable: record.renewable,
            ttl: record.expire_time.map_or(0, |end| end.saturating_sub(now)),
            token_type: record.token_type(),
        }
    }
}

/// The policies of an entity and of its groups, sorted.
pub(crate) fn identity_policies(entity: &EntityRecord, of_groups: &[String]) -> Vec<String> {
    let mut policies = [entity.policies.as_slice(), of_groups].concat();
    policies.sort_unstable();
    policies.dedup();
    policies
}

/// The terms of a token whose record was just written, with a time to live of `lease_duration`.
pub(crate) fn grant(
    record: &TokenRecord,
    identity_policies: Vec<String>,
    lease_duration: u64,
) -> TokenGrant {
    let mut policies = [record.policies.as_slice(), identity_policies.as_slice()].concat();
    policies.sort_unstable();
    policies.dedup();
    TokenGrant {
        accessor: record.accessor.clone(),
        policies,
        token_policies: record.policies.clone(),
        identity_policies,
        metadata: record.shown_metadata(),
        lease_duration,
        renewable: record.renewable,
        entity_id: record.entity_id.clone(),
        token_type: record.token_type(),
        orphan: record.ancestors.is_empty(),
        num_uses: record.num_uses,
        warnings: Vec::new(),
    }
}

/// Puts a new token, and gives its record the accessor: where the names have none, one that has nothing to do with the text. No other
/// token has the hash of a generated one; that of a chosen one is for the caller to check.
pub(crate) fn put_new_token(
    transaction: &mut Transaction,
    hasher: &IdentifierHasher,
    random: &impl Random,
    names: TokenNames,
    record: &mut TokenRecord,
) -> Result<TokenHash, ServiceError> {
    match names.derived {
        Some(derived) => {
            record.accessor = derived.accessor;
            record.proof = Some(derived.proof);
        }
        None => record.accessor = random::accessor(random)?,
    }
    put_token(transaction, hasher, &names.hash, record)?;
    Ok(names.hash)
}

/// Puts a token: one record, and further ones for an accessor from which the token's key does not follow, for its place among its
/// parent's children, and for those that it has in quotas. All of them end together.
pub(crate) fn put_token(
    transaction: &mut Transaction,
    hasher: &IdentifierHasher,
    hash: &TokenHash,
    record: &TokenRecord,
) -> Result<(), StorageError> {
    let expires_at = record.expires_at();
    transaction.put_until(token_key(hash), record, expires_at)?;
    if record.proof.is_none() {
        let accessor = AccessorRecord {
            token: hash.clone(),
        };
        let key = accessor_key(&hasher.accessor(&record.accessor));
        transaction.put_until(key, &accessor, expires_at)?;
    }
    if let Some(parent) = record.ancestors.last() {
        let child = ChildRecord {
            token: hash.clone(),
        };
        transaction.put_until(child_key(parent, hash), &child, expires_at)?;
    }
    for place in &record.places {
        put_slot(transaction, place, expires_at)?;
    }
    Ok(())
}

/// Deletes what [`put_token`] puts, and what the token wraps or keeps.
pub(crate) fn delete_token(
    transaction: &mut Transaction,
    hasher: &IdentifierHasher,
    hash: &TokenHash,
    record: &TokenRecord,
) {
    transaction.delete(token_key(hash));
    if record.proof.is_none() {
        transaction.delete(accessor_key(&hasher.accessor(&record.accessor)));
    }
    if let Some(parent) = record.ancestors.last() {
        transaction.delete(child_key(parent, hash));
    }
    if record.is_wrapping() {
        transaction.delete(wrapped_key(hash));
    }
    if record.keeps_secrets {
        transaction.delete(cubbyhole_key(hash));
    }
    for place in &record.places {
        transaction.delete(place);
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Adds a new service token to a commit, and gives its record the accessor.
    pub(crate) fn stage_service_token(
        &self,
        transaction: &mut Transaction,
        record: &mut TokenRecord,
    ) -> Result<ClientToken, ServiceError> {
        let now = self.clock.now_milliseconds();
        let client_token = random::client_token(&self.random, now)?;
        let hasher = self.hasher()?;
        let names = hasher.names(client_token.expose());
        put_new_token(transaction, hasher, &self.random, names, record)?;
        Ok(client_token)
    }

    /// The valid token that `reference` means, without its rules.
    pub(crate) fn find(
        &self,
        reference: &TokenReference,
    ) -> Result<Option<LiveToken>, ServiceError> {
        self.find_with(reference, ReadScope::Liveness)
    }

    /// The valid token that `reference` means.
    pub(crate) fn find_with(
        &self,
        reference: &TokenReference,
        scope: ReadScope,
    ) -> Result<Option<LiveToken>, ServiceError> {
        match self.locate(reference)? {
            Some(located) => self.live_token(located, scope, None),
            None => Ok(None),
        }
    }

    /// The token that `reference` leads to, valid or not.
    pub(crate) fn locate(
        &self,
        reference: &TokenReference,
    ) -> Result<Option<LocatedToken>, ServiceError> {
        match reference {
            TokenReference::Id(id) => {
                let location = TokenLocation::new(self.hasher()?, id);
                let mut entries = self.read_all([location.key()].iter())?;
                location.load::<S>(entries.next().flatten())
            }
            TokenReference::Accessor(accessor) => self.token_of_accessor(accessor),
            TokenReference::Lease(id) => self.token_of_lease(id),
        }
    }

    /// The token of this accessor, in one round trip for one that follows from its token and in two for any other.
    fn token_of_accessor(&self, accessor: &str) -> Result<Option<LocatedToken>, ServiceError> {
        let mut hash = self.hasher()?.accessor(accessor);
        if !hash.is_in_order() {
            let key = accessor_key(&hash);
            let Some(place) = self.records.get::<AccessorRecord>(&key)? else {
                return Ok(None);
            };
            hash = place.record.token;
        }
        let token = self.records.get::<TokenRecord>(&token_key(&hash))?;
        Ok(token.map(|token| LocatedToken::stored(hash, token)))
    }

    /// Returns the token that was read if everything that its validity rests on is still there. Takes one round trip, which a right
    /// guess saves, and further ones where the entity has policies of its own or is in groups.
    pub(crate) fn live_token(
        &self,
        located: LocatedToken,
        scope: ReadScope,
        guessed: Option<GuessedReads<'_>>,
    ) -> Result<Option<LiveToken>, ServiceError> {
        let LocatedToken { record, stored } = located;
        let now = self.clock.now_seconds();
        if !record.is_alive_at(now) {
            return Ok(None);
        }
        let rules_keys: Vec<String> = match scope {
            ReadScope::LivenessAndRules => rules_keys(&record.policies),
            ReadScope::Liveness => Vec::new(),
        };
        let policies = rules_keys.len();
        let mut keys: Vec<String> = record.issuer().map(mount_key).into_iter().collect();
        keys.extend(record.ancestors.iter().map(token_key));
        keys.extend(record.entity_id.as_deref().map(entity_key));
        keys.extend(rules_keys);
        let mut reads = match guessed {
            Some(guessed) if *guessed.keys == *keys => guessed.reads,
            _ => {
                if let (ReadScope::LivenessAndRules, Some(stored)) = (scope, &stored) {
                    self.guesses.remember(&stored.hash, &keys);
                }
                self.read_cached(keys)?
            }
        };
        let issuer = match record.issuer() {
            None => None,
            Some(_) => reads.next_record::<MountRecord>()?.map(|it| it.record),
        };
        if record.issuer().is_some() && !issuer.as_ref().is_some_and(|it| it.honours(&record)) {
            return Ok(None);
        }
        let has_place = stored.is_some();
        let lineage = self.read_lineage(&record, has_place, issuer.as_ref(), &mut reads, now)?;
        let Some(ancestors) = lineage else {
            return Ok(None);
        };
        let entity = match &record.entity_id {
            None => None,
            Some(id) => match reads.next_record::<EntityRecord>()? {
                None => self.entity_merged_from(id)?,
                entity => entity,
            },
        };
        let mut rules = Vec::with_capacity(policies);
        for _ in 0..policies {
            rules.extend(reads.next_record::<RulesRecord>()?.map(|it| it.record));
        }
        if scope == ReadScope::LivenessAndRules && record.is_wrapping() {
            rules.push(Arc::new(RulesRecord {
                rules: response_wrapping_rules()?,
            }));
        }
        let mut token = LiveToken {
            record,
            stored,
            ancestors,
            issuer,
            groups: match &entity {
                Some(entity) => self.groups_of(&entity.record)?,
                None => EntityGroups::default(),
            },
            entity,
            rules,
        };
        if scope == ReadScope::LivenessAndRules {
            self.add_identity_rules(&mut token)?;
        }
        Ok(Some(token))
    }

    fn add_identity_rules(&self, token: &mut LiveToken) -> Result<(), ServiceError> {
        let mut policies = token.identity_policies();
        // Entities never make a caller root (SEC-A4), and a policy that the token already has adds nothing.
        policies.retain(|policy| policy != ROOT && !token.record.policies.contains(policy));
        if policies.is_empty() {
            return Ok(());
        }
        let keys = rules_keys(&policies);
        let policies = keys.len();
        let mut reads = self.read_cached(keys)?;
        for _ in 0..policies {
            let rules = reads.next_record::<RulesRecord>()?;
            token.rules.extend(rules.map(|it| it.record));
        }
        Ok(())
    }
}

/// Where the rules of `policies` are. `root` has none, those of `response-wrapping` are no record, and a name too long to exist
/// has none either.
fn rules_keys(policies: &[String]) -> Vec<String> {
    policies
        .iter()
        .filter(|policy| ![ROOT, RESPONSE_WRAPPING].contains(&policy.as_str()))
        .filter(|policy| policy.len() <= MAXIMUM_POLICY_NAME_BYTES)
        .map(|policy| rules_key(policy))
        .collect()
}
