//! The keys of batch tokens. One of them issues; the others stay as long as a token under them can be alive, and then expire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Record, Transaction, commit_with_retries};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::sealing::BatchKey;
use crate::api::ServiceError;
use crate::lifetime::SYSTEM_MAX_LEASE_TTL;
use crate::service::AccessService;

/// Seconds for which a key issues tokens: a week. A key that leaks is of use for that long plus the life of a token.
const ISSUING_PERIOD: u64 = 7 * 24 * 60 * 60;

/// Key of the [`BatchKeyRecord`] that issues tokens.
const ISSUING_KEY: &str = "batch-key-in-use";

/// The prefix of the keys of the records that open tokens.
const OPENING_PREFIX: &str = "batch-key/";
/// How many of them are dropped in one commit.
const DROPPED_AT_ONCE: u32 = 100;

/// The number that no key has.
pub(crate) const NO_KEY: u32 = 0;

/// Key of the [`BatchKeyRecord`] that opens tokens which name `number`.
pub(crate) fn batch_key(number: u32) -> String {
    format!("{OPENING_PREFIX}{number}")
}

/// A key of batch tokens; wiped when dropped. Points in time are in seconds.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct BatchKeyRecord {
    /// From 1 on; tokens name it.
    number: u32,
    /// Base64 of the secret that tokens are sealed under.
    secret: String,
    creation_time: u64,
    /// The time from which it issues no more tokens.
    issues_until: u64,
    /// The time from which no token under it is alive. It is moved before a token that lives longer is handed out.
    needed_until: u64,
}

impl Record for BatchKeyRecord {
    const SCHEMA: u16 = 1;
}

impl BatchKeyRecord {
    /// The key, ready to use.
    pub(crate) fn key(&self) -> Result<BatchKey, ServiceError> {
        let secret = STANDARD.decode(&self.secret).map(Zeroizing::new).ok();
        secret
            .and_then(|secret| BatchKey::new(self.number, &secret))
            .ok_or_else(|| ServiceError::Damaged("a key of batch tokens is malformed".to_owned()))
    }

    /// Stores the key both for issuing and for opening tokens.
    fn stage(&self, transaction: &mut Transaction) -> Result<(), ServiceError> {
        transaction.put(ISSUING_KEY, self)?.put_until(
            batch_key(self.number),
            self,
            Some(self.needed_until.saturating_mul(1000)),
        )?;
        Ok(())
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The key for a token that is to live for `ttl` seconds from `now` on. Records that the store still lacks for it, usually none, are
    /// added to `transaction`; without that commit the token must not be handed out.
    pub(super) fn issuing_key(
        &self,
        transaction: &mut Transaction,
        now: u64,
        ttl: u64,
    ) -> Result<BatchKey, ServiceError> {
        let newest = self.records.get::<BatchKeyRecord>(ISSUING_KEY)?;
        let issuing = newest.as_ref();
        let Some(Loaded { record, version }) = issuing.filter(|it| now < it.record.issues_until)
        else {
            let next = self.stage_next_key(transaction, newest.as_ref(), now, ttl)?;
            return next.key();
        };
        if record.needed_until < now.saturating_add(ttl) {
            let mut longer = record.clone();
            // Far enough for every later token of this key with the same time to live.
            longer.needed_until = record.issues_until.saturating_add(ttl);
            transaction.require(ISSUING_KEY, *version);
            longer.stage(transaction)?;
        }
        record.key()
    }

    /// Replaces the issuing key once its period is over. If no batch token was ever made, no key exists.
    pub(crate) fn rotate_batch_key(&self) -> Result<(), ServiceError> {
        commit_with_retries(&self.clock, &self.random, || {
            let now = self.clock.now_seconds();
            let newest = self.records.get::<BatchKeyRecord>(ISSUING_KEY)?;
            let Some(due) = newest.filter(|newest| newest.record.issues_until <= now) else {
                return Ok(Attempt::Done(()));
            };
            let mut transaction = Transaction::new();
            self.stage_next_key(&mut transaction, Some(&due), now, 0)?;
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }

    /// Drops all keys, which ends every batch token. The next batch token gets a new key, whose number an earlier key may have had.
    pub(crate) fn forget_batch_keys(&self) -> Result<(), ServiceError> {
        loop {
            let store = self.records.store();
            let page = store.scan(OPENING_PREFIX, None, DROPPED_AT_ONCE)?;
            let mut transaction = Transaction::new();
            transaction.delete(ISSUING_KEY);
            for item in page.items {
                transaction.delete(item.key);
            }
            match Attempt::from_commit(self.records.commit(transaction), ())? {
                Attempt::Done(()) if page.more => {}
                Attempt::Done(()) => return Ok(()),
                Attempt::Conflicted => return Err(ServiceError::Contended),
            }
        }
    }

    /// Adds the key that follows `newest` to a commit: of several writers one succeeds. Tokens under it may live for `ttl` seconds
    /// or for the system's longest lease, whichever is longer.
    fn stage_next_key(
        &self,
        transaction: &mut Transaction,
        newest: Option<&Loaded<BatchKeyRecord>>,
        now: u64,
        ttl: u64,
    ) -> Result<BatchKeyRecord, ServiceError> {
        let mut secret = Zeroizing::new([0_u8; BatchKey::SECRET_BYTES]);
        self.random.fill(secret.as_mut_slice())?;
        let last = newest.map_or(NO_KEY, |newest| newest.record.number);
        let issues_until = now.saturating_add(ISSUING_PERIOD);
        let next = BatchKeyRecord {
            number: last.saturating_add(1),
            secret: STANDARD.encode(secret.as_slice()),
            creation_time: now,
            issues_until,
            needed_until: issues_until.saturating_add(ttl.max(SYSTEM_MAX_LEASE_TTL)),
        };
        transaction.require_unchanged(ISSUING_KEY, newest.map(|newest| newest.version));
        next.stage(transaction)?;
        Ok(next)
    }
}
