//! The capability over a store in memory: what is answered, and what is stored.

mod agent_pools;
mod audit_trail;
mod authority;
mod concurrency;
mod counting;
mod crashes;
mod damage;
mod default_pools;
mod directory;
mod lifecycle;
mod listing;
mod meanwhile;
mod people;
mod rules;
mod sharing;
mod site;
mod stored_forms;
mod subscriptions;
mod tokens;
mod viewers;

use counting::CountingStore;
use gatehouse_ports::Store;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};

use crate::{
    Attribute, Caller, Edition, Failure, Fault, Field, FieldFault, Identity, Organization,
    OrganizationChanges, OrganizationTarget, Organizations, Orgs, Principal, UpdateError,
};

const NOW: u64 = 1_770_000_000;

struct World {
    clock: ManualClock,
    random: SeededRandom,
}

impl World {
    fn new() -> Self {
        Self {
            clock: ManualClock::at_seconds(NOW),
            random: SeededRandom::new(1),
        }
    }

    fn store(&self) -> MemoryStore<&ManualClock> {
        MemoryStore::new(&self.clock)
    }

    fn orgs<S: Store>(&self, store: S) -> Orgs<S, &ManualClock, &SeededRandom> {
        Orgs::new(store, &self.clock, &self.random)
    }
}

/// Changes to organizations by the names that they have.
trait ByName: Organizations {
    fn update_named(
        &self,
        edition: Edition,
        name: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError> {
        let found = self.read(edition, name)?.ok_or(UpdateError::NotFound)?;
        self.update(edition, &found.external_id, changes, by)
    }

    fn delete_named(&self, name: &str, by: &Caller) -> Result<bool, Failure> {
        let found = self.read(Edition::Hosted, name)?;
        found.map_or(Ok(false), |found| self.delete(&found.external_id, by))
    }
}

impl<T: Organizations> ByName for T {}

/// Somebody who may do everything.
fn installation() -> Caller {
    caller(Principal::Installation)
}

fn caller(principal: Principal) -> Caller {
    Caller {
        identity: Identity {
            principal,
            token_id: None,
        },
        request_id: "request".to_owned(),
        client_request_id: None,
    }
}

fn text(value: &str) -> Attribute<String> {
    Attribute::Value(value.to_owned())
}

fn named(name: &str) -> OrganizationChanges {
    OrganizationChanges {
        name: text(name),
        email: text("ops@example.com"),
        ..OrganizationChanges::default()
    }
}

fn rename(name: &str) -> OrganizationChanges {
    OrganizationChanges {
        name: text(name),
        ..OrganizationChanges::default()
    }
}

fn create(orgs: &impl Organizations, name: &str) -> Organization {
    orgs.create(Edition::Hosted, &named(name), None, &installation())
        .unwrap()
        .organization
}

fn read(orgs: &impl Organizations, name: &str) -> Option<Organization> {
    orgs.read(Edition::Hosted, name).unwrap()
}

fn at(name: &str) -> OrganizationTarget {
    OrganizationTarget::Name(name.to_owned())
}

fn names(organizations: &[Organization]) -> Vec<&str> {
    organizations
        .iter()
        .map(|organization| organization.name.as_str())
        .collect()
}

const TAKEN: FieldFault = FieldFault {
    field: Field::Name,
    fault: Fault::Taken,
};
