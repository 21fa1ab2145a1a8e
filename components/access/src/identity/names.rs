//! Names of entities and groups: found in any case of letters, and unique so (contract 7.2).
//!
//! A name leads to its owner from a key that is made of its letters in lower case. Earlier versions told `ops` and `Ops` apart and made
//! the key of the name as it is written; [`AccessService::require_names`] moves such keys to where they belong. Where both names
//! existed, each owner is still found by the name as it was written, and any other spelling leads to the one that has it in lower case.

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Index, Records, Transaction};

use super::checks::checked_name;
use super::records::{
    ENTITY_NAME_PREFIX, GROUP_NAME_PREFIX, GroupRecord, NameRecord, entity_name_key, group_key,
    group_name_key,
};
use crate::api::{IdentityError, ServiceError, folded_identity_name};
use crate::records::{EntityRecord, entity_key};
use crate::secret::IdentifierHasher;
use crate::service::{AccessService, load_next};

/// Names moved in one commit.
const PART: u32 = 200;

/// The kinds of things that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Entity,
    Group,
}

impl Named {
    /// The index by names in lower case.
    pub(crate) const fn index(self) -> Index<'static> {
        match self {
            Self::Entity => Index {
                key: "index/entity-names",
                prefix: ENTITY_NAME_PREFIX,
                at_once: PART,
                part: PART,
            },
            Self::Group => Index {
                key: "index/group-names",
                prefix: GROUP_NAME_PREFIX,
                at_once: PART,
                part: PART,
            },
        }
    }

    /// The key of a name as it is written.
    fn exact_key(self, hasher: &IdentifierHasher, name: &str) -> String {
        match self {
            Self::Entity => entity_name_key(&hasher.entity_name(name)),
            Self::Group => group_name_key(&hasher.group_name(name)),
        }
    }

    /// The key of a name.
    fn key(self, hasher: &IdentifierHasher, name: &str) -> String {
        self.exact_key(hasher, &folded_identity_name(name))
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The identifier of what has this name.
    pub(super) fn named(&self, kind: Named, name: &str) -> Result<Option<String>, ServiceError> {
        Ok(self.name_entry(kind, name)?.map(|(_, target)| target))
    }

    /// The key of this name, which need not exist.
    pub(super) fn name_key(&self, kind: Named, name: &str) -> Result<String, ServiceError> {
        match self.name_entry(kind, name)? {
            Some((key, _)) => Ok(key),
            None => Ok(kind.key(self.hasher()?, name)),
        }
    }

    /// The key that leads from this name, and where it leads.
    fn name_entry(
        &self,
        kind: Named,
        name: &str,
    ) -> Result<Option<(String, String)>, ServiceError> {
        let hasher = self.hasher()?;
        let mut keys = vec![kind.exact_key(hasher, name), kind.key(hasher, name)];
        keys.dedup();
        let mut entries = self.read_all(keys.iter())?;
        for key in keys {
            if let Some(found) = load_next::<S, NameRecord>(&mut entries)? {
                return Ok(Some((key, found.record.target)));
            }
        }
        Ok(None)
    }

    /// Gives a name that was not found to `id`. It must be free still when the commit applies.
    pub(crate) fn stage_name(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        name: &str,
        id: &str,
    ) -> Result<(), ServiceError> {
        let key = kind.key(self.hasher()?, name);
        let target = id.to_owned();
        transaction
            .require_absent(key.as_str())
            .put(key.as_str(), &NameRecord { target })?;
        Ok(())
    }

    /// Refuses a name that is taken.
    pub(super) fn require_free_name(&self, kind: Named, name: &str) -> Result<(), IdentityError> {
        self.require_names(kind)?;
        match self.named(kind, name)? {
            Some(_) => Err(IdentityError::NameTaken),
            None => Ok(()),
        }
    }

    /// Takes the name away from `id`, and from no other owner.
    pub(super) fn stage_name_removal(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        name: &str,
        id: &str,
    ) -> Result<(), ServiceError> {
        let hasher = self.hasher()?;
        let mut keys = vec![kind.exact_key(hasher, name), kind.key(hasher, name)];
        keys.dedup();
        let mut entries = self.read_all(keys.iter())?;
        for key in keys {
            let found = load_next::<S, NameRecord>(&mut entries)?;
            if let Some(found) = found.filter(|found| found.record.target == id) {
                transaction.require(key.as_str(), found.version).delete(key);
            }
        }
        Ok(())
    }

    /// Stages another name for `id`, which must be free or differ in the case of letters alone, and returns it.
    pub(super) fn stage_rename(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        (old, new): (&str, &str),
        id: &str,
    ) -> Result<String, IdentityError> {
        let new = checked_name(new)?;
        self.require_names(kind)?;
        match self.named(kind, &new)? {
            Some(owner)
                if owner == id && folded_identity_name(old) == folded_identity_name(&new) =>
            {
                return Ok(new);
            }
            Some(_) => return Err(IdentityError::NameTaken),
            None => {}
        }
        self.stage_name_removal(transaction, kind, old, id)?;
        self.stage_name(transaction, kind, &new, id)?;
        Ok(new)
    }

    /// Brings the names that an earlier version stored to where they are found in any case of letters.
    pub(crate) fn require_names(&self, kind: Named) -> Result<(), ServiceError> {
        self.require_index(kind.index(), |transaction, item| {
            self.stage_folded_name(transaction, kind, item)
        })
    }

    /// Does a bounded part of [`Self::require_names`].
    pub(crate) fn advance_names(&self, kind: Named) -> Result<bool, ServiceError> {
        self.advance_index(kind.index(), |transaction, item| {
            self.stage_folded_name(transaction, kind, item)
        })
    }

    fn stage_folded_name(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        item: &Item,
    ) -> Result<(), ServiceError> {
        let entry = Records::<S>::load::<NameRecord>(Some(item.entry.clone()))?;
        let Some(name) = entry else { return Ok(()) };
        let id = &name.record.target;
        let owner = match kind {
            Named::Entity => {
                let entity = self.records.get::<EntityRecord>(&entity_key(id))?;
                entity.map(|it| it.record.name)
            }
            Named::Group => {
                let group = self.records.get::<GroupRecord>(&group_key(id))?;
                group.map(|it| it.record.name)
            }
        };
        let Some(owner) = owner else { return Ok(()) };
        let key = kind.key(self.hasher()?, &owner);
        let taken = self.records.get::<NameRecord>(&key)?.is_some();
        // Two names of this part may come to the same key; the second of them stays where it is.
        if key == item.key || taken || transaction.has_change(&key) {
            return Ok(());
        }
        transaction
            .require(item.key.as_str(), name.version)
            .require_absent(key.as_str())
            .put(key, &name.record)?
            .delete(item.key.as_str());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};

    use super::*;
    use crate::api::{
        Entities as _, EntityChanges, GroupChanges, Groups as _, IdentityReference, IdentityTarget,
        IdentityWritten, System as _,
    };

    type TestStore = MemoryStore<&'static ManualClock>;
    type Service = AccessService<&'static TestStore, &'static ManualClock, SeededRandom>;

    fn service() -> (Service, &'static TestStore) {
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(1)));
        let store: &'static TestStore = Box::leak(Box::new(MemoryStore::new(clock)));
        let access = AccessService::new(store, clock, SeededRandom::new(1));
        access.initialize(None).ok().unwrap();
        (access, store)
    }

    fn write_group(
        access: &Service,
        target: &IdentityTarget,
        name: Option<&str>,
    ) -> Result<IdentityWritten, IdentityError> {
        let changes = GroupChanges {
            name: name.map(str::to_owned),
            ..GroupChanges::default()
        };
        access.write_group(target, &changes)
    }

    fn group_id(access: &Service, name: &str) -> Option<String> {
        let group = access
            .read_group(&IdentityReference::Name(name.into()))
            .unwrap();
        group.map(|group| group.id)
    }

    /// Puts the name of a group where an earlier version had it, which did not fold it.
    fn as_before(access: &Service, name: &str, id: &str) {
        let hasher = access.hasher().unwrap();
        let target = id.to_owned();
        let mut transaction = Transaction::new();
        transaction
            .delete(Named::Group.index().key)
            .put(Named::Group.exact_key(hasher, name), &NameRecord { target })
            .unwrap();
        access.records.commit(transaction).unwrap();
    }

    #[test]
    fn contract_7_2_another_case_of_a_name_is_the_same_object() {
        let (access, _) = service();
        let ops = write_group(&access, &IdentityTarget::Name("Ops".into()), None).unwrap();
        assert_eq!((ops.name.as_str(), ops.created), ("Ops", true));
        let again = write_group(&access, &IdentityTarget::Name("oPS".into()), None).unwrap();
        assert_eq!((&again.id, again.created), (&ops.id, false));
        assert_eq!(group_id(&access, "OPS"), Some(ops.id.clone()));
        let other = write_group(&access, &IdentityTarget::Name("dev".into()), None).unwrap();
        let taken = write_group(&access, &IdentityTarget::Id(other.id.clone()), Some("OPS"));
        assert_eq!(taken, Err(IdentityError::NameTaken));
        let renamed =
            write_group(&access, &IdentityTarget::Id(ops.id.clone()), Some("OPS")).unwrap();
        assert_eq!(renamed.name, "OPS");
        assert_eq!(group_id(&access, "ops"), Some(ops.id.clone()));
        write_group(&access, &IdentityTarget::Id(ops.id.clone()), Some("Root")).unwrap();
        assert_eq!(group_id(&access, "ops"), None);
        assert_eq!(group_id(&access, "rOOt"), Some(ops.id));
        assert_eq!(access.list_group_names(None, 10).unwrap().keys.len(), 2);
        let removed = access.delete_group(&IdentityReference::Name("ROOT".into()));
        assert_eq!(removed, Ok(true));
        assert_eq!(access.list_group_names(None, 10).unwrap().keys, ["dev"]);
    }

    #[test]
    fn contract_7_2_entities_are_found_in_any_case_too() {
        let (access, _) = service();
        let write = |name: &str| {
            let target = &IdentityTarget::Name(name.into());
            access.write_entity(target, &EntityChanges::default())
        };
        let ann = write("\u{c4}nn").unwrap();
        let again = write("\u{e4}NN").unwrap();
        assert_eq!((again.id, again.created), (ann.id.clone(), false));
        let removed = access.delete_entity(&IdentityReference::Id(ann.id.clone()));
        assert_eq!(removed, Ok(true));
        assert!(write("\u{e4}nn").unwrap().created);
    }

    #[test]
    fn names_of_a_store_of_before_are_found_in_any_case() {
        let (access, store) = service();
        let made = write_group(&access, &IdentityTarget::Name("Ops".into()), None).unwrap();
        let folded = Named::Group.key(access.hasher().unwrap(), "Ops");
        let mut transaction = Transaction::new();
        transaction.delete(folded);
        access.records.commit(transaction).unwrap();
        as_before(&access, "Ops", &made.id);
        let keys = store.keys().len();
        assert_eq!(group_id(&access, "Ops"), Some(made.id.clone()));
        // Background work moves it, and a write waits for that.
        access.maintain().unwrap();
        assert_eq!(group_id(&access, "ops"), Some(made.id.clone()));
        assert_eq!(store.keys().len(), keys + 1, "the mark of the index");
        let again = write_group(&access, &IdentityTarget::Name("OPS".into()), None).unwrap();
        assert_eq!((again.id, again.created), (made.id, false));
    }

    #[test]
    fn two_names_of_before_that_differ_in_case_keep_both_owners() {
        let (access, _) = service();
        let low = write_group(&access, &IdentityTarget::Name("ops".into()), None).unwrap();
        let high = write_group(&access, &IdentityTarget::Name("other".into()), None).unwrap();
        write_group(&access, &IdentityTarget::Id(high.id.clone()), Some("Ops2")).unwrap();
        let key = group_key(&high.id);
        let record = access.records.get::<GroupRecord>(&key).unwrap().unwrap();
        let renamed = GroupRecord {
            name: "Ops".to_owned(),
            ..record.record
        };
        let mut transaction = Transaction::new();
        transaction.put(key, &renamed).unwrap();
        access.records.commit(transaction).unwrap();
        as_before(&access, "Ops", &high.id);
        access.maintain().unwrap();
        assert_eq!(group_id(&access, "ops"), Some(low.id.clone()));
        assert_eq!(group_id(&access, "Ops"), Some(high.id.clone()));
        assert_eq!(group_id(&access, "OPS"), Some(low.id.clone()));
        let by_id = access.read_group(&IdentityReference::Id(high.id.clone()));
        assert_eq!(by_id.unwrap().unwrap().name, "Ops");
        // The deletion of either group leaves the other its name.
        assert_eq!(
            access.delete_group(&IdentityReference::Id(high.id.clone())),
            Ok(true)
        );
        assert_eq!(group_id(&access, "Ops"), Some(low.id));
    }
}
