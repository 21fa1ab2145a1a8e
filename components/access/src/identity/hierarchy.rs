//! Groups within groups: a member of the lower is a member of the higher, and none is ever below itself.

use std::collections::BTreeSet;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Loaded, Transaction};

use super::records::{GroupRecord, group_key};
use crate::api::{IdentityError, ServiceError};
use crate::service::AccessService;

/// Most levels of groups within groups: each is a read at every request of a member's tokens.
const MAXIMUM_LEVELS: usize = 8;

/// The direction to go from a group.
#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

/// The groups above or below a group.
struct Reach {
    ids: BTreeSet<String>,
    levels: usize,
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Stages other member groups, in `group` and in those groups.
    ///
    /// Every group that the decision rests on is checked, so that two changes cannot close a circle together.
    pub(super) fn stage_member_groups(
        &self,
        transaction: &mut Transaction,
        group: &mut GroupRecord,
        added: &[String],
        removed: &[String],
    ) -> Result<(), IdentityError> {
        if !added.is_empty() {
            let start = BTreeSet::from([group.id.clone()]);
            let parents = group.parent_groups.iter().cloned().collect();
            let above = self.reach(transaction, parents, Direction::Up)?;
            let cyclic = |id: &String| start.contains(id) || above.ids.contains(id);
            if added.iter().any(cyclic) {
                return Err(IdentityError::CyclicGroups);
            }
            let below = self.reach(
                transaction,
                added.iter().cloned().collect(),
                Direction::Down,
            )?;
            if above.levels + 1 + below.levels > MAXIMUM_LEVELS {
                return Err(IdentityError::TooDeep(MAXIMUM_LEVELS as u32));
            }
        }
        let now = self.clock.now_seconds();
        let ids = removed.iter().chain(added);
        for (at, (id, member)) in ids.clone().zip(self.read_groups(ids)?).enumerate() {
            let joins = at >= removed.len();
            let Some(Loaded {
                mut record,
                version,
            }) = member
            else {
                if joins {
                    return Err(IdentityError::UnknownMemberGroup(id.clone()));
                }
                continue;
            };
            record.parent_groups.retain(|parent| *parent != group.id);
            if joins {
                record.parent_groups.push(group.id.clone());
                record.parent_groups.sort_unstable();
            }
            record.touch(now);
            transaction
                .require(group_key(id), version)
                .put(group_key(id), &record)?;
        }
        group.member_groups.retain(|id| !removed.contains(id));
        group.member_groups.extend_from_slice(added);
        group.member_groups.sort_unstable();
        Ok(())
    }

    /// Takes a group that is being deleted out of the groups above and below it.
    pub(super) fn stage_detachment(
        &self,
        transaction: &mut Transaction,
        group: &GroupRecord,
    ) -> Result<(), IdentityError> {
        let now = self.clock.now_seconds();
        let neighbours = group.parent_groups.iter().chain(&group.member_groups);
        for neighbour in self.read_groups(neighbours)?.into_iter().flatten() {
            let Loaded {
                mut record,
                version,
            } = neighbour;
            record.parent_groups.retain(|id| *id != group.id);
            record.member_groups.retain(|id| *id != group.id);
            record.touch(now);
            let key = group_key(&record.id);
            transaction
                .require(key.as_str(), version)
                .put(key.as_str(), &record)?;
        }
        Ok(())
    }

    /// All groups from those of `level` on in one direction, each checked to be as it was read.
    fn reach(
        &self,
        transaction: &mut Transaction,
        mut level: BTreeSet<String>,
        direction: Direction,
    ) -> Result<Reach, ServiceError> {
        let mut reach = Reach {
            ids: BTreeSet::new(),
            levels: 0,
        };
        while !level.is_empty() {
            reach.levels += 1;
            let mut next = BTreeSet::new();
            for group in self.read_groups(level.iter())?.into_iter().flatten() {
                transaction.require(group_key(&group.record.id), group.version);
                next.extend(match direction {
                    Direction::Up => group.record.parent_groups,
                    Direction::Down => group.record.member_groups,
                });
            }
            reach.ids.append(&mut level);
            level = next.difference(&reach.ids).cloned().collect();
        }
        Ok(reach)
    }
}
