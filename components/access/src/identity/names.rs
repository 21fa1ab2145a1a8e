//! Names of entities and groups: found in any case of letters, and unique so (contract 7.2).
//!
//! A name leads to its owner from a key that is made of its letters in lower case. Earlier versions told `ops` and `Ops` apart and made
//! the key of the name as it is written; [`AccessService::require_names`] moves such keys to where they belong. Where both names
//! existed, each owner is still found by the name as it was written, and any other spelling leads to the one that has it in lower case.

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Records, Transaction};

use super::records::{
    ENTITY_NAME_PREFIX, GROUP_NAME_PREFIX, GroupRecord, NameRecord, entity_name_key, group_key,
    group_name_key,
};
use crate::api::{Failure, IdentityError};
use crate::indexes::Index;
use crate::records::{EntityRecord, entity_key};
use crate::secret::IdentifierHasher;
use crate::service::AccessService;
use crate::token_store::load_next;

/// Names moved in one commit.
const PART: u32 = 200;

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Entity,
    Group,
}

impl Named {
    /// The index by names in lower case.
    pub(crate) const fn index(self) -> Index {
        match self {
            Self::Entity => Index {
                name: "entity-names",
                prefix: ENTITY_NAME_PREFIX,
                part: PART,
            },
            Self::Group => Index {
                name: "group-names",
                prefix: GROUP_NAME_PREFIX,
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
        self.exact_key(hasher, &folded(name))
    }
}

/// The one spelling by which a name is found.
fn folded(name: &str) -> String {
    // Letter by letter: the lower case of a letter must not depend on its place.
    name.chars().flat_map(char::to_lowercase).collect()
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The identifier of what has this name.
    pub(super) fn named(&self, kind: Named, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.name_entry(kind, name)?.map(|(_, target)| target))
    }

    /// The key of this name, which need not be there.
    pub(super) fn name_key(&self, kind: Named, name: &str) -> Result<String, Failure> {
        match self.name_entry(kind, name)? {
            Some((key, _)) => Ok(key),
            None => Ok(kind.key(self.hasher()?, name)),
        }
    }

    /// The key that leads from this name, and where it leads.
    fn name_entry(&self, kind: Named, name: &str) -> Result<Option<(String, String)>, Failure> {
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
    ) -> Result<(), Failure> {
        let key = kind.key(self.hasher()?, name);
        let target = id.to_owned();
        transaction
            .require_absent(key.as_str())
            .put(key.as_str(), &NameRecord { target })?;
        Ok(())
    }

    /// Refuses a name that belongs to somebody.
    pub(super) fn require_free_name(&self, kind: Named, name: &str) -> Result<(), IdentityError> {
        self.require_names(kind)?;
        match self.named(kind, name)? {
            Some(_) => Err(IdentityError::NameTaken),
            None => Ok(()),
        }
    }

    /// Takes the name away from `id`, and from nobody else.
    pub(super) fn stage_name_removal(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        name: &str,
        id: &str,
    ) -> Result<(), Failure> {
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

    /// Stages another name for `id`, which must be free or differ in the case of letters alone.
    pub(super) fn stage_rename(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        (old, new): (&str, &str),
        id: &str,
    ) -> Result<(), IdentityError> {
        self.require_names(kind)?;
        match self.named(kind, new)? {
            Some(owner) if owner == id && folded(old) == folded(new) => return Ok(()),
            Some(_) => return Err(IdentityError::NameTaken),
            None => {}
        }
        self.stage_name_removal(transaction, kind, old, id)?;
        Ok(self.stage_name(transaction, kind, new, id)?)
    }

    /// Brings the names that an earlier version stored to where they are found in any case of letters.
    pub(crate) fn require_names(&self, kind: Named) -> Result<(), Failure> {
        self.require_index(kind.index(), |transaction, item| {
            self.stage_folded_name(transaction, kind, item)
        })
    }

    /// Does a bounded part of [`Self::require_names`].
    pub(crate) fn advance_names(&self, kind: Named) -> Result<bool, Failure> {
        self.advance_index(kind.index(), |transaction, item| {
            self.stage_folded_name(transaction, kind, item)
        })
    }

    fn stage_folded_name(
        &self,
        transaction: &mut Transaction,
        kind: Named,
        item: &Item,
    ) -> Result<(), Failure> {
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
