//! A world for each test: a clock, randomness and organizations over a store in memory.
//!
//! The tests inside the crate that need its private items use it as well.

pub use gatehouse_ports::Store;
pub use gatehouse_ports::doubles::{
    CountingStore, FaultyStore, ManualClock, MemoryStore, SeededRandom,
};
use gatehouse_storage::{Record, Records, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use gatehouse_orgs::{
    AccessDecision, AccessQuestion, Action, Attribute, Authority, Caller, Credential,
    DelegationScope, Description, Edition, Fault, Field, FieldFault, Identity, Invitation,
    Membership, MembershipError, Memberships, Organization, OrganizationChanges,
    OrganizationTarget, Organizations, Orgs, Principal, Relations, ServiceError, Team, Teams,
    UpdateError,
};

pub const NOW: u64 = 1_770_000_000;

pub struct World {
    pub clock: ManualClock,
    pub random: SeededRandom,
}

impl World {
    pub fn new() -> Self {
        Self {
            clock: ManualClock::at_seconds(NOW),
            random: SeededRandom::new(1),
        }
    }

    pub fn store(&self) -> MemoryStore<&ManualClock> {
        MemoryStore::new(&self.clock)
    }

    /// Organizations of the hosted edition.
    pub fn orgs<S: Store>(&self, store: S) -> Orgs<S, &ManualClock, &SeededRandom> {
        self.self_hosted(store).with_edition(Edition::Hosted)
    }

    /// Those of the self-hosted edition.
    pub fn self_hosted<S: Store>(&self, store: S) -> Orgs<S, &ManualClock, &SeededRandom> {
        Orgs::new(store, &self.clock, &self.random)
    }
}

/// Changes to organizations by the names that they have.
pub trait ByName: Organizations {
    fn update_named(
        &self,
        name: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError> {
        let found = self.read(name)?.ok_or(UpdateError::NotFound)?;
        self.update(&found.external_id, changes, by)
    }

    fn delete_named(&self, name: &str, by: &Caller) -> Result<bool, ServiceError> {
        let found = self.read(name)?;
        found.map_or(Ok(false), |found| self.delete(&found.external_id, by))
    }
}

impl<T: Organizations> ByName for T {}

/// Teams and memberships without what is related to them.
pub trait Alone: Teams + Memberships {
    fn team_alone(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
    ) -> Result<Option<Team>, ServiceError> {
        let found = self.read_team(organization, id, Relations::default(), scope)?;
        Ok(found.map(|found| found.team))
    }

    fn membership_alone(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
    ) -> Result<Option<Membership>, ServiceError> {
        let found = self.read_membership(organization, id, Relations::default(), scope)?;
        Ok(found.map(|found| found.membership))
    }

    fn invite_alone(
        &self,
        organization: &str,
        invitation: &Invitation,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Membership, MembershipError> {
        let made = self.invite(organization, invitation, Relations::default(), scope, by)?;
        Ok(made.membership)
    }
}

impl<T: Teams + Memberships> Alone for T {}

/// A caller who may do everything.
pub fn installation() -> Caller {
    caller(Principal::Installation)
}

pub fn caller(principal: Principal) -> Caller {
    Caller {
        identity: Identity {
            principal,
            token_id: None,
        },
        request_id: "request".to_owned(),
        client_request_id: None,
    }
}

pub fn text(value: &str) -> Attribute<String> {
    Attribute::Value(value.to_owned())
}

pub fn named(name: &str) -> OrganizationChanges {
    OrganizationChanges {
        name: text(name),
        email: text("ops@example.com"),
        ..OrganizationChanges::default()
    }
}

pub fn rename(name: &str) -> OrganizationChanges {
    OrganizationChanges {
        name: text(name),
        ..OrganizationChanges::default()
    }
}

pub fn create(orgs: &impl Organizations, name: &str) -> Organization {
    orgs.create(&named(name), None, &installation())
        .unwrap()
        .organization
}

pub fn read(orgs: &impl Organizations, name: &str) -> Option<Organization> {
    orgs.read(name).unwrap()
}

/// The question of an action in the organization of this name, which no policy allows and which asks for no description.
pub fn asking(name: &str, action: Action) -> AccessQuestion {
    AccessQuestion {
        target: OrganizationTarget::Name(name.to_owned()),
        action,
        granted: false,
        role_by_policies: None,
        described: Description::NOTHING,
        also: None,
    }
}

/// The answer to a question; `None` where there is no such organization.
pub fn answer(
    orgs: &impl Authority,
    credential: &Credential,
    question: &AccessQuestion,
) -> Option<AccessDecision> {
    let found = orgs.authorize(credential, question, false).unwrap();
    assert!(found.identification.identity.is_some(), "{question:?}");
    found.access
}

pub fn names(organizations: &[Organization]) -> Vec<&str> {
    organizations
        .iter()
        .map(|organization| organization.name.as_str())
        .collect()
}

pub const TAKEN: FieldFault = FieldFault {
    field: Field::Name,
    fault: Fault::Taken,
};

/// A record as it is stored, whatever its type.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct StoredRecord(Value);

impl Record for StoredRecord {
    const SCHEMA: u16 = 1;
}

/// The record that is stored under a key.
pub fn stored_record(store: impl Store, key: &str) -> Value {
    let found = Records::new(store).get::<StoredRecord>(key).unwrap();
    found.unwrap().record.0
}

/// Stores a record in the place of another, or anew.
pub fn store_record(store: impl Store, key: &str, record: Value) {
    store_records(store, [(key.to_owned(), record)]);
}

/// The same of several at once.
pub fn store_records(store: impl Store, all: impl IntoIterator<Item = (String, Value)>) {
    let mut transaction = Transaction::new();
    for (key, record) in all {
        transaction.put(key, &StoredRecord(record)).unwrap();
    }
    Records::new(store).commit(transaction).unwrap();
}

/// Takes away what stands under a key, as a removal would.
pub fn remove_record(store: impl Store, key: &str) {
    let mut transaction = Transaction::new();
    transaction.delete(key);
    Records::new(store).commit(transaction).unwrap();
}
