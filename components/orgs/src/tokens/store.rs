//! Making tokens, and finding them by what is presented.

use gatehouse_ports::{Clock, Random, Store, Version};
use gatehouse_storage::{Attempt, Transaction, TransactionError, commit_with_retries};

use super::record::{
    HASH_KEY, HashKeyRecord, TOKEN_PREFIX, TokenRecord, UseRecord, slot_key, token_id_key,
    token_key, token_of_owner_key, token_use_key,
};
use super::text::{SecretHasher, is_secret, new_secret};
use crate::audit_trail::{AuditedOperation, AuditedOperations as _, INSTALLATION};
use crate::identifier::random_identifier;
use crate::owned_keys::{self, PointerRecord, kind};
use crate::{
    ApiToken, Caller, IssuedToken, MAXIMUM_TOKENS_READ, Orgs, Principal, Resource, ServiceError,
    TeamReference, TokenCreator, TokenOwner, TokenRequest,
};

/// The resolution of the last use of a token, in milliseconds (contract 1.6).
const USE_RESOLUTION: u64 = 60_000;

/// How many tokens of a longer list are read at once.
const TOKENS_AT_ONCE: usize = 500;

/// A token as it was read.
pub(crate) struct StoredToken {
    pub hash: String,
    pub record: TokenRecord,
    pub version: Version,
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The hasher of this store, whose key is made when it is first needed.
    pub(crate) fn hasher(&self) -> Result<SecretHasher, ServiceError> {
        let hasher_with = |key: &HashKeyRecord| {
            let damaged = || ServiceError::Damaged("the key of hashes".to_owned());
            SecretHasher::new(&key.key).ok_or_else(damaged)
        };
        commit_with_retries(&self.clock, &self.random, || {
            if let Some(stored) = self.records.get::<HashKeyRecord>(HASH_KEY)? {
                return Ok(Attempt::Done(hasher_with(&stored.record)?));
            }
            let mut key = HashKeyRecord {
                key: vec![0; SecretHasher::KEY_BYTES],
            };
            self.random.fill(&mut key.key)?;
            let mut transaction = Transaction::new();
            transaction.require_absent(HASH_KEY).put(HASH_KEY, &key)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, hasher_with(&key)?)?)
        })
    }

    /// Adds to `transaction` a token; for an owner who has one at a time, in place of the one there is. The caller has made sure
    /// that the owner exists.
    pub(crate) fn add_token(
        &self,
        transaction: &mut Transaction,
        owner: TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, ServiceError> {
        let now = self.clock.now_milliseconds();
        self.add_token_made_at(now, transaction, owner, request, by)
    }

    /// The same at a moment that something else was reckoned from.
    pub(super) fn add_token_made_at(
        &self,
        created_at: u64,
        transaction: &mut Transaction,
        owner: TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, ServiceError> {
        let mut secret = new_secret(&self.random)?;
        let hash = self.hasher()?.token(&secret);
        let record = TokenRecord {
            id: random_identifier(TOKEN_PREFIX, &self.random)?,
            owner,
            created_at,
            expires_at: request.expires_at,
            description: request.description.clone(),
            created_by: creator(by),
        };
        let pointer = PointerRecord::to(&hash);
        if let Some(slot) = slot_key(&record.owner) {
            self.empty(transaction, &slot, by)?;
            transaction.put(slot, &pointer)?;
        }
        transaction
            .require_absent(token_key(&hash))
            .put(token_key(&hash), &record)?
            .put(token_id_key(&record.id), &pointer)?
            .put(token_of_owner_key(&record), &pointer)?;
        if let Some(external_id) = record.owner.organization() {
            owned_keys::put_new(transaction, external_id, kind::TOKEN, &record.id, &pointer)?;
        }
        if let Some(key) = self.description_key(&record)? {
            let described = PointerRecord::to(&record.id);
            transaction.require_absent(&key).put(key, &described)?;
        }
        self.note_token(
            transaction,
            &record,
            by,
            Resource::AuthenticationToken.created(&record.id),
        )?;
        Ok(IssuedToken {
            token: record.into_token(None),
            secret: std::mem::take(&mut *secret),
        })
    }

    /// Adds to `transaction` the end of the token in a slot, under the condition that it is still there. What becomes of the slot
    /// is up to the caller.
    fn empty(
        &self,
        transaction: &mut Transaction,
        slot: &str,
        by: &Caller,
    ) -> Result<(), ServiceError> {
        let held = self.records.get::<PointerRecord>(slot)?;
        let version = held.as_ref().map(|held| held.version);
        transaction.require_unchanged(slot, version);
        if let Some(held) = held
            && let Some(token) = self.token_with_hash(held.record.id)?
        {
            self.take_out(transaction, &token, by)?;
        }
        Ok(())
    }

    /// Adds to `transaction` the end of a token, under the condition that it has not ended yet.
    pub(super) fn revoke(
        &self,
        transaction: &mut Transaction,
        token: &StoredToken,
        by: &Caller,
    ) -> Result<(), ServiceError> {
        if let Some(slot) = slot_key(&token.record.owner) {
            transaction.delete(slot);
        }
        self.take_out(transaction, token, by)
    }

    /// The same for a token whose slot, if it has one, is seen to elsewhere.
    fn take_out(
        &self,
        transaction: &mut Transaction,
        token: &StoredToken,
        by: &Caller,
    ) -> Result<(), ServiceError> {
        let record = &token.record;
        transaction.require(token_key(&token.hash), token.version);
        self.erase(transaction, &token.hash, record)?;
        let audited = Resource::AuthenticationToken.destroyed(&record.id);
        self.note_token(transaction, record, by, audited)
    }

    /// Adds to `transaction` the removal of a token that is not valid any more, because its owner is gone.
    pub(crate) fn end_token(
        &self,
        transaction: &mut Transaction,
        hash: &str,
        token: &TokenRecord,
    ) -> Result<(), ServiceError> {
        if let Some(slot) = slot_key(&token.owner) {
            transaction.delete(slot);
        }
        self.erase(transaction, hash, token)
    }

    /// Everything of a token but its slot.
    fn erase(
        &self,
        transaction: &mut Transaction,
        hash: &str,
        token: &TokenRecord,
    ) -> Result<(), ServiceError> {
        transaction
            .delete(token_key(hash))
            .delete(token_id_key(&token.id))
            .delete(token_use_key(&token.id))
            .delete(token_of_owner_key(token));
        if let Some(external_id) = token.owner.organization() {
            owned_keys::delete(transaction, external_id, kind::TOKEN, &token.id);
        }
        if let Some(key) = self.description_key(token)? {
            transaction.delete(key);
        }
        Ok(())
    }

    /// Where it is known that a token is described as it is, among tokens with descriptions of their own.
    pub(super) fn description_key(
        &self,
        token: &TokenRecord,
    ) -> Result<Option<String>, ServiceError> {
        let (TokenOwner::TeamNamed(team), Some(description)) = (&token.owner, &token.description)
        else {
            return Ok(None);
        };
        self.description_key_of(team, description).map(Some)
    }

    /// The same for a team and a description.
    pub(super) fn description_key_of(
        &self,
        team: &TeamReference,
        description: &str,
    ) -> Result<String, ServiceError> {
        let hash = self.hasher()?.description(description);
        Ok(format!("token-description/{}/{hash}", team.id))
    }

    /// Adds to `transaction` a record of what is done with a token.
    pub(super) fn note_token(
        &self,
        transaction: &mut Transaction,
        token: &TokenRecord,
        by: &Caller,
        audited: AuditedOperation<'_>,
    ) -> Result<(), ServiceError> {
        let organization = token.owner.organization().unwrap_or(INSTALLATION);
        self.note(transaction, organization, by, audited)
    }

    pub(super) fn token_with_hash(
        &self,
        hash: String,
    ) -> Result<Option<StoredToken>, ServiceError> {
        let token = self.records.get::<TokenRecord>(&token_key(&hash))?;
        Ok(token.map(|token| StoredToken {
            hash,
            record: token.record,
            version: token.version,
        }))
    }

    pub(super) fn token_with_id(&self, id: &str) -> Result<Option<StoredToken>, ServiceError> {
        match self.records.get::<PointerRecord>(&token_id_key(id))? {
            Some(pointer) => self.token_with_hash(pointer.record.id),
            None => Ok(None),
        }
    }

    /// The tokens whose hashes stand below `prefix`, [`MAXIMUM_TOKENS_READ`] of them, oldest first.
    pub(super) fn stored_tokens(&self, prefix: &str) -> Result<Vec<StoredToken>, ServiceError> {
        let mut pointers = Vec::new();
        self.for_each_record::<PointerRecord>(prefix, |pointer| {
            if pointers.len() < MAXIMUM_TOKENS_READ {
                pointers.push(pointer.record);
            }
            Ok(())
        })?;
        let mut tokens = Vec::new();
        for hashes in pointers.chunks(TOKENS_AT_ONCE) {
            let keys: Vec<String> = hashes.iter().map(|hash| token_key(&hash.id)).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let found = self.records.get_all::<TokenRecord>(&keys)?;
            tokens.extend(hashes.iter().zip(found).filter_map(|(hash, token)| {
                token.map(|token| StoredToken {
                    hash: hash.id.clone(),
                    record: token.record,
                    version: token.version,
                })
            }));
        }
        tokens.sort_by(|one, other| one.record.age().cmp(&other.record.age()));
        Ok(tokens)
    }

    /// Tokens as they are shown, with when they were last presented.
    pub(super) fn with_uses(
        &self,
        tokens: Vec<StoredToken>,
    ) -> Result<Vec<ApiToken>, ServiceError> {
        let mut shown = Vec::with_capacity(tokens.len());
        for tokens in tokens.chunks(TOKENS_AT_ONCE) {
            let keys: Vec<String> = tokens
                .iter()
                .map(|token| token_use_key(&token.record.id))
                .collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let uses = self.records.get_all::<UseRecord>(&keys)?;
            let both = tokens.iter().zip(uses);
            shown.extend(both.map(|(token, last)| {
                let last_used_at = last.map(|last| last.record.last_used_at);
                token.record.clone().into_token(last_used_at)
            }));
        }
        Ok(shown)
    }

    /// The token that has this text, if it is not over.
    pub(crate) fn live_token(&self, secret: &str) -> Result<Option<StoredToken>, ServiceError> {
        if !is_secret(secret) {
            return Ok(None);
        }
        let token = self.token_with_hash(self.hasher()?.token(secret))?;
        let now = self.clock.now_milliseconds();
        Ok(token.filter(|token| token.record.is_live(now)))
    }

    /// Notes that a token has been presented, unless that has been noted within the last minute. Of several concurrent requests one notes
    /// it. Nothing is noted of a token that has ended meanwhile: the note would stay.
    pub(crate) fn note_use(&self, token: &StoredToken) -> Result<(), ServiceError> {
        let record = &token.record;
        let key = token_use_key(&record.id);
        let known = self.records.get::<UseRecord>(&key)?;
        let now = self.clock.now_milliseconds();
        let is_recent = |known: u64| now.saturating_sub(known) < USE_RESOLUTION;
        if known
            .as_ref()
            .is_some_and(|known| is_recent(known.record.last_used_at))
        {
            return Ok(());
        }
        let mut transaction = Transaction::new();
        transaction
            .require(token_key(&token.hash), token.version)
            .require_unchanged(&key, known.map(|known| known.version))
            .put_until(&key, &UseRecord { last_used_at: now }, record.expires_at)?;
        match self.records.commit(transaction) {
            Ok(()) | Err(TransactionError::Conflict(_)) => Ok(()),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }
}

fn creator(by: &Caller) -> TokenCreator {
    match &by.identity.principal {
        Principal::User(user) => TokenCreator::User(user.id.clone()),
        Principal::Team(team) => TokenCreator::Team(team.id.clone()),
        Principal::Organization(id) | Principal::AuditReader(id) => {
            TokenCreator::Organization(id.clone())
        }
        Principal::Installation | Principal::Workload(_) => TokenCreator::Workload,
    }
}
