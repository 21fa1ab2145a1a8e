//! Tokens of successful logins, and the entities behind them (contract 5 and 7.1).

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Random, Store, networks};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::api::{
    FieldTooLong, Issued, LoginError, LoginGrant, Logins, MountTokenType, ServiceError,
    TokenParameters, TokenType,
};
use crate::bounds::{LIST_BYTES, MAXIMUM_POLICIES, METADATA_BYTES, TEXT_BYTES};
use crate::bounds::{length_of_pairs, require_short_policies};
use crate::identity::{Claims, MAXIMUM_GROUP_ALIASES, stage_alias};
use crate::lifetime::{GrantedTtl, PastMaxTtlError, Terms};
use crate::policy::{DEFAULT, ROOT, is_unassignable, sanitize};
use crate::quotas::{Quota, QuotaSlot};
use crate::random;
use crate::records::{
    AliasMetadataRecord, AliasRecord, EntityRecord, MountRecord, TokenOrigin, TokenRecord,
    alias_key, alias_metadata_key, entity_key, mount_key,
};
use crate::service::AccessService;
use crate::token_store::{grant, identity_policies};

/// The type that mount and role together choose (contract 5.1).
const fn token_type(mount: MountTokenType, role: Option<TokenType>) -> TokenType {
    match (mount, role) {
        (MountTokenType::Service, _)
        | (MountTokenType::DefaultService, None)
        | (
            MountTokenType::DefaultService | MountTokenType::DefaultBatch,
            Some(TokenType::Service),
        ) => TokenType::Service,
        (MountTokenType::Batch, _)
        | (MountTokenType::DefaultBatch, None)
        | (MountTokenType::DefaultService | MountTokenType::DefaultBatch, Some(TokenType::Batch)) => {
            TokenType::Batch
        }
    }
}

/// The new token's type, which the parameters must allow.
fn allowed_token_type(
    mount: &MountRecord,
    parameters: &TokenParameters,
) -> Result<TokenType, LoginError> {
    match token_type(mount.configuration.token_type, parameters.token_type) {
        TokenType::Batch if parameters.num_uses > 0 => Err(LoginError::BatchWithNumUses),
        TokenType::Batch if parameters.lifetime.period > 0 => Err(LoginError::BatchWithPeriod),
        allowed => Ok(allowed),
    }
}

fn policies(parameters: &TokenParameters) -> Result<Vec<String>, LoginError> {
    let default = (!parameters.no_default_policy).then(|| DEFAULT.to_owned());
    let policies = sanitize(parameters.policies.iter().chain(&default));
    if policies.iter().any(|policy| policy == ROOT) {
        return Err(LoginError::RootPolicy);
    }
    if let Some(policy) = policies.iter().find(|policy| is_unassignable(policy)) {
        return Err(LoginError::UnassignablePolicy(policy.clone()));
    }
    if policies.len() > MAXIMUM_POLICIES {
        return Err(LoginError::TooManyPolicies(MAXIMUM_POLICIES as u32));
    }
    Ok(policies)
}

/// The refusal of a login where a quota of so many slots is full.
type Refused = fn(u32) -> LoginError;

/// The identity behind a login, and what must be written for it.
struct KnownIdentity {
    entity: Arc<EntityRecord>,
    /// Checks and changes; empty when nothing about the identity changed.
    transaction: Transaction,
}

/// The policies of the new token, sorted, if what the login asks for is allowed at every mount and to every entity.
fn allowed_policies(login: &LoginGrant) -> Result<Vec<String>, LoginError> {
    let parameters = &login.parameters;
    if login.alias_name.is_empty() {
        return Err(LoginError::EmptyAliasName);
    }
    let group_aliases = login.group_aliases.as_ref();
    if group_aliases.is_some_and(|names| names.len() > MAXIMUM_GROUP_ALIASES) {
        let most = MAXIMUM_GROUP_ALIASES as u32;
        return Err(LoginError::TooManyGroupAliases(most));
    }
    let policies = policies(parameters)?;
    require_short_policies(&policies)?;
    let metadata = login.metadata.iter().map(|(name, value)| (name, value));
    FieldTooLong::check("metadata", length_of_pairs(metadata), METADATA_BYTES)?;
    FieldTooLong::check("display_name", login.display_name.len(), TEXT_BYTES)?;
    let ranges = &parameters.bound_cidrs;
    let length = ranges.iter().map(String::len).sum();
    FieldTooLong::check("token_bound_cidrs", length, LIST_BYTES)?;
    if let Some(range) = ranges.iter().find(|range| !networks::is_network(range)) {
        return Err(LoginError::InvalidBoundCidr(range.clone()));
    }
    if !networks::allow(ranges, login.source_address) {
        return Err(LoginError::AddressDenied);
    }
    Ok(policies)
}

/// The record of a token that a login under `mount` makes, issued at the time `now` and good for `ttl` seconds. Its entity and the
/// slots that count it are not in it yet.
fn record_of_login(
    login: &LoginGrant,
    policies: Vec<String>,
    mount: &MountRecord,
    token_type: TokenType,
    (now, ttl): (u64, u64),
) -> TokenRecord {
    let parameters = &login.parameters;
    let is_service = token_type == TokenType::Service;
    TokenRecord {
        // A service token gets one when it is staged, and a batch token has none.
        accessor: String::new(),
        proof: None,
        ancestors: Vec::new(),
        origin: Some(TokenOrigin {
            mount_id: mount.id.clone(),
            mount_path: mount.path.clone(),
            renewal_state: match token_type {
                TokenType::Service => STANDARD.encode(&login.renewal_state),
                TokenType::Batch => String::new(),
            },
        }),
        generation: mount.generations.current(),
        policies,
        entity_id: None,
        display_name: format!("{}{}", mount.path.replace('/', "-"), login.display_name),
        path: format!("auth/{}login", mount.path),
        role: None,
        metadata: Some(login.metadata.iter().cloned().collect()),
        bound_cidrs: parameters.bound_cidrs.clone(),
        creation_time: now,
        creation_ttl: ttl,
        expire_time: Some(now.saturating_add(ttl)),
        last_renewal_time: None,
        // A batch token cannot come to live longer, so there is nothing to limit.
        explicit_max_ttl: if is_service {
            parameters.lifetime.explicit_max_ttl
        } else {
            0
        },
        period: parameters.lifetime.period,
        num_uses: parameters.num_uses,
        renewable: is_service,
        places: Vec::new(),
        keeps_secrets: false,
    }
}

impl<S: Store, C: Clock, R: Random> Logins for AccessService<S, C, R> {
    fn issue_login(&self, login: &LoginGrant) -> Result<Issued, LoginError> {
        let parameters = &login.parameters;
        let policies = allowed_policies(login)?;
        let mut first_attempt = true;
        let (client_token, grant) = commit_with_retries(&self.clock, &self.random, || {
            let is_first = std::mem::take(&mut first_attempt);
            let (mount, identity) = self.mount_and_identity(login)?;
            let token_type = allowed_token_type(&mount, parameters)?;
            let is_service = token_type == TokenType::Service;
            let in_force = mount.in_force();
            let now = self.clock.now_seconds();
            let terms = Terms {
                now,
                issued: now,
                mount_default: in_force.default_lease_ttl,
                mount_max: in_force.max_lease_ttl,
                lifetime: parameters.lifetime,
                increment: 0,
            };
            // A new token has all of its life left, and no limit in force is 0.
            let GrantedTtl { ttl, warnings } = terms.grant().map_err(|PastMaxTtlError| {
                ServiceError::Damaged("a lease limit of 0".to_owned())
            })?;
            let slots = if is_service {
                self.slots_of_login(&mount, &login.role, is_first)?
            } else {
                Vec::new()
            };
            let entity_id = Some(identity.entity.id.clone());
            let counted = slots.iter().filter(|slot| slot.counts);
            let mut record = TokenRecord {
                entity_id,
                places: counted.map(|slot| slot.key.clone()).collect(),
                ..record_of_login(login, policies.clone(), &mount, token_type, (now, ttl))
            };
            let KnownIdentity {
                entity,
                mut transaction,
            } = identity;
            // The mount is not checked: a token whose mount went away, or has cut off its tokens meanwhile, is
            // not valid.
            let client_token = match token_type {
                TokenType::Service => {
                    for slot in slots {
                        transaction.require_absent(slot.key);
                    }
                    self.stage_service_token(&mut transaction, &mut record)?
                }
                TokenType::Batch => self.stage_batch_token(&mut transaction, &record)?,
            };
            let of_groups = self.group_policies(&entity)?;
            let mut grant = grant(&record, identity_policies(&entity, &of_groups), ttl);
            grant.warnings = warnings;
            Ok::<_, LoginError>(Attempt::from_commit(
                self.records.commit(transaction),
                (client_token, grant),
            )?)
        })?;
        Ok(Issued {
            client_token: client_token.expose().to_owned(),
            grant,
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Slots for a token of a login under `role` in each quota that is set.
    fn slots_of_login(
        &self,
        mount: &MountRecord,
        role: &str,
        first_attempt: bool,
    ) -> Result<Vec<QuotaSlot>, LoginError> {
        let mount_name = format!("token/{}/{}", mount.id, mount.generations.current());
        let role_name = format!("role-{mount_name}/{}", self.hasher()?.role(&mount.id, role));
        let quotas: [(String, Option<NonZeroU32>, Refused); 2] = [
            (
                mount_name,
                self.settings.live_tokens_per_mount,
                LoginError::TooManyTokensOfMount,
            ),
            (
                role_name,
                self.settings.live_tokens_per_role,
                LoginError::TooManyTokensOfRole,
            ),
        ];
        let mut slots = Vec::new();
        for (name, most, refusal) in quotas {
            let Some(most) = most else { continue };
            let quota = Quota::by_sample(&name, most);
            let slot = self.slot_in(&quota, first_attempt)?;
            slots.push(slot.ok_or_else(|| refusal(most.get()))?);
        }
        Ok(slots)
    }

    /// The mount and the entity of a login: two round trips for a known identity, one for a new one or for one whose alias this
    /// instance has read before. Group aliases are read in the first of them.
    fn mount_and_identity(
        &self,
        login: &LoginGrant,
    ) -> Result<(Arc<MountRecord>, KnownIdentity), LoginError> {
        let alias_hash = self.hasher()?.alias(&login.mount_id, &login.alias_name);
        let alias_key = alias_key(&alias_hash);
        // Aliases hardly ever come to belong to another entity.
        let expected = self.last_read::<AliasRecord>(&alias_key);
        let expected = expected.map(|alias| alias.entity_id.clone());
        let keys = [
            mount_key(&login.mount_path),
            alias_key,
            alias_metadata_key(&alias_hash),
        ];
        let keys = keys.into_iter().chain(expected.as_deref().map(entity_key));
        let claims = match &login.group_aliases {
            Some(names) => Some(Claims::new(self.hasher()?, &login.mount_id, names)),
            None => None,
        };
        let group_keys = claims.as_ref().map(Claims::keys).unwrap_or_default();
        let mut reads = self.read_cached(keys.chain(group_keys.iter().cloned()))?;
        let mount = reads
            .next_record::<MountRecord>()?
            .filter(|mount| mount.record.id == login.mount_id)
            .ok_or(LoginError::MountGone)?
            .record;
        let alias = reads.next_record::<AliasRecord>()?;
        let metadata = reads.next_record::<AliasMetadataRecord>()?;
        let entity = match &expected {
            Some(_) => reads.next_record::<EntityRecord>()?,
            None => None,
        };
        let claimed = claims
            .map(|claims| claims.resolve(&mut reads))
            .transpose()?;

        let mut transaction = Transaction::new();
        let said: BTreeMap<String, String> = login.metadata.iter().cloned().collect();
        if metadata.is_none_or(|known| known.record.metadata != said) {
            let record = AliasMetadataRecord {
                metadata: said,
                last_update_time: self.clock.now_seconds(),
            };
            transaction.put(alias_metadata_key(&alias_hash), &record)?;
        }
        let entity = match alias {
            Some(alias) => {
                let entity_id = &alias.record.entity_id;
                let read = match expected.as_ref() == Some(entity_id) {
                    true => entity,
                    false => self
                        .read_cached([entity_key(entity_id)])?
                        .next_record::<EntityRecord>()?,
                };
                let read = read.filter(|entity| !entity.record.disabled);
                let mut entity = read.ok_or(LoginError::EntityUnusable)?;
                if let Some(claimed) = claimed {
                    self.follow_claims(&mut transaction, &mut entity, claimed, &mount.accessor)?;
                }
                entity.record
            }
            None => {
                let mut entity =
                    self.new_entity(&mut transaction, &alias_hash, &mount, &login.alias_name)?;
                if let Some(claimed) = claimed {
                    claimed.apply(&mut transaction, &mut entity, &mount.accessor)?;
                }
                transaction.put(entity_key(&entity.id), &entity)?;
                Arc::new(entity)
            }
        };
        let identity = KnownIdentity {
            entity,
            transaction,
        };
        Ok((mount, identity))
    }

    /// A new entity, and all that belongs to it but its own record staged: its name and its one alias. Of several first logins
    /// one commits; the others find its entity when they try again.
    pub(crate) fn new_entity(
        &self,
        transaction: &mut Transaction,
        alias_hash: &str,
        mount: &MountRecord,
        alias_name: &str,
    ) -> Result<EntityRecord, ServiceError> {
        let now = self.clock.now_seconds();
        let mut entity = self.stage_unnamed_entity(transaction, now)?;
        let alias = AliasRecord {
            id: random::uuid(&self.random)?,
            entity_id: entity.id.clone(),
            name: alias_name.to_owned(),
            mount_accessor: mount.accessor.clone(),
            creation_time: now,
            last_update_time: now,
            custom_metadata: BTreeMap::new(),
            merged_from: Vec::new(),
        };
        stage_alias(transaction, &mut entity, alias_hash, &alias)?;
        Ok(entity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_5_1_mount_and_role_choose_the_token_type() {
        use MountTokenType::{Batch, DefaultBatch, DefaultService, Service};
        let (service, batch) = (TokenType::Service, TokenType::Batch);
        let rows = [
            (DefaultService, [service, service, batch]),
            (DefaultBatch, [batch, service, batch]),
            (Service, [service, service, service]),
            (Batch, [batch, batch, batch]),
        ];
        for (mount, expected) in rows {
            let roles = [None, Some(service), Some(batch)];
            assert_eq!(roles.map(|role| token_type(mount, role)), expected);
        }
    }
}
