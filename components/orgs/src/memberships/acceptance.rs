//! Invitations, and what becomes of them when there is a user with their address.
//!
//! - `of/<external id>/invited/<hash of the address>`: the membership that waits for the address.
//! - `invitation/<hash>/<membership id>`: that it waits, and in which organization.
//! - `invitations/<hash>`: written with every invitation to the address, so that one who becomes a user at the same moment misses
//!   none. It is over after a while, for it matters only while a commit is in the making.
//! - `accepting/<user id>`: that the user has more invitations than one commit takes, and the rest is still being accepted.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Record, Transaction, commit_with_retries, decode};
use serde::{Deserialize, Serialize};

use crate::belonging::{self, PointerRecord, kind};
use crate::record::{ExternalIdRecord, external_id_key};
use crate::team::{MembershipRecord, MembershipStatus, membership_of_key};
use crate::{Failure, Orgs, User};

/// Most invitations accepted in one commit.
const PER_COMMIT: u32 = 50;

/// Most commits that one request, or one round of upkeep, makes for one user.
const COMMITS_AT_ONCE: u32 = 20;

const ACCEPTING_PREFIX: &str = "accepting/";

/// How long, in milliseconds, an invitation can be told to one who is just becoming a user: far longer than that takes.
const STAMP_LIFE: u64 = 600_000;

/// In which organization a membership waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InvitationRecord {
    /// The external id.
    pub organization: String,
}

impl Record for InvitationRecord {
    const SCHEMA: u16 = 1;
}

/// Nothing but the version under which it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StampRecord {}

impl Record for StampRecord {
    const SCHEMA: u16 = 1;
}

pub(super) fn invited_key(organization: &str, hash: &str) -> String {
    belonging::key(organization, kind::INVITED, hash)
}

pub(super) fn invitation_key(hash: &str, membership: &str) -> String {
    format!("{}{membership}", invitations_prefix(hash))
}

fn stamp_key(hash: &str) -> String {
    format!("invitations/{hash}")
}

fn invitations_prefix(hash: &str) -> String {
    format!("invitation/{hash}/")
}

fn accepting_key(user: &str) -> String {
    format!("{ACCEPTING_PREFIX}{user}")
}

/// Adds to `transaction` the end of an invitation whose organization is gone.
pub(crate) fn end_invitation_of_sweep(transaction: &mut Transaction, hash: &str, membership: &str) {
    transaction.delete(invitation_key(hash, membership));
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Adds to `transaction` that the address with this hash has one more invitation.
    pub(super) fn put_stamp(
        &self,
        transaction: &mut Transaction,
        hash: &str,
    ) -> Result<(), Failure> {
        let end = self.clock.now_milliseconds().saturating_add(STAMP_LIFE);
        transaction.put_until(stamp_key(hash), &StampRecord {}, Some(end))?;
        Ok(())
    }

    /// Adds to `transaction`, which makes the user, that they accept the invitations to their address. Says whether there are
    /// more than that; [`Self::accept_rest`] then accepts those.
    pub(crate) fn accept_first(
        &self,
        transaction: &mut Transaction,
        user: &User,
    ) -> Result<bool, Failure> {
        let has_more = self.accept_some(transaction, user)?;
        if has_more {
            transaction.put(accepting_key(&user.id), &StampRecord {})?;
        }
        Ok(has_more)
    }

    /// Accepts the invitations to the user's address that are left, as far as it goes at once.
    pub(crate) fn accept_rest(&self, user: &User) -> Result<(), Failure> {
        for _ in 0..COMMITS_AT_ONCE {
            let has_more = commit_with_retries(&self.clock, &self.random, || {
                let mut transaction = Transaction::new();
                let has_more = self.accept_some(&mut transaction, user)?;
                if !has_more {
                    transaction.delete(accepting_key(&user.id));
                }
                let outcome = self.records.commit(transaction);
                Ok::<_, Failure>(Attempt::from_commit(outcome, has_more)?)
            })?;
            if !has_more {
                break;
            }
        }
        Ok(())
    }

    /// Goes on with what [`Self::accept_rest`] could not finish.
    pub(crate) fn accept_what_is_left(&self) -> Result<(), Failure> {
        self.for_each_marked(ACCEPTING_PREFIX, |id, _| match self.load_user(id)? {
            Some(user) => self.accept_rest(&user),
            None => Ok(()),
        })
    }

    /// Adds to `transaction` that the user accepts some of the invitations to their address; true if others are left.
    fn accept_some(&self, transaction: &mut Transaction, user: &User) -> Result<bool, Failure> {
        let hash = self.email_hash(&user.email)?;
        let stamp_key = stamp_key(&hash);
        let stamp = self.records.get::<StampRecord>(&stamp_key)?;
        transaction.require_unchanged(&stamp_key, stamp.map(|stamp| stamp.version));
        let prefix = invitations_prefix(&hash);
        let found = self.records.store().scan(&prefix, None, PER_COMMIT)?;
        let mut organizations = Vec::with_capacity(found.items.len());
        let mut keys = Vec::with_capacity(found.items.len());
        for item in &found.items {
            let invitation: InvitationRecord = decode(&item.entry.value)?;
            let id = item.key.strip_prefix(&prefix).unwrap_or_default();
            let organization = invitation.organization;
            keys.push(belonging::key(&organization, kind::MEMBERSHIP, id));
            organizations.push(organization);
            transaction.delete(&item.key);
        }
        let existing: Vec<String> = organizations.iter().map(|id| external_id_key(id)).collect();
        let existing = self.get_many::<ExternalIdRecord>(&existing)?;
        let memberships = self.get_many::<MembershipRecord>(&keys)?;
        for ((organization, existing), membership) in
            organizations.iter().zip(existing).zip(memberships)
        {
            // Of an organization that is gone nothing is left to accept.
            if let (Some(existing), Some(membership)) = (existing, membership) {
                transaction.require(external_id_key(organization), existing.version);
                accept(transaction, organization, &hash, membership, user)?;
            }
        }
        Ok(found.more)
    }

    /// Adds to `transaction` the end of an invitation that nobody has accepted.
    pub(super) fn end_invitation(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        membership: &MembershipRecord,
    ) -> Result<(), Failure> {
        let hash = self.email_hash(&membership.email)?;
        transaction
            .delete(invited_key(organization, &hash))
            .delete(invitation_key(&hash, &membership.id));
        Ok(())
    }
}

fn accept(
    transaction: &mut Transaction,
    organization: &str,
    hash: &str,
    membership: Loaded<MembershipRecord>,
    user: &User,
) -> Result<(), Failure> {
    let key = belonging::key(organization, kind::MEMBERSHIP, &membership.record.id);
    let pointer = PointerRecord::to(&membership.record.id);
    let accepted = MembershipRecord {
        user: Some(user.id.clone()),
        email: user.email.clone(),
        status: MembershipStatus::Active,
        ..membership.record
    };
    transaction
        .require(&key, membership.version)
        .put(key, &accepted)?
        .delete(invited_key(organization, hash))
        .put(
            belonging::key(organization, kind::MEMBER, &user.id),
            &pointer,
        )?
        .put(membership_of_key(&user.id, organization), &pointer)?;
    Ok(())
}
