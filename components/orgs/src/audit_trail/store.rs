//! Noting what is done, and reading it back.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Transaction, TransactionError, decode};

use super::AuditedOperation;
use super::record::{
    EVENT_PREFIX, EventRecord, INSTALLATION, RETENTION, event_key, prefix_at, prefix_of,
};
use crate::authority::Named as _;
use crate::{
    AuditTrail, Caller, Edition, Event, EventPage, MAXIMUM_EVENTS, MAXIMUM_EVENTS_COUNTED, Orgs,
    ServiceError,
};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Adds to `transaction` a record of what it does with an organization, which is named by its external id. For what concerns
    /// the installation, [`INSTALLATION`] stands in its place.
    pub(crate) fn note(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        by: &Caller,
        audited: AuditedOperation<'_>,
    ) -> Result<(), ServiceError> {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes)?;
        let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
        let now = self.clock.now_milliseconds();
        let actor = &by.identity.principal;
        let record = EventRecord {
            id: id.hyphenated().to_string(),
            occurred_at: now,
            actor_id: actor.id().to_owned(),
            actor_name: actor.username(),
            request_id: by.request_id.clone(),
            client_request_id: by.client_request_id.clone(),
            resource: audited.resource,
            resource_id: audited.id.to_owned(),
            operation: audited.operation,
        };
        let key = event_key(organization, now, &record.id);
        transaction.put_until(key, &record, Some(now.saturating_add(RETENTION)))?;
        Ok(())
    }

    /// Commits what depends on nothing.
    pub(crate) fn commit_unconditionally(
        &self,
        transaction: Transaction,
    ) -> Result<(), ServiceError> {
        match self.records.commit(transaction) {
            Ok(()) => Ok(()),
            Err(TransactionError::Conflict(_)) => Err(ServiceError::Contended),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }
}

impl<S: Store, C: Clock, R: Random> AuditTrail for Orgs<S, C, R> {
    fn events(
        &self,
        organization: &str,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<EventPage, ServiceError> {
        let size = u64::from(size.clamp(1, MAXIMUM_EVENTS));
        let first = u64::from(number.max(1) - 1) * size;
        let wanted = first..first + size;
        let prefix = prefix_of(organization);
        let mut after = prefix_at(organization, since);
        let mut page = EventPage::default();
        loop {
            let found = self
                .records
                .store()
                .scan(&prefix, Some(&after), MAXIMUM_EVENTS)?;
            for item in &found.items {
                if wanted.contains(&page.total) {
                    let record: EventRecord = decode(&item.entry.value)?;
                    page.events.push(record.into_event(organization));
                }
                page.total += 1;
            }
            match found.items.into_iter().next_back() {
                Some(last) if found.more && page.total < MAXIMUM_EVENTS_COUNTED => after = last.key,
                _ => return Ok(page),
            }
        }
    }

    fn waiting_events(&self) -> Result<Vec<Event>, ServiceError> {
        let prefix = match self.edition {
            Edition::SelfHosted => EVENT_PREFIX.to_owned(),
            Edition::Hosted => prefix_of(INSTALLATION),
        };
        let store = self.records.store();
        let found = store.scan(&prefix, None, MAXIMUM_EVENTS)?;
        let mut events = Vec::with_capacity(found.items.len());
        let mut damage = None;
        for item in &found.items {
            let record: EventRecord = match decode(&item.entry.value) {
                Ok(record) => record,
                Err(error) => {
                    damage.get_or_insert(error);
                    continue;
                }
            };
            let place = item.key.strip_prefix(EVENT_PREFIX);
            let organization = place.and_then(|place| place.split_once('/'));
            let organization = organization.map_or(INSTALLATION, |(organization, _)| organization);
            events.push(record.into_event(organization));
        }
        match damage {
            Some(damage) if events.is_empty() => Err(damage.into()),
            _ => Ok(events),
        }
    }

    fn forget_events(&self, events: &[Event]) -> Result<(), ServiceError> {
        for events in events.chunks(MAXIMUM_EVENTS as usize) {
            let mut transaction = Transaction::new();
            for event in events {
                let organization = event.organization.as_deref().unwrap_or(INSTALLATION);
                transaction.delete(event_key(organization, event.occurred_at, &event.id));
            }
            self.commit_unconditionally(transaction)?;
        }
        Ok(())
    }
}
