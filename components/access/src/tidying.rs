//! The sweep: it removes records that no valid token leads to, a bounded part at each call, and continues where the last call
//! stopped (SEC-T5).
//!
//! The end of a token removes the token's own records, and the store drops records that expire. Two kinds can stay behind: the
//! descendants of a token that expired or whose revocation was cut off, and the [`RelinquishedRecord`](crate::records::RelinquishedRecord)
//! of a token that left its children, when the last of them has ended. The former are found from the index of children, which holds nothing
//! of tokens that never had any. Only a tidy that was asked for looks at all tokens, to find those whose mount is gone, and at the whole
//! index of accessors, to find places that lead nowhere.

use gatehouse_ports::{Clock, Page, Random, Store};
use gatehouse_storage::{Attempt, Record, Records, Transaction, commit_with_retries};
use serde::{Deserialize, Serialize};

use crate::api::{ServiceError, Tidying};
use crate::records::{
    ACCESSOR_PREFIX, AccessorRecord, CHILD_PREFIX, RELINQUISHED_PREFIX, TOKEN_PREFIX, TokenRecord,
    children_prefix, relinquished_key, token_key,
};
use crate::secret::TokenHash;
use crate::service::{AccessService, load_next};
use crate::token_store::delete_token;

/// Tokens with children looked at in one call.
const PARENTS: usize = 500;
/// Pages of dead descendants removed in one call.
const PAGES: usize = 2_000;
/// Ended tokens that left their children, as far as one call looks at them.
const RELINQUISHED: u32 = 200;
/// Tokens, or places in the index of accessors, looked at in one round.
const ROUND: u32 = 200;
/// Such rounds in one call.
const ROUNDS: usize = 10;

/// Key of the [`SweepRecord`].
const SWEEP_KEY: &str = "sweep";

/// The progress of the sweep: for each of its walks the last position looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SweepRecord {
    /// Among the tokens with children; `None` where the next call starts from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<TokenHash>,
    /// Among the ended tokens that left their children, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relinquished: Option<TokenHash>,
    /// In the index of accessors, while a tidy that was asked for walks it: empty at the beginning, `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accessor: Option<String>,
    /// Among all tokens, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl Record for SweepRecord {
    const SCHEMA: u16 = 1;
}

impl<S: Store, C: Clock, R: Random> Tidying for AccessService<S, C, R> {
    /// Only asks for the walks. Nothing is deleted here: a request cannot know whether the host doubts its clock, and a host that does runs
    /// no sweep.
    fn tidy_tokens(&self) -> Result<bool, ServiceError> {
        self.hasher()?;
        commit_with_retries(&self.clock, &self.random, || {
            let found = self.records.get::<SweepRecord>(SWEEP_KEY)?;
            let (mut sweep, version) = match found {
                Some(found) => (found.record, Some(found.version)),
                None => (SweepRecord::default(), None),
            };
            if sweep.accessor.is_some() || sweep.token.is_some() {
                return Ok(Attempt::Done(false));
            }
            sweep.accessor = Some(String::new());
            sweep.token = Some(String::new());
            let mut transaction = Transaction::new();
            transaction
                .require_unchanged(SWEEP_KEY, version)
                .put(SWEEP_KEY, &sweep)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, true)?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Does a bounded part of the sweep.
    pub(crate) fn sweep(&self) -> Result<(), ServiceError> {
        let before = self.records.get::<SweepRecord>(SWEEP_KEY)?;
        let before = before.map_or_else(SweepRecord::default, |found| found.record);
        let after = SweepRecord {
            parent: self.sweep_families(before.parent.clone())?,
            relinquished: self.sweep_relinquished(before.relinquished.as_ref())?,
            accessor: match &before.accessor {
                Some(position) => self.sweep_accessors(position)?,
                None => None,
            },
            token: match &before.token {
                Some(position) => self.sweep_tokens(position)?,
                None => None,
            },
        };
        if after == before {
            return Ok(());
        }
        // Of several concurrent sweeps, the last commit decides where the next one continues: looking at a record twice is harmless.
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            if after == SweepRecord::default() {
                transaction.delete(SWEEP_KEY);
            } else {
                transaction.put(SWEEP_KEY, &after)?;
            }
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }

    /// Removes the descendants of tokens that are not valid any more, and returns where to continue.
    fn sweep_families(&self, after: Option<TokenHash>) -> Result<Option<TokenHash>, ServiceError> {
        let (parents, more) = self.parents(after.as_ref())?;
        let keys: Vec<String> = parents.iter().map(token_key).collect();
        let mut entries = self.read_all(keys.iter())?;
        let mut tokens = Vec::with_capacity(parents.len());
        for _ in &parents {
            tokens.push(load_next::<S, TokenRecord>(&mut entries)?);
        }
        let present = tokens.iter().flatten().map(|token| &token.record);
        let foundations = self.foundations(present)?;
        let absent = parents.iter().zip(&tokens);
        let absent = absent.filter_map(|(parent, token)| token.is_none().then_some(parent));
        let relinquished = self.relinquished_among(absent.collect())?;

        let mut pages = PAGES;
        let mut done = after;
        for (parent, token) in parents.into_iter().zip(tokens) {
            let dead = match token {
                Some(token) if foundations.carry(&token.record) => false,
                Some(token) => {
                    let mut transaction = Transaction::new();
                    transaction.require(token_key(&parent), token.version);
                    delete_token(&mut transaction, self.hasher()?, &parent, &token.record);
                    self.commit_unless_changed(transaction)?
                }
                None => !relinquished.contains(&parent),
            };
            if dead && !self.sweep_descendants(parent.clone(), &mut pages)? {
                return Ok(done);
            }
            done = Some(parent);
        }
        Ok(done.filter(|_| more))
    }

    /// Tokens with children, in the order of their hashes from behind `after`, and whether there may be more.
    fn parents(&self, after: Option<&TokenHash>) -> Result<(Vec<TokenHash>, bool), ServiceError> {
        let mut parents: Vec<TokenHash> = Vec::new();
        while parents.len() < PARENTS {
            // Behind all children of the last one: `~` comes after every digit.
            let behind = parents.last().or(after);
            let behind = behind.map(|parent| format!("{}~", children_prefix(parent)));
            let store = self.records.store();
            let page = store.scan(CHILD_PREFIX, behind.as_deref(), 1)?;
            let key = page.items.first().map(|item| item.key.as_str());
            let below = key.and_then(|key| key.strip_prefix(CHILD_PREFIX));
            let parent = below.and_then(|below| below.split_once('/'));
            match parent.and_then(|(parent, _)| TokenHash::parse(parent)) {
                Some(parent) => parents.push(parent),
                None => return Ok((parents, false)),
            }
        }
        Ok((parents, true))
    }

    /// Forgets ended tokens whose children have all ended too, and returns where to continue.
    fn sweep_relinquished(
        &self,
        after: Option<&TokenHash>,
    ) -> Result<Option<TokenHash>, ServiceError> {
        let after = after.map(relinquished_key);
        let store = self.records.store();
        let page = store.scan(RELINQUISHED_PREFIX, after.as_deref(), RELINQUISHED)?;
        let mut last = None;
        for item in page.items {
            let hash = item.key.strip_prefix(RELINQUISHED_PREFIX);
            if let Some(parent) = hash.and_then(TokenHash::parse) {
                self.forget_if_childless(&parent)?;
                last = Some(parent);
            }
        }
        Ok(last.filter(|_| page.more))
    }

    /// Removes tokens that are not valid any more, from behind `position`, and returns where to continue.
    fn sweep_tokens(&self, position: &str) -> Result<Option<String>, ServiceError> {
        let hasher = self.hasher()?;
        self.sweep_pages(TOKEN_PREFIX, position, |transaction, page| {
            let mut tokens = Vec::with_capacity(page.items.len());
            for item in page.items {
                let hash = item.key.strip_prefix(TOKEN_PREFIX);
                let token = Records::<S>::load::<TokenRecord>(Some(item.entry))?;
                tokens.extend(hash.and_then(TokenHash::parse).zip(token));
            }
            let records = tokens.iter().map(|(_, token)| &token.record);
            let foundations = self.foundations(records)?;
            for (hash, token) in tokens {
                if !foundations.carry(&token.record) {
                    transaction.require(token_key(&hash), token.version);
                    delete_token(transaction, hasher, &hash, &token.record);
                }
            }
            Ok(())
        })
    }

    /// Removes places in the index of accessors that lead nowhere, from behind `position`, and returns where to continue.
    fn sweep_accessors(&self, position: &str) -> Result<Option<String>, ServiceError> {
        self.sweep_pages(ACCESSOR_PREFIX, position, |transaction, page| {
            let mut places = Vec::with_capacity(page.items.len());
            for item in page.items {
                let place = Records::<S>::load::<AccessorRecord>(Some(item.entry))?;
                places.extend(place.map(|it| (item.key, token_key(&it.record.token))));
            }
            let entries = self.read_all(places.iter().map(|(_, token)| token))?;
            for ((place, token), entry) in places.into_iter().zip(entries) {
                if entry.is_none() {
                    transaction.require_absent(token).delete(place);
                }
            }
            Ok(())
        })
    }

    /// Walks a bounded number of pages of the keys that begin with `prefix`, from behind `position`; commits the changes that `stage`
    /// makes for each, and returns where to continue.
    fn sweep_pages(
        &self,
        prefix: &str,
        position: &str,
        stage: impl Fn(&mut Transaction, Page) -> Result<(), ServiceError>,
    ) -> Result<Option<String>, ServiceError> {
        let mut position = position.to_owned();
        for _ in 0..ROUNDS {
            let store = self.records.store();
            let page = store.scan(prefix, Some(&position), ROUND)?;
            let more = page.more;
            let Some(last) = page.items.last().map(|item| item.key.clone()) else {
                return Ok(None);
            };
            let mut transaction = Transaction::new();
            stage(&mut transaction, page)?;
            self.commit_unless_changed(transaction)?;
            if !more {
                return Ok(None);
            }
            position = last;
        }
        Ok(Some(position))
    }

    /// Commits without a retry: a record that has changed meanwhile is looked at again by the next sweep. False on a conflict.
    fn commit_unless_changed(&self, transaction: Transaction) -> Result<bool, ServiceError> {
        match Attempt::from_commit(self.records.commit(transaction), ())? {
            Attempt::Done(()) => Ok(true),
            Attempt::Conflicted => Ok(false),
        }
    }
}
