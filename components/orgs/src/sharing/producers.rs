//! The organizations that share, and those that they share with, in pages.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, MAXIMUM_KEYS_PER_CALL, Random, Store};
use gatehouse_storage::commit_with_retries;

use super::store::ConsumersRecord;
use super::store::{consumers_key, index_prefix, index_prefix_of_all, producers_prefix};
use crate::record::{ExternalIdRecord, ORGANIZATION_PREFIX, OrganizationRecord, external_id_key};
use crate::search::{Matcher, folded_text};
use crate::{
    Caller, ConsumerChanges, Filter, Orgs, Page, Partnership, ServiceError, ShareError, Shared,
    Sharing, listing, paging,
};

/// The condition for the organizations that a page is of.
type Choice<'a> = dyn Fn(&OrganizationRecord) -> bool + 'a;

impl<S: Store, C: Clock, R: Random> Sharing for Orgs<S, C, R> {
    fn replace_consumers(
        &self,
        external_id: &str,
        changes: &ConsumerChanges,
        by: &Caller,
    ) -> Result<(), ShareError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_replace_consumers(external_id, changes, by)
        })?;
        Ok(())
    }

    fn module_partnerships(&self, external_id: &str) -> Result<Vec<Partnership>, ServiceError> {
        let named = self
            .named_consumers(external_id, Shared::Modules)?
            .consumers;
        let mut ids: BTreeMap<String, String> = named
            .into_iter()
            .map(|consumer| (consumer.organization, consumer.id))
            .collect();
        let names = self.names_of(ids.keys().cloned().collect())?;
        let consumers = self.records_of(&names)?.into_iter();
        let partnership = |consumer: OrganizationRecord| {
            Some(Partnership {
                id: ids.remove(&consumer.external_id)?,
                consumer_id: consumer.external_id,
                consumer_name: consumer.name,
            })
        };
        Ok(consumers.filter_map(partnership).collect())
    }

    fn consumers(
        &self,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        let named = self.named_consumers(external_id, shared)?.consumers;
        let ids = named.into_iter().map(|consumer| consumer.organization);
        self.page_of(ids.collect(), None, number, size)
    }

    fn producers(
        &self,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        let mut ids = self.ids_below(&producers_prefix(shared, external_id))?;
        ids.extend(self.ids_below(&index_prefix_of_all(shared))?);
        ids.remove(external_id);
        let enabled = |record: &OrganizationRecord| !record.disabled;
        self.page_of(ids, Some(&enabled), number, size)
    }

    fn all_producers(
        &self,
        shared: &[Shared],
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        let mut common: Option<BTreeSet<String>> = None;
        for shared in shared.iter().copied() {
            let ids = self.ids_below(&index_prefix(shared))?;
            common = Some(match common {
                Some(common) => common.intersection(&ids).cloned().collect(),
                None => ids,
            });
        }
        let matcher = Matcher::new(filter);
        let matches = |record: &OrganizationRecord| {
            let email = folded_text(&record.settings.email);
            matcher.accepts(&folded_text(&record.name), &email)
        };
        let matches = (*filter != Filter::default()).then_some(&matches as &Choice<'_>);
        self.page_of(common.unwrap_or_default(), matches, number, size)
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn named_consumers(
        &self,
        producer: &str,
        shared: Shared,
    ) -> Result<ConsumersRecord, ServiceError> {
        let stored = self.records.get(&consumers_key(shared, producer))?;
        Ok(stored.map(|stored| stored.record).unwrap_or_default())
    }

    /// The external ids that end the keys below `prefix`.
    fn ids_below(&self, prefix: &str) -> Result<BTreeSet<String>, ServiceError> {
        let items = self.records.scan_all(prefix)?;
        let ids = items
            .iter()
            .filter_map(|item| item.key.rsplit_once('/').map(|(_, id)| id.to_owned()));
        Ok(ids.collect())
    }

    /// Those of the organizations that exist, each with its folded name, and in the order of those.
    fn names_of(&self, ids: BTreeSet<String>) -> Result<Vec<(String, String)>, ServiceError> {
        let ids: Vec<String> = ids.into_iter().collect();
        let mut names = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAXIMUM_KEYS_PER_CALL) {
            let keys: Vec<String> = ids.iter().map(|id| external_id_key(id)).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let found = self.records.get_all::<ExternalIdRecord>(&keys)?;
            let found = ids.iter().zip(found);
            names.extend(found.filter_map(|(id, found)| Some((found?.record.name, id.clone()))));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The records of organizations that were found under these folded names with these external ids. One that has been renamed
    /// since is left out.
    fn records_of(
        &self,
        names: &[(String, String)],
    ) -> Result<Vec<OrganizationRecord>, ServiceError> {
        let mut records = Vec::with_capacity(names.len());
        for names in names.chunks(MAXIMUM_KEYS_PER_CALL) {
            let keys: Vec<String> = names
                .iter()
                .map(|(name, _)| format!("{ORGANIZATION_PREFIX}{name}"))
                .collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let found = self.records.get_all::<OrganizationRecord>(&keys)?;
            let ids = names.iter().map(|(_, id)| id);
            let found = found.into_iter().zip(ids).filter_map(|(found, id)| {
                let record = found?.record;
                (record.external_id == *id).then_some(record)
            });
            records.extend(found);
        }
        Ok(records)
    }

    /// The page of those of the organizations that exist and are chosen. Only where there is a choice more is read of all
    /// than their names.
    fn page_of(
        &self,
        ids: BTreeSet<String>,
        chosen: Option<&Choice<'_>>,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        let mut names = self.names_of(ids)?;
        if let Some(chosen) = chosen {
            let found = self.records_of(&names)?.into_iter();
            let chosen: BTreeSet<String> = found
                .filter(|record| chosen(record))
                .map(|record| record.external_id)
                .collect();
            names.retain(|(_, id)| chosen.contains(id));
        }
        let (wanted, total) = paging::page(names, number, size);
        let organizations = self.to_organizations(self.records_of(&wanted)?)?;
        Ok(listing::page_of(organizations, total))
    }
}
