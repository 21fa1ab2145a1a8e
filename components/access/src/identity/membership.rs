//! The groups that an entity is in, and how logins change that (contract 7.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store, Version};
use gatehouse_storage::{CachedReads, Loaded, StorageError, Transaction};

use super::records::{
    GroupAliasRecord, GroupRecord, Membership, OwnerRecord, group_alias_key, group_key, member_key,
};
use crate::api::{GroupType, ServiceError};
use crate::records::{EntityRecord, entity_key};
use crate::secret::IdentifierHasher;
use crate::service::{AccessService, load_next};

/// Most group aliases of one login: an ancestry has about a dozen.
pub(crate) const MAXIMUM_GROUP_ALIASES: usize = 128;

/// The groups that a login claims for its identity, on the way from names to memberships.
pub(crate) struct Claims {
    /// Hashes of the group aliases.
    hashes: Vec<String>,
    keys: Vec<String>,
}

/// The external groups that a login leads into, with the aliases as they were read.
pub(crate) struct ClaimedGroups {
    memberships: Vec<Membership>,
    checks: Vec<(String, Version)>,
}

/// The groups that an entity is in now.
#[derive(Default)]
pub(crate) struct EntityGroups {
    pub(crate) direct: Vec<GroupRecord>,
    /// Those that have a direct group below them, nearest first.
    pub(crate) inherited: Vec<GroupRecord>,
}

impl Claims {
    /// The claims of a login at a mount that brings the group aliases `names`.
    pub(crate) fn new(hasher: &IdentifierHasher, mount_id: &str, names: &[String]) -> Self {
        let names: BTreeSet<&String> = names.iter().collect();
        let hashes: Vec<String> = names
            .into_iter()
            .map(|name| hasher.alias(mount_id, name))
            .collect();
        let keys = hashes.iter().map(|hash| group_alias_key(hash)).collect();
        Self { hashes, keys }
    }

    /// The keys of the records that tell the groups.
    pub(crate) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The groups, from the entries under [`Self::keys`], which are next in `reads`.
    pub(crate) fn resolve(
        self,
        reads: &mut CachedReads<'_>,
    ) -> Result<ClaimedGroups, StorageError> {
        let mut memberships = Vec::new();
        let mut checks = Vec::new();
        for (alias, key) in self.hashes.into_iter().zip(self.keys) {
            if let Some(found) = reads.next_uncached::<GroupAliasRecord>()? {
                let group_id = found.record.group_id;
                memberships.push(Membership { group_id, alias });
                checks.push((key, found.version));
            }
        }
        memberships.sort_unstable();
        Ok(ClaimedGroups {
            memberships,
            checks,
        })
    }
}

/// Notes in the indexes of groups that the entity is in those it `joined`, and not in others that it was in before.
pub(super) fn stage_memberships(
    transaction: &mut Transaction,
    entity_id: &str,
    before: &BTreeSet<&String>,
    joined: &BTreeSet<&String>,
) -> Result<(), StorageError> {
    for group in before.difference(joined) {
        transaction.delete(member_key(group, entity_id));
    }
    for group in joined.difference(before) {
        let owner = OwnerRecord {
            entity_id: entity_id.to_owned(),
        };
        transaction.put(member_key(group, entity_id), &owner)?;
    }
    Ok(())
}

impl ClaimedGroups {
    /// Makes the entity a member of exactly these external groups of the mount with this accessor. Says whether that changes the
    /// entity, whose record the caller stores then; when nothing changes, nothing is added to `transaction`.
    ///
    /// The aliases are checked, so that no entity joins a group that is being deleted.
    pub(crate) fn apply(
        self,
        transaction: &mut Transaction,
        entity: &mut EntityRecord,
        mount_accessor: &str,
    ) -> Result<bool, StorageError> {
        let before = entity
            .external_groups
            .get(mount_accessor)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if before == self.memberships {
            return Ok(false);
        }
        for (key, version) in self.checks {
            transaction.require(key, version);
        }
        let left = before.iter().map(|it| &it.group_id).collect();
        let joined = self.memberships.iter().map(|it| &it.group_id).collect();
        stage_memberships(transaction, &entity.id, &left, &joined)?;
        let accessor = mount_accessor.to_owned();
        if self.memberships.is_empty() {
            entity.external_groups.remove(&accessor);
        } else {
            entity.external_groups.insert(accessor, self.memberships);
        }
        Ok(true)
    }
}

impl EntityGroups {
    /// The policies of all of them, in no order and with repetitions.
    pub(crate) fn policies(&self) -> impl Iterator<Item = &String> {
        self.all().flat_map(|group| group.policies.iter())
    }

    /// All of them, direct ones first.
    pub(super) fn all(&self) -> impl Iterator<Item = &GroupRecord> {
        self.direct.iter().chain(&self.inherited)
    }
}

impl EntityRecord {
    /// True if its place in `group` still holds.
    pub(crate) fn is_in(&self, group: &GroupRecord) -> bool {
        match (group.group_type, &group.alias) {
            (GroupType::Internal, _) => self.internal_groups.contains(&group.id),
            (GroupType::External, None) => false,
            (GroupType::External, Some(alias)) => self
                .external_groups
                .get(&alias.mount_accessor)
                .is_some_and(|memberships| {
                    memberships
                        .iter()
                        .any(|it| it.group_id == group.id && it.alias == alias.hash)
                }),
        }
    }

    /// Takes it out of the external groups of a mount that does not know it any more: no login there would do so.
    pub(super) fn leave_mount(&mut self, transaction: &mut Transaction, mount_accessor: &str) {
        let memberships = self.external_groups.remove(mount_accessor);
        let groups = memberships.unwrap_or_default().into_iter();
        let groups: BTreeSet<String> = groups.map(|it| it.group_id).collect();
        for group in groups {
            transaction.delete(member_key(&group, &self.id));
        }
    }

    /// The identifiers of the groups it names, sorted.
    pub(super) fn group_ids(&self) -> BTreeSet<&String> {
        let external = self.external_groups.values().flatten();
        let external = external.map(|membership| &membership.group_id);
        self.internal_groups.iter().chain(external).collect()
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The groups of `entity`: no read where it names none, else one for them and one for each level of groups above.
    pub(crate) fn groups_of(&self, entity: &EntityRecord) -> Result<EntityGroups, ServiceError> {
        let mut direct = Vec::new();
        let ids = entity.group_ids();
        for group in self.read_groups(ids.into_iter())? {
            direct.extend(group.map(|it| it.record).filter(|it| entity.is_in(it)));
        }
        let mut seen: BTreeSet<String> = direct.iter().map(|group| group.id.clone()).collect();
        let mut inherited = Vec::new();
        let mut level: Vec<String> = unseen_parents(&mut seen, &direct);
        while !level.is_empty() {
            let parents = self.read_groups(level.iter())?;
            let parents: Vec<GroupRecord> = parents
                .into_iter()
                .flatten()
                .map(|group| group.record)
                .collect();
            level = unseen_parents(&mut seen, &parents);
            inherited.extend(parents);
        }
        Ok(EntityGroups { direct, inherited })
    }

    /// The policies of an entity that come from its groups.
    pub(crate) fn group_policies(
        &self,
        entity: &EntityRecord,
    ) -> Result<Vec<String>, ServiceError> {
        Ok(self.groups_of(entity)?.policies().cloned().collect())
    }

    /// The groups with these identifiers, in one round trip.
    pub(crate) fn read_groups<'a>(
        &self,
        ids: impl Iterator<Item = &'a String>,
    ) -> Result<Vec<Option<Loaded<GroupRecord>>>, ServiceError> {
        let keys: Vec<String> = ids.map(|id| group_key(id)).collect();
        let mut entries = self.read_all(keys.iter())?;
        let mut groups = Vec::with_capacity(keys.len());
        for _ in keys {
            groups.push(load_next::<S, GroupRecord>(&mut entries)?);
        }
        Ok(groups)
    }

    /// Brings the groups of `entity` at a mount to what a login or a renewal there says, as part of `transaction`. Says whether
    /// that changes anything.
    pub(crate) fn follow_claims(
        &self,
        transaction: &mut Transaction,
        entity: &mut Loaded<Arc<EntityRecord>>,
        claimed: ClaimedGroups,
        mount_accessor: &str,
    ) -> Result<bool, StorageError> {
        let record = Arc::make_mut(&mut entity.record);
        let changed = claimed.apply(transaction, record, mount_accessor)?;
        if changed {
            let key = entity_key(&record.id);
            transaction
                .require(key.as_str(), entity.version)
                .put(key.as_str(), record)?;
        }
        Ok(changed)
    }
}

/// The parents of `groups` that are not in `seen`, which they are added to.
fn unseen_parents(seen: &mut BTreeSet<String>, groups: &[GroupRecord]) -> Vec<String> {
    let parents = groups.iter().flat_map(|group| group.parent_groups.iter());
    parents
        .filter(|parent| seen.insert((*parent).clone()))
        .cloned()
        .collect()
}
