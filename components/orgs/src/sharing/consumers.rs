//! Naming consumers, and the end of those that are gone.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store, Version};
use gatehouse_storage::{Attempt, Loaded, Transaction};

use super::store::{ConsumerRecord, ConsumersRecord, FactRecord};
use super::store::{consumers_key, index, producer_key, set_count, set_with_all};
use crate::audit_trail::AuditedOperations as _;
use crate::identifier::{is_identifier, random_identifier};
use crate::lookup::Located;
use crate::name::FoldedName;
use crate::record::EXTERNAL_ID_PREFIX;
use crate::record::{ExternalIdRecord, OrganizationRecord, external_id_key, organization_key};
use crate::{
    Caller, ConsumerChanges, MAXIMUM_CONSUMERS, OrganizationReference, Orgs, Resource,
    ServiceError, ShareError, Shared,
};

const PARTNERSHIP_PREFIX: &str = "mp-";

/// Organizations that exist by their external ids, each with the state in which it was found.
pub(crate) type Existence = BTreeMap<String, Version>;

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn try_replace_consumers(
        &self,
        external_id: &str,
        changes: &ConsumerChanges,
        by: &Caller,
    ) -> Result<Attempt<OrganizationRecord>, ShareError> {
        let located = self.locate(external_id)?;
        let Some(found) = located.unless_gone(ShareError::NotFound)? else {
            return Ok(Attempt::Conflicted);
        };
        let mut record = found.1.record.clone();
        let mut transaction = Transaction::new();
        let mut unknown = Vec::new();
        for (shared, named) in [
            (Shared::Modules, &changes.modules),
            (Shared::Providers, &changes.providers),
        ] {
            let Some(named) = named else { continue };
            let mut consumers = self.resolve(named, &mut unknown)?;
            consumers.remove(external_id);
            set_with_all(shared, &mut record, false);
            self.name_consumers(&mut transaction, &mut record, shared, &consumers)?;
        }
        if !unknown.is_empty() {
            return Err(ShareError::UnknownOrganizations(unknown));
        }
        let audited = Resource::Organization.updated(external_id);
        Ok(self.replace_record(&found, &record, transaction, by, &[audited])?)
    }

    /// Adds to `transaction` that an organization names these consumers and no others, as long as they exist.
    pub(crate) fn name_consumers(
        &self,
        transaction: &mut Transaction,
        record: &mut OrganizationRecord,
        shared: Shared,
        wanted: &Existence,
    ) -> Result<(), ServiceError> {
        let producer = record.external_id.clone();
        let key = consumers_key(shared, &producer);
        let stored = self.records.get::<ConsumersRecord>(&key)?;
        let version = stored.as_ref().map(|stored| stored.version);
        let (mut consumers, ended): (Vec<_>, Vec<_>) = stored
            .map(|stored| stored.record.consumers)
            .unwrap_or_default()
            .into_iter()
            .partition(|consumer| wanted.contains_key(&consumer.organization));
        let kept: BTreeSet<String> = consumers
            .iter()
            .map(|consumer| consumer.organization.clone())
            .collect();
        let added = wanted.iter().filter(|(added, _)| !kept.contains(*added));
        for (organization, version) in added.clone() {
            transaction
                .require(external_id_key(organization), *version)
                .put(
                    producer_key(shared, organization, &producer),
                    &FactRecord {},
                )?;
            consumers.push(ConsumerRecord {
                id: random_identifier(PARTNERSHIP_PREFIX, &self.random)?,
                organization: organization.clone(),
            });
        }
        for consumer in &ended {
            transaction.delete(producer_key(shared, &consumer.organization, &producer));
        }
        set_count(shared, record, &consumers);
        if added.clone().next().is_none() && ended.is_empty() {
            return Ok(());
        }
        transaction.require_unchanged(&key, version);
        Ok(ConsumersRecord { consumers }.put_or_delete(transaction, key)?)
    }

    /// The organizations that are named; those that do not exist are added to `unknown`.
    fn resolve(
        &self,
        named: &[OrganizationReference],
        unknown: &mut Vec<String>,
    ) -> Result<Existence, ShareError> {
        if named.len() > MAXIMUM_CONSUMERS as usize {
            return Err(ShareError::TooMany(MAXIMUM_CONSUMERS));
        }
        let keys: Vec<String> = named.iter().map(name_key).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let records = self.records.get_all::<OrganizationRecord>(&keys)?;
        let ids: Vec<Option<String>> = named
            .iter()
            .zip(records)
            .map(|(reference, record)| match reference {
                OrganizationReference::ExternalId(id) => {
                    is_identifier(EXTERNAL_ID_PREFIX, id).then(|| id.clone())
                }
                OrganizationReference::Name(_) => record.map(|record| record.record.external_id),
            })
            .collect();
        let keys: Vec<String> = ids
            .iter()
            .map(|id| external_id_key(id.as_deref().unwrap_or(EXTERNAL_ID_PREFIX)))
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let existing = self.records.get_all::<ExternalIdRecord>(&keys)?;
        let mut found = Existence::new();
        for ((reference, id), existing) in named.iter().zip(ids).zip(existing) {
            match (id, existing) {
                (Some(id), Some(Loaded { version, .. })) => {
                    found.insert(id, version);
                }
                _ => unknown.push(reference.text().to_owned()),
            }
        }
        Ok(found)
    }

    /// Adds to `transaction` that a producer no longer names a consumer that is gone, for any of `shares`. Conflicted where the producer is
    /// to be looked for again.
    pub(crate) fn end_consumer(
        &self,
        transaction: &mut Transaction,
        consumer: &str,
        producer: &str,
        shares: &[Shared],
    ) -> Result<Attempt<()>, ServiceError> {
        let (name, stored) = match self.locate(producer)? {
            // Everything that it named is cleared away with it.
            Located::Gone => return Ok(Attempt::Done(())),
            Located::Moved => return Ok(Attempt::Conflicted),
            Located::Here(found) => found,
        };
        let mut record = stored.record.clone();
        for shared in shares.iter().copied() {
            let key = consumers_key(shared, producer);
            let Some(named) = self.records.get::<ConsumersRecord>(&key)? else {
                continue;
            };
            transaction.require(&key, named.version);
            let mut named = named.record;
            named
                .consumers
                .retain(|named| named.organization != consumer);
            set_count(shared, &mut record, &named.consumers);
            named.put_or_delete(transaction, key)?;
        }
        let key = organization_key(&name);
        transaction.require(&key, stored.version);
        if record != stored.record {
            index(transaction, &stored.record, &record)?;
            transaction.put(key, &record)?;
        }
        Ok(Attempt::Done(()))
    }
}

/// The key of the organization of that name. A reference without a name, or with a text that cannot be one, has a key of no organization.
fn name_key(reference: &OrganizationReference) -> String {
    let name = match reference {
        OrganizationReference::Name(name) => FoldedName::fold(name),
        OrganizationReference::ExternalId(_) => None,
    };
    name.map_or_else(
        || "organization/-/".to_owned(),
        |name| organization_key(&name),
    )
}
