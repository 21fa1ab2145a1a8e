//! The end of a team.
//!
//! A team is gone with one commit: nothing counts of a team that is not there, neither a membership that names it nor a token of
//! it. What it left is cleared away afterwards: at once, and by [`crate::Organizations::maintain`] where that was cut off. Tokens
//! go as those of pools do ([`crate::removal`]).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{
    Attempt, Record, Transaction, TransactionError, commit_with_retries, decode,
};
use serde::{Deserialize, Serialize};

use super::TeamError;
use super::members::put_changed;
use crate::belonging::{self, kind};
use crate::founding::team_name_key;
use crate::name::FoldedTeamName;
use crate::team::MembershipRecord;
use crate::{Caller, Failure, Mandate, Orgs, Resource, removal};

const REMOVED_PREFIX: &str = "removed-team/";

/// Most members cleared away in one commit.
const PER_COMMIT: usize = 100;

/// That a team is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RemovedTeamRecord {
    /// The external id.
    organization: String,
}

impl Record for RemovedTeamRecord {
    const SCHEMA: u16 = 1;
}

fn removed_key(id: &str) -> String {
    format!("{REMOVED_PREFIX}{id}")
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn try_delete_team(
        &self,
        organization: &str,
        id: &str,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<Attempt<()>, TeamError> {
        let team = self.team_within_reach(organization, id, mandate)?;
        if team.record.is_owners() {
            return Err(TeamError::Protected);
        }
        let removed = RemovedTeamRecord {
            organization: organization.to_owned(),
        };
        let mut transaction = Transaction::new();
        transaction
            .require(belonging::key(organization, kind::TEAM, id), team.version)
            .put(removed_key(id), &removed)?;
        removal::mark(&mut transaction, id)?;
        belonging::delete(&mut transaction, organization, kind::TEAM, id);
        if let Some(name) = FoldedTeamName::of(&team.record.name) {
            transaction.delete(team_name_key(organization, &name));
        }
        self.note(
            &mut transaction,
            organization,
            by,
            Resource::Team.destroyed(id),
        )?;
        Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
    }

    /// Clears away what teams left that are gone.
    pub(crate) fn sweep_teams(&self) -> Result<(), Failure> {
        self.for_each_marked(REMOVED_PREFIX, |id, item| {
            let removed: RemovedTeamRecord = decode(&item.entry.value)?;
            self.sweep_team(&removed.organization, id)
        })
    }

    /// Clears away what a team left that is gone.
    pub(super) fn sweep_team(&self, organization: &str, id: &str) -> Result<(), Failure> {
        let members = self.all_of::<MembershipRecord>(organization, kind::MEMBERSHIP)?;
        let members = members.into_iter().map(|member| member.record);
        let left: Vec<String> = members
            .filter(|member| member.is_of(id))
            .map(|member| member.id)
            .collect();
        for members in left.chunks(PER_COMMIT) {
            commit_with_retries(&self.clock, &self.random, || {
                self.try_let_go(organization, id, members)
            })?;
        }
        let mut transaction = Transaction::new();
        transaction.delete(removed_key(id));
        match self.records.commit(transaction) {
            Ok(()) | Err(TransactionError::Conflict(_)) => self.sweep(id),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }

    /// Takes the team out of these memberships.
    fn try_let_go(
        &self,
        organization: &str,
        id: &str,
        members: &[String],
    ) -> Result<Attempt<()>, Failure> {
        let key = |member: &String| belonging::key(organization, kind::MEMBERSHIP, member);
        let keys: Vec<String> = members.iter().map(key).collect();
        let mut transaction = Transaction::new();
        for mut member in self
            .get_many::<MembershipRecord>(&keys)?
            .into_iter()
            .flatten()
        {
            member.record.teams.retain(|team| team != id);
            put_changed(&mut transaction, organization, &member)?;
        }
        Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
    }
}
