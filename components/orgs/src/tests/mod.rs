//! The capability over a store in memory: what is answered, and what is stored.

mod concurrency;
mod lifecycle;
mod listing;
mod rules;

use gatehouse_ports::Store;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};

use crate::{
    Attribute, Edition, Fault, Field, FieldFault, Organization, OrganizationChanges, Organizations,
    Orgs,
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
    orgs.create(Edition::Hosted, &named(name)).unwrap()
}

fn read(orgs: &impl Organizations, name: &str) -> Option<Organization> {
    orgs.read(Edition::Hosted, name).unwrap()
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
