//! Clearing away what belonged to organizations, teams and agent pools that are gone.
//!
//! An organization is gone with one commit, and everything of it with it, because nothing counts without its organization. So it
//! is with a team or a pool and its tokens. What is left lies there until it is swept: at once, and by
//! [`crate::Organizations::maintain`] where that was cut off.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Attempt, Record, Transaction, decode};
use serde::{Deserialize, Serialize};

use crate::identifier::{is_identifier, well_formed};
use crate::memberships::end_invitation_of_sweep;
use crate::owned_keys::{PointerRecord, kind, prefix_of_all, whose_key};
use crate::record::EXTERNAL_ID_PREFIX;
use crate::sharing::{ConsumersRecord, end_of_consumers, shared_by};
use crate::team::membership_of_key;
use crate::tokens::record::{TokenRecord, token_key, tokens_of_id_prefix};
use crate::{Orgs, ServiceError, Shared};

const REMOVED_PREFIX: &str = "removed/";

/// Most things cleared away in one commit. Two of them can have as many ends elsewhere as an organization names consumers, and
/// the others have a handful: with those the commit must stay within what a store takes.
const PER_COMMIT: u32 = 80;

/// Most commits that one request, or one turn in a round of upkeep, makes for one organization or pool.
const COMMITS_AT_ONCE: u32 = 20;

/// The mark of an organization, a team or a pool that was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct RemovedRecord {}

impl Record for RemovedRecord {
    const SCHEMA: u16 = 1;
}

/// Adds to `transaction` that what belonged to the organization, team or pool with this id is to be cleared away.
pub(crate) fn mark(transaction: &mut Transaction, id: &str) -> Result<(), ServiceError> {
    transaction.put(removed_key(id), &RemovedRecord {})?;
    Ok(())
}

fn removed_key(id: &str) -> String {
    format!("{REMOVED_PREFIX}{id}")
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Clears away a part of what belonged to all that are gone.
    pub(crate) fn sweep_all(&self) -> Result<(), ServiceError> {
        self.for_each_marked(REMOVED_PREFIX, |id| self.sweep(id))
    }

    /// Clears away what belonged to one of them, as far as it goes at once.
    pub(crate) fn sweep(&self, id: &str) -> Result<(), ServiceError> {
        self.in_commits(COMMITS_AT_ONCE, || self.sweep_some(id))
    }

    fn sweep_some(&self, id: &str) -> Result<Attempt<bool>, ServiceError> {
        let organization = is_identifier(EXTERNAL_ID_PREFIX, id).then_some(id);
        let prefix = organization.map_or_else(|| tokens_of_id_prefix(id), prefix_of_all);
        let found = self.scan_some(&prefix, None, PER_COMMIT)?;
        let mut transaction = Transaction::new();
        // The sharing of one producer ends in its record at once, for a commit changes that only once.
        let mut producers: BTreeMap<&str, Vec<Shared>> = BTreeMap::new();
        for item in &found.items {
            let place = item.key.strip_prefix(&prefix);
            match (organization, place.and_then(|place| place.split_once('/'))) {
                (None, _) | (_, Some((kind::TOKEN, _))) => {
                    self.clear_token_away(&mut transaction, item)?;
                }
                (Some(_), Some((kind::INVITED, hash))) => {
                    let pointer: PointerRecord = decode(&item.entry.value)?;
                    transaction.delete(&item.key);
                    end_invitation_of_sweep(&mut transaction, hash, &pointer.id);
                }
                (Some(external_id), Some((kind::CONSUMERS, name))) => {
                    let consumers: ConsumersRecord = decode(&item.entry.value)?;
                    end_of_consumers(&mut transaction, external_id, name, &consumers);
                    transaction.delete(&item.key);
                }
                (Some(_), Some((kind::PRODUCER, name))) => {
                    if let Some((shared, producer)) = shared_by(name) {
                        producers.entry(producer).or_default().push(shared);
                    }
                    transaction.delete(&item.key);
                }
                (Some(external_id), Some((kind, name))) => {
                    transaction.delete(&item.key);
                    end_elsewhere(&mut transaction, external_id, kind, name);
                }
                (Some(_), None) => {
                    transaction.delete(&item.key);
                }
            }
        }
        for (producer, shares) in &producers {
            let ended = self.end_consumer(&mut transaction, id, producer, shares)?;
            if ended == Attempt::Conflicted {
                return Ok(Attempt::Conflicted);
            }
        }
        if !found.more {
            transaction.delete(removed_key(id));
        }
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, !found.more)?)
    }

    /// Adds to `transaction` the end of a token and of everything that tells of it, such as `item`, which tells its hash.
    pub(crate) fn clear_token_away(
        &self,
        transaction: &mut Transaction,
        item: &Item,
    ) -> Result<(), ServiceError> {
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
    if well_formed(name) && !kind::NAMED_BY_PEOPLE.contains(&kind_of_thing) {
        transaction.delete(whose_key(name));
    }
    if kind_of_thing == kind::MEMBER {
        transaction.delete(membership_of_key(name, external_id));
    }
}
