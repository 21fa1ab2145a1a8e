//! Clearing away what belonged to organizations that are gone.
//!
//! An organization is gone with one commit, and everything of it with it, because nothing counts without its organization. What is left
//! lies there until it is swept: at once, and by [`crate::Organizations::maintain`] where that was cut off.

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Attempt, Record, Transaction, commit_with_retries, decode};
use serde::{Deserialize, Serialize};

use crate::belonging::{PointerRecord, kind, prefix_of_all, whose_key};
use crate::identifier::well_formed;
use crate::team::membership_of_key;
use crate::tokens::record::{TokenRecord, token_key};
use crate::{Failure, Orgs};

const REMOVED_PREFIX: &str = "removed/";

/// Most things cleared away in one commit.
const PER_COMMIT: u32 = 100;

/// Most commits that one request, or one round of upkeep, makes for one organization.
const COMMITS_AT_ONCE: u32 = 20;

/// Most organizations that one round of upkeep looks at.
const ORGANIZATIONS_AT_ONCE: u32 = 20;

/// That an organization is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct RemovedRecord {}

impl Record for RemovedRecord {
    const SCHEMA: u16 = 1;
}

/// Adds to `transaction` that what belonged to an organization is to be cleared away.
pub(crate) fn mark(transaction: &mut Transaction, external_id: &str) -> Result<(), Failure> {
    transaction.put(removed_key(external_id), &RemovedRecord {})?;
    Ok(())
}

fn removed_key(external_id: &str) -> String {
    format!("{REMOVED_PREFIX}{external_id}")
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Clears away a part of what belonged to organizations that are gone.
    pub(crate) fn sweep_all(&self) -> Result<(), Failure> {
        let store = self.records.store();
        let removed = store.scan(REMOVED_PREFIX, None, ORGANIZATIONS_AT_ONCE)?;
        for item in removed.items {
            if let Some(external_id) = item.key.strip_prefix(REMOVED_PREFIX) {
                self.sweep(external_id)?;
            }
        }
        Ok(())
    }

    /// Clears away what belonged to one of them, as far as it goes at once.
    pub(crate) fn sweep(&self, external_id: &str) -> Result<(), Failure> {
        for _ in 0..COMMITS_AT_ONCE {
            let is_clear =
                commit_with_retries(&self.clock, &self.random, || self.sweep_some(external_id))?;
            if is_clear {
                break;
            }
        }
        Ok(())
    }

    fn sweep_some(&self, external_id: &str) -> Result<Attempt<bool>, Failure> {
        let prefix = prefix_of_all(external_id);
        let found = self.records.store().scan(&prefix, None, PER_COMMIT)?;
        let mut transaction = Transaction::new();
        for item in &found.items {
            let place = item.key.strip_prefix(&prefix);
            match place.and_then(|place| place.split_once('/')) {
                Some((kind::TOKEN, _)) => self.clear_token_away(&mut transaction, item)?,
                Some((kind, name)) => {
                    transaction.delete(&item.key);
                    end_elsewhere(&mut transaction, external_id, kind, name);
                }
                None => {
                    transaction.delete(&item.key);
                }
            }
        }
        if !found.more {
            transaction.delete(removed_key(external_id));
        }
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, !found.more)?)
    }

    /// Adds to `transaction` the end of a token and of everything that tells of it, such as `item`, which tells its hash.
    fn clear_token_away(&self, transaction: &mut Transaction, item: &Item) -> Result<(), Failure> {
        let pointer: PointerRecord = decode(&item.entry.value)?;
        match self.records.get::<TokenRecord>(&token_key(&pointer.id))? {
            Some(token) => self.end_token(transaction, &pointer.id, &token.record),
            None => {
                transaction.delete(&item.key);
                Ok(())
            }
        }
    }
}

/// Adds to `transaction` the end of what something has outside its organization's place.
fn end_elsewhere(
    transaction: &mut Transaction,
    external_id: &str,
    kind_of_thing: &str,
    name: &str,
) {
    if well_formed(name) {
        transaction.delete(whose_key(name));
    }
    if kind_of_thing == kind::MEMBER {
        transaction.delete(membership_of_key(name, external_id));
    }
}
