//! Sharing in the store.
//!
//! - `of/<producer>/consumers/<what>`: whom the producer names, in one record.
//! - `of/<consumer>/producer/<what>/<producer>`: the same from the other end. The key holds all of it.
//! - `producer/<what>/<with whom>/<producer>`: that the organization shares with `some` it names, or with `all`.
//!
//! `<what>` is `modules` or `providers`, and organizations stand there by their external ids. How many it names, and whether it
//! shares with all, is also in the producer's own record, which every change of these replaces.

use gatehouse_storage::{Record, StorageError, Transaction};
use serde::{Deserialize, Serialize};

use crate::owned_keys::{key, kind, prefix};
use crate::record::OrganizationRecord;
use crate::{MAXIMUM_CONSUMERS, Shared};

/// The consumers that a producer names, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConsumersRecord {
    pub consumers: Vec<ConsumerRecord>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConsumerRecord {
    /// Of the partnership.
    pub id: String,
    /// The external id.
    pub organization: String,
}

impl Record for ConsumersRecord {
    const SCHEMA: u16 = 1;
}

impl ConsumersRecord {
    /// Adds to `transaction` that these are named. Where none is, there is no record.
    pub(super) fn put_or_delete(
        &self,
        transaction: &mut Transaction,
        key: String,
    ) -> Result<(), StorageError> {
        if self.consumers.is_empty() {
            transaction.delete(key);
        } else {
            transaction.put(key, self)?;
        }
        Ok(())
    }
}

/// A key that says it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FactRecord {}

impl Record for FactRecord {
    const SCHEMA: u16 = 1;
}

/// With whom an organization shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    Nobody,
    Some,
    All,
}

/// Everything that can be shared.
pub(crate) const EVERYTHING_SHARED: [Shared; 2] = [Shared::Modules, Shared::Providers];

const fn word_of(shared: Shared) -> &'static str {
    match shared {
        Shared::Modules => "modules",
        Shared::Providers => "providers",
    }
}

fn parse(name: &str) -> Option<Shared> {
    EVERYTHING_SHARED
        .into_iter()
        .find(|shared| word_of(*shared) == name)
}

/// True if the organization shares with all.
pub(crate) const fn with_all(shared: Shared, record: &OrganizationRecord) -> bool {
    match shared {
        Shared::Modules => record.global_module_sharing,
        Shared::Providers => record.global_provider_sharing,
    }
}

pub(super) const fn set_with_all(shared: Shared, record: &mut OrganizationRecord, all: bool) {
    match shared {
        Shared::Modules => record.global_module_sharing = all,
        Shared::Providers => record.global_provider_sharing = all,
    }
}

/// Writes down in the producer's own record how many it names.
pub(super) fn set_count(shared: Shared, record: &mut OrganizationRecord, named: &[ConsumerRecord]) {
    let count = u32::try_from(named.len()).unwrap_or(MAXIMUM_CONSUMERS);
    match shared {
        Shared::Modules => record.module_consumers = count,
        Shared::Providers => record.provider_consumers = count,
    }
}

const fn audience(shared: Shared, record: &OrganizationRecord) -> Audience {
    let named = match shared {
        Shared::Modules => record.module_consumers,
        Shared::Providers => record.provider_consumers,
    };
    if with_all(shared, record) {
        Audience::All
    } else if named > 0 {
        Audience::Some
    } else {
        Audience::Nobody
    }
}

/// The key of the record of consumers that the producer names.
pub(crate) fn consumers_key(shared: Shared, producer: &str) -> String {
    key(producer, kind::CONSUMERS, word_of(shared))
}

/// Before all who name the consumer.
pub(super) fn producers_prefix(shared: Shared, consumer: &str) -> String {
    format!("{}{}/", prefix(consumer, kind::PRODUCER), word_of(shared))
}

/// The record of a consumer that the producer names.
pub(super) fn producer_key(shared: Shared, consumer: &str, producer: &str) -> String {
    format!("{}{producer}", producers_prefix(shared, consumer))
}

/// Before all who share with any organization.
pub(super) fn index_prefix(shared: Shared) -> String {
    format!("producer/{}/", word_of(shared))
}

/// Before all who share with all.
pub(super) fn index_prefix_of_all(shared: Shared) -> String {
    index_prefix_of(shared, "all")
}

fn index_prefix_of(shared: Shared, audience: &str) -> String {
    format!("{}{audience}/", index_prefix(shared))
}

fn index_key(shared: Shared, record: &OrganizationRecord) -> Option<String> {
    let audience = match audience(shared, record) {
        Audience::Nobody => return None,
        Audience::Some => "some",
        Audience::All => "all",
    };
    let prefix = index_prefix_of(shared, audience);
    Some(format!("{prefix}{}", record.external_id))
}

/// Adds to `transaction` what follows in the index of producers from a change of an organization.
pub(crate) fn index(
    transaction: &mut Transaction,
    before: &OrganizationRecord,
    after: &OrganizationRecord,
) -> Result<(), StorageError> {
    for shared in EVERYTHING_SHARED {
        let (old, new) = (index_key(shared, before), index_key(shared, after));
        if old == new {
            continue;
        }
        if let Some(old) = old {
            transaction.delete(old);
        }
        if let Some(new) = new {
            transaction.put(new, &FactRecord {})?;
        }
    }
    Ok(())
}

/// Adds to `transaction` that a producer is gone from the index.
pub(crate) fn end_producer(transaction: &mut Transaction, record: &OrganizationRecord) {
    for key in EVERYTHING_SHARED
        .into_iter()
        .filter_map(|shared| index_key(shared, record))
    {
        transaction.delete(key);
    }
}

/// Adds to `transaction` that no consumer is named any more by a producer that is gone. `name` is as in the key of its consumers.
pub(crate) fn end_of_consumers(
    transaction: &mut Transaction,
    producer: &str,
    name: &str,
    consumers: &ConsumersRecord,
) {
    if let Some(shared) = parse(name) {
        for consumer in &consumers.consumers {
            transaction.delete(producer_key(shared, &consumer.organization, producer));
        }
    }
}

/// The part of a producer's that has the consumer in whose place an entry of this name stands, and whose that is.
pub(crate) fn shared_by(name: &str) -> Option<(Shared, &str)> {
    let (shared, producer) = name.split_once('/')?;
    Some((parse(shared)?, producer))
}
