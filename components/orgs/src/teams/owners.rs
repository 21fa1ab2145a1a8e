//! The owners of an organization, in a record of their own, so that they are found without reading all members.
//!
//! - `of/<external id>/owners/active`: the active members of the team of the owners. Every change of them writes it. Where it is absent, as
//!   in a store of an older release, the memberships are read.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store, Version};
use gatehouse_storage::{Loaded, Record, Transaction};
use serde::{Deserialize, Serialize};

use crate::owned_keys::{self, kind};
use crate::team::{MembershipRecord, TeamRecord};
use crate::{Orgs, ServiceError};

/// The most owners that one record holds, far below the limit of a store. Beyond it the memberships are read each time.
const MOST: usize = 10_000;

/// The number of memberships from which on a read stores the owners that it found.
const WORTH_WRITING: u32 = 64;

/// The ids of the users who own an organization, by the ids of their memberships.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnersRecord {
    users: BTreeMap<String, String>,
}

impl Record for OwnersRecord {
    const SCHEMA: u16 = 1;
}

impl OwnersRecord {
    /// The ids of the users, in no order.
    pub fn users(&self) -> impl Iterator<Item = &String> {
        self.users.values()
    }
}

fn owners_key(organization: &str) -> String {
    owned_keys::key(organization, kind::OWNERS, "active")
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Adds to `transaction` that these members, who are active, join the team of the owners.
    pub(crate) fn owners_join<'m>(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        team: &str,
        members: impl IntoIterator<Item = (&'m str, &'m str)>,
    ) -> Result<(), ServiceError> {
        let (mut owners, version) = self.load_owners(organization, team)?;
        for (membership, user) in members {
            owners.users.insert(membership.to_owned(), user.to_owned());
        }
        put_owners(transaction, organization, version, &owners)
    }

    /// Adds to `transaction`, which ends the ownership of the memberships for whose ids `leaves` is true, that another member still owns
    /// the organization after it; false where none does. The team of the owners must have been read before.
    ///
    /// Owners who leave at the same time meet in the record of their team, which each of them writes.
    pub(crate) fn keep_an_owner(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        team: &Loaded<TeamRecord>,
        leaves: impl Fn(&str) -> bool,
    ) -> Result<bool, ServiceError> {
        let id = &team.record.id;
        let key = owned_keys::key(organization, kind::TEAM, id);
        transaction
            .require(&key, team.version)
            .put(key, &team.record)?;
        let (mut owners, version) = self.load_owners(organization, id)?;
        owners.users.retain(|membership, _| !leaves(membership));
        put_owners(transaction, organization, version, &owners)?;
        Ok(!owners.users.is_empty())
    }

    /// The owners of an organization. They are stored if finding them took many reads.
    pub(crate) fn owners_in(
        &self,
        organization: &str,
        team: &str,
    ) -> Result<OwnersRecord, ServiceError> {
        if let Some(stored) = self
            .records
            .get::<OwnersRecord>(&owners_key(organization))?
        {
            return Ok(stored.record);
        }
        let (owners, looked_at) = self.owners_among_members(organization, team)?;
        if looked_at >= WORTH_WRITING {
            let mut transaction = Transaction::new();
            if self.require_existing(&mut transaction, organization)? {
                put_owners(&mut transaction, organization, None, &owners)?;
                // This may fail: a request that changed the owners meanwhile has written them, and a store that takes no writes can still
                // be read.
                let _ = self.records.commit(transaction);
            }
        }
        Ok(owners)
    }

    fn load_owners(
        &self,
        organization: &str,
        team: &str,
    ) -> Result<(OwnersRecord, Option<Version>), ServiceError> {
        let stored = self
            .records
            .get::<OwnersRecord>(&owners_key(organization))?;
        match stored {
            Some(stored) => Ok((stored.record, Some(stored.version))),
            None => Ok((self.owners_among_members(organization, team)?.0, None)),
        }
    }

    /// The owners according to the memberships, and the number of memberships that were read.
    fn owners_among_members(
        &self,
        organization: &str,
        team: &str,
    ) -> Result<(OwnersRecord, u32), ServiceError> {
        let mut owners = OwnersRecord::default();
        let mut looked_at: u32 = 0;
        let prefix = owned_keys::prefix(organization, kind::MEMBERSHIP);
        self.for_each_record::<MembershipRecord>(&prefix, |member| {
            looked_at = looked_at.saturating_add(1);
            let member = member.record;
            if member.is_active()
                && member.is_of(team)
                && let Some(user) = member.user
            {
                owners.users.insert(member.id, user);
            }
            Ok(())
        })?;
        Ok((owners, looked_at))
    }
}

fn put_owners(
    transaction: &mut Transaction,
    organization: &str,
    version: Option<Version>,
    owners: &OwnersRecord,
) -> Result<(), ServiceError> {
    let key = owners_key(organization);
    transaction.require_unchanged(&key, version);
    if owners.users.len() <= MOST {
        transaction.put(key, owners)?;
    } else {
        transaction.delete(key);
    }
    Ok(())
}
