//! Records of what was done as they are stored.
//!
//! - `event/<external id>/<milliseconds>-<id>`: something that was done with an organization, for 14 days. It is not below `of/`,
//!   so that the end of an organization is told of after it.
//! - `event/installation/<milliseconds>-<id>`: the same where no organization is concerned.

use crate::{Event, Operation, Resource};
use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

/// Before all records.
pub(super) const EVENT_PREFIX: &str = "event/";

/// Stands for an organization where none is concerned.
pub(crate) const INSTALLATION: &str = "installation";

/// For how long records stay, in milliseconds (contract 4.15).
pub(super) const RETENTION: u64 = 14 * 24 * 60 * 60 * 1000;

/// Something that was done, without what its key tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EventRecord {
    pub id: String,
    pub occurred_at: u64,
    pub actor_id: String,
    pub actor_name: String,
    pub request_id: String,
    /// Absent in records of before this was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_request_id: Option<String>,
    pub resource: Resource,
    pub resource_id: String,
    pub operation: Operation,
}

impl Record for EventRecord {
    const SCHEMA: u16 = 1;
}

impl EventRecord {
    /// The organization that it concerns, or what stands for one.
    pub fn into_event(self, organization: &str) -> Event {
        Event {
            id: self.id,
            occurred_at: self.occurred_at,
            organization: (organization != INSTALLATION).then(|| organization.to_owned()),
            actor_id: self.actor_id,
            actor_name: self.actor_name,
            request_id: self.request_id,
            client_request_id: self.client_request_id,
            resource: self.resource,
            resource_id: self.resource_id,
            operation: self.operation,
        }
    }
}

/// Before the records of an organization.
pub(super) fn prefix_of(organization: &str) -> String {
    format!("{EVENT_PREFIX}{organization}/")
}

/// Before the records of an organization from one moment on. Digits enough for any moment keep the order of time.
pub(super) fn prefix_at(organization: &str, milliseconds: u64) -> String {
    format!("{EVENT_PREFIX}{organization}/{milliseconds:020}-")
}

/// The key of a record.
pub(super) fn event_key(organization: &str, milliseconds: u64, id: &str) -> String {
    format!("{}{id}", prefix_at(organization, milliseconds))
}
