//! Groups as operators manage them (contract 7.2).

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction, commit_with_retries};

use super::checks::{checked_metadata, checked_name, checked_policies, is_identifier, wanted_name};
use super::group_aliases::group_alias_view;
use super::lists::{CHUNK, loaded};
use super::names::Named;
use super::records::{
    GROUP_NAME_PREFIX, GROUP_PREFIX, GroupAliasRecord, GroupRecord, OwnerRecord,
    group_alias_id_key, group_alias_key, group_key, member_key, members_prefix,
};
use crate::api::{
    AliasView, GroupChanges, GroupPage, GroupType, GroupView, Groups, IdentityError,
    IdentityReference, IdentityTarget, IdentityWritten, KeyPage, Mounts as _, ServiceError,
};
use crate::random;
use crate::records::{EntityRecord, entity_key};
use crate::service::{AccessService, load_next};

/// Most members and member groups that one write adds and removes, so that it fits one commit.
const MAXIMUM_CHANGES: usize = 400;
/// Most members of an internal group. Logins fill external ones, of which only as many are shown.
const MAXIMUM_MEMBERS: usize = 10_000;
/// Members read at a time: the record of each may be large.
const ROUND: usize = 100;

impl<S: Store, C: Clock, R: Random> Groups for AccessService<S, C, R> {
    fn read_group(&self, reference: &IdentityReference) -> Result<Option<GroupView>, ServiceError> {
        let Some(group) = self.find_owner::<GroupRecord>(reference)? else {
            return Ok(None);
        };
        let group = group.record;
        let (members, _) = self.members(&group.id, MAXIMUM_MEMBERS)?;
        let mut member_entity_ids = Vec::new();
        for members in members.chunks(ROUND) {
            let keys: Vec<String> = members.iter().map(|id| entity_key(id)).collect();
            let mut entries = self.read_all(keys.iter())?;
            for _ in keys {
                let entity = load_next::<S, EntityRecord>(&mut entries)?.map(|it| it.record);
                // The index of an external group may still name entities that an earlier alias of the group brought there.
                let member = entity.filter(|entity| entity.is_in(&group));
                member_entity_ids.extend(member.map(|entity| entity.id));
            }
        }
        let alias = match &group.alias {
            Some(alias) => self.group_alias_with_hash(&alias.hash)?,
            None => None,
        };
        Ok(Some(GroupView {
            member_entity_ids,
            alias,
            ..listed_group(group)
        }))
    }

    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, ServiceError> {
        let mounts = self.list_mounts()?;
        let position = after.map(group_key);
        self.page(GROUP_PREFIX, position, (limit, CHUNK), |items| {
            let groups = loaded::<S, GroupRecord>(items)?;
            let references = groups.iter().filter_map(|it| it.alias.as_ref());
            let hashes: Vec<String> = references.map(|alias| alias.hash.clone()).collect();
            let view = |alias| group_alias_view(alias, &mounts);
            let mut aliases: BTreeMap<String, AliasView> = self
                .indexed::<GroupAliasRecord, _>(&hashes, view)?
                .into_iter()
                .map(|alias| (alias.canonical_id.clone(), alias))
                .collect();
            let shown = groups.into_iter().map(|group| GroupView {
                alias: aliases.remove(&group.id),
                metadata: Vec::new(),
                ..listed_group(group)
            });
            Ok(shown.collect())
        })
        .map(|part| GroupPage {
            next: part.next(|group| &group.id),
            groups: part.items,
        })
    }

    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        let position = self.name_position(Named::Group, after)?;
        self.names_in(GROUP_NAME_PREFIX, position, limit, |it: GroupRecord| {
            it.name
        })
    }

    fn write_group(
        &self,
        target: &IdentityTarget,
        changes: &GroupChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        let policies = changes.policies.as_deref().map(checked_policies);
        let policies = policies.transpose()?;
        checked_metadata(changes.metadata.as_deref())?;
        commit_with_retries(&self.clock, &self.random, || {
            let now = self.clock.now_seconds();
            let mut transaction = Transaction::new();
            let found = self.find_target::<GroupRecord>(target)?;
            let name = wanted_name(target, found.is_none(), changes.name.as_deref());
            let (mut group, before) = match found {
                Some(found) => {
                    let mut group = found.record.clone();
                    if changes.group_type.is_some_and(|it| it != group.group_type) {
                        return Err(IdentityError::GroupTypeFixed);
                    }
                    if let Some(name) = name.filter(|name| *name != group.name) {
                        let (kind, old) = (Named::Group, &group.name);
                        group.name =
                            self.stage_rename(&mut transaction, kind, (old, name), &group.id)?;
                    }
                    (group, Some(found))
                }
                None => {
                    let group_type = changes.group_type.unwrap_or_default();
                    let name = name.map(checked_name).transpose()?;
                    let group = self.stage_group(&mut transaction, name, group_type, now)?;
                    (group, None)
                }
            };
            if let Some(policies) = &policies {
                group.policies.clone_from(policies);
            }
            if let Some(metadata) = &changes.metadata {
                group.metadata = metadata.iter().cloned().collect();
            }
            let members_changed =
                self.stage_group_members(&mut transaction, &mut group, changes)?;
            let written = IdentityWritten {
                id: group.id.clone(),
                name: group.name.clone(),
                created: before.is_none(),
            };
            let key = group_key(&group.id);
            if let Some(before) = before {
                if group == before.record && !members_changed {
                    return Ok(Attempt::Done(written));
                }
                group.touch(now);
                transaction.require(key.as_str(), before.version);
            }
            transaction.put(key.as_str(), &group)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, written)?)
        })
    }

    /// Removes a group with its alias. No entity is in it from then on, since a reference to a group that is gone has no effect; such
    /// references are removed afterwards.
    fn delete_group(&self, reference: &IdentityReference) -> Result<bool, IdentityError> {
        let removed = commit_with_retries(&self.clock, &self.random, || {
            let Some(Loaded { record, version }) = self.find_owner::<GroupRecord>(reference)?
            else {
                return Ok(Attempt::Done(None));
            };
            let key = group_key(&record.id);
            let mut transaction = Transaction::new();
            transaction
                .require(key.as_str(), version)
                .delete(key.as_str());
            self.stage_name_removal(&mut transaction, Named::Group, &record.name, &record.id)?;
            if let Some(alias) = &record.alias {
                transaction
                    .delete(group_alias_key(&alias.hash))
                    .delete(group_alias_id_key(&alias.id));
            }
            self.stage_detachment(&mut transaction, &record)?;
            let outcome = self.records.commit(transaction);
            Ok::<_, IdentityError>(Attempt::from_commit(outcome, Some(record))?)
        })?;
        if let Some(group) = &removed {
            self.forget_members(group)?;
        }
        Ok(removed.is_some())
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The identifiers of the first `most` entities that the group's index names, sorted, and whether there are more.
    fn members(&self, group_id: &str, most: usize) -> Result<(Vec<String>, bool), ServiceError> {
        let prefix = members_prefix(group_id);
        let mut members = Vec::new();
        let mut position = None;
        loop {
            let round = (most - members.len()).min(ROUND) as u32;
            let page = self
                .records
                .store()
                .scan(&prefix, position.as_deref(), round)?;
            position = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                let owner = Records::<S>::load::<OwnerRecord>(Some(item.entry))?;
                members.extend(owner.map(|owner| owner.record.entity_id));
            }
            if !page.more || members.len() >= most {
                return Ok((members, page.more));
            }
        }
    }

    /// A new group whose name is staged, and whose record the caller stores. Without a name it gets one.
    pub(super) fn stage_group(
        &self,
        transaction: &mut Transaction,
        name: Option<String>,
        group_type: GroupType,
        now: u64,
    ) -> Result<GroupRecord, IdentityError> {
        let id = random::uuid(&self.random)?;
        let name = match name {
            Some(name) => name,
            None => format!("group_{}", random::eight_digits(&self.random)?),
        };
        self.require_free_name(Named::Group, &name)?;
        self.stage_name(transaction, Named::Group, &name, &id)?;
        Ok(GroupRecord {
            id,
            name,
            group_type,
            policies: Vec::new(),
            metadata: BTreeMap::new(),
            member_groups: Vec::new(),
            parent_groups: Vec::new(),
            alias: None,
            creation_time: now,
            last_update_time: now,
            modify_index: 1,
        })
    }

    /// Stages members and member groups as `changes` ask, and returns true if that changes anything.
    fn stage_group_members(
        &self,
        transaction: &mut Transaction,
        group: &mut GroupRecord,
        changes: &GroupChanges,
    ) -> Result<bool, IdentityError> {
        let entities = changes.member_entity_ids.as_deref();
        let groups = changes.member_group_ids.as_deref();
        if group.group_type == GroupType::External {
            let some = |ids: Option<&[String]>| ids.is_some_and(|ids| !ids.is_empty());
            if some(entities) || some(groups) {
                return Err(IdentityError::ExternalMembers);
            }
            return Ok(false);
        }
        let mut changed = 0;
        if let Some(wanted) = entities {
            let (present, _) = self.members(&group.id, MAXIMUM_MEMBERS + MAXIMUM_CHANGES)?;
            let (added, removed) = difference(&present, wanted);
            changed += added.len() + removed.len();
            require_few(changed)?;
            if !added.is_empty() && present.len() + added.len() - removed.len() > MAXIMUM_MEMBERS {
                return Err(IdentityError::TooManyMembers(MAXIMUM_MEMBERS as u32));
            }
            if let Some(id) = added.iter().find(|id| !is_identifier(id)) {
                return Err(IdentityError::UnknownMemberEntity(id.clone()));
            }
            self.stage_members(transaction, &group.id, &added, &removed)?;
        }
        if let Some(wanted) = groups {
            let (added, removed) = difference(&group.member_groups, wanted);
            changed += added.len() + removed.len();
            require_few(changed)?;
            if let Some(id) = added.iter().find(|id| !is_identifier(id)) {
                return Err(IdentityError::UnknownMemberGroup(id.clone()));
            }
            self.stage_member_groups(transaction, group, &added, &removed)?;
        }
        Ok(changed > 0)
    }

    /// Removes the references between a group that is gone and its members, in commits of a bounded size.
    ///
    /// It handles at most [`MAXIMUM_MEMBERS`], which is all of an internal group; for an external one the next login of each member
    /// removes the rest.
    fn forget_members(&self, group: &GroupRecord) -> Result<(), IdentityError> {
        let (members, _) = self.members(&group.id, MAXIMUM_MEMBERS)?;
        for members in members.chunks(MAXIMUM_CHANGES) {
            commit_with_retries(&self.clock, &self.random, || {
                let mut transaction = Transaction::new();
                match group.group_type {
                    GroupType::Internal => {
                        self.stage_members(&mut transaction, &group.id, &[], members)?;
                    }
                    // The next login of an entity determines its external groups again.
                    GroupType::External => {
                        for member in members {
                            transaction.delete(member_key(&group.id, member));
                        }
                    }
                }
                let outcome = self.records.commit(transaction);
                Ok::<_, IdentityError>(Attempt::from_commit(outcome, ())?)
            })?;
        }
        Ok(())
    }
}

impl GroupRecord {
    /// Notes a change at `now`.
    pub(super) fn touch(&mut self, now: u64) {
        self.last_update_time = now;
        self.modify_index = self.modify_index.saturating_add(1);
    }
}

/// The identifiers to add and those to remove to get from `present` to `wanted`.
fn difference(present: &[String], wanted: &[String]) -> (Vec<String>, Vec<String>) {
    let present: BTreeSet<&String> = present.iter().collect();
    let wanted: BTreeSet<&String> = wanted.iter().filter(|id| !id.is_empty()).collect();
    let missing = |of: &BTreeSet<&String>, from: &BTreeSet<&String>| {
        from.difference(of).map(|id| (*id).clone()).collect()
    };
    (missing(&present, &wanted), missing(&wanted, &present))
}

fn require_few(changes: usize) -> Result<(), IdentityError> {
    if changes > MAXIMUM_CHANGES {
        return Err(IdentityError::TooManyChanges(MAXIMUM_CHANGES as u32));
    }
    Ok(())
}

/// The group as a list shows it, without members and alias.
pub(super) fn listed_group(group: GroupRecord) -> GroupView {
    GroupView {
        id: group.id,
        name: group.name,
        group_type: group.group_type,
        policies: group.policies,
        metadata: group.metadata.into_iter().collect(),
        member_entity_ids: Vec::new(),
        member_group_ids: group.member_groups,
        parent_group_ids: group.parent_groups,
        alias: None,
        modify_index: group.modify_index,
        creation_time: group.creation_time,
        last_update_time: group.last_update_time,
    }
}
