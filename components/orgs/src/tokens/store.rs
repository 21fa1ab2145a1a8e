//! Making tokens, and finding them by what is presented.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Transaction, TransactionError};

use super::record::{
    HASH_KEY, HashKeyRecord, TOKEN_PREFIX, TokenRecord, UseRecord, slot_key, token_id_key,
    token_key, token_use_key, tokens_of_prefix,
};
use super::text::{SecretHasher, is_secret, new_secret};
use super::{IssuedToken, TokenCreator, TokenOwner, TokenRequest};
use crate::belonging::{self, PointerRecord, kind};
use crate::identifier::random_identifier;
use crate::{Caller, Failure, Orgs, Principal};

/// How exact the last use of a token is known, in milliseconds (contract 1.6).
const USE_RESOLUTION: u64 = 60_000;

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The hasher of this store, whose key is made when it is first needed.
    pub(crate) fn hasher(&self) -> Result<SecretHasher, Failure> {
        loop {
            if let Some(stored) = self.records.get::<HashKeyRecord>(HASH_KEY)? {
                let damaged = || Failure::Damaged("the key of hashes".to_owned());
                return SecretHasher::new(&stored.record.key).ok_or_else(damaged);
            }
            let mut key = vec![0; SecretHasher::KEY_BYTES];
            self.random.fill(&mut key)?;
            let mut transaction = Transaction::new();
            transaction
                .require_absent(HASH_KEY)
                .put(HASH_KEY, &HashKeyRecord { key })?;
            match self.records.commit(transaction) {
                Ok(()) | Err(TransactionError::Conflict(_)) => {}
                Err(TransactionError::Storage(error)) => return Err(error.into()),
            }
        }
    }

    /// Adds to `transaction` a token without a slot. The caller has made sure that its owner exists.
    pub(crate) fn add_token(
        &self,
        transaction: &mut Transaction,
        owner: TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, Failure> {
        let secret = new_secret(&self.random)?;
        let hash = self.hasher()?.token(&secret);
        let record = TokenRecord {
            id: random_identifier(TOKEN_PREFIX, &self.random)?,
            owner,
            created_at: self.clock.now_milliseconds(),
            expires_at: request.expires_at,
            description: request.description.clone(),
            created_by: creator(by),
        };
        let pointer = PointerRecord::to(&hash);
        let of_owner = format!("{}{}", tokens_of_prefix(&record.owner), record.id);
        transaction
            .require_absent(token_key(&hash))
            .put(token_key(&hash), &record)?
            .put(token_id_key(&record.id), &pointer)?
            .put(of_owner, &pointer)?;
        if let Some(external_id) = record.owner.organization() {
            belonging::put_new(transaction, external_id, kind::TOKEN, &record.id, &pointer)?;
        }
        Ok(IssuedToken {
            token: record.into_token(None),
            secret,
        })
    }

    /// Adds to `transaction` the end of a token.
    pub(crate) fn end_token(&self, transaction: &mut Transaction, hash: &str, token: &TokenRecord) {
        transaction
            .delete(token_key(hash))
            .delete(token_id_key(&token.id))
            .delete(token_use_key(&token.id))
            .delete(format!("{}{}", tokens_of_prefix(&token.owner), token.id));
        if let Some(external_id) = token.owner.organization() {
            belonging::delete(transaction, external_id, kind::TOKEN, &token.id);
        }
        if let Some(slot) = slot_key(&token.owner) {
            transaction.delete(slot);
        }
    }

    /// The token that has this text, if it is not over.
    pub(crate) fn live_token(&self, secret: &str) -> Result<Option<TokenRecord>, Failure> {
        if !is_secret(secret) {
            return Ok(None);
        }
        let hash = self.hasher()?.token(secret);
        let token = self.records.get::<TokenRecord>(&token_key(&hash))?;
        let now = self.clock.now_milliseconds();
        let is_live = |token: &TokenRecord| token.expires_at.is_none_or(|end| now < end);
        Ok(token.map(|token| token.record).filter(is_live))
    }

    /// Notes that a token has been presented, unless that has been noted within the last minute. Of those who note it at once one does.
    pub(crate) fn note_use(&self, token: &TokenRecord) -> Result<(), Failure> {
        let key = token_use_key(&token.id);
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
            .require_unchanged(&key, known.map(|known| known.version))
            .put_until(&key, &UseRecord { last_used_at: now }, token.expires_at)?;
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
