//! The end of a team.
//!
//! A team is gone with one commit: nothing counts of a team that is not there, neither a membership that names it nor a token of
//! it. What it left is cleared away afterwards, a part of the memberships at a time: the mark of the team tells how far that has
//! come. Where there are few it is done at once, otherwise by [`crate::Organizations::clear_teams_away`]. Tokens go as those of
//! pools do ([`crate::removal`]).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Record, Transaction, decode};
use serde::{Deserialize, Serialize};

use super::members::put_changed;
use crate::audit_trail::AuditedOperations as _;
use crate::initial_resources::team_name_key;
use crate::name::FoldedTeamName;
use crate::owned_keys::{self, kind};
use crate::team::MembershipRecord;
use crate::{Caller, DelegationScope, Orgs, Resource, ServiceError, TeamError, removal};

const REMOVED_PREFIX: &str = "removed-team/";

/// How many memberships are looked at for one commit.
const PER_COMMIT: u32 = 200;

/// Most commits that one request, or one turn in a round of upkeep, makes for one team.
const COMMITS_AT_ONCE: u32 = 5;

/// The mark of a team that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RemovedTeamRecord {
    /// The external id.
    organization: String,
    /// The id of the membership to which they have been cleared.
    #[serde(default)]
    after: Option<String>,
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
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<()>, TeamError> {
        let team = self.team_within_reach(organization, id, scope)?;
        if team.record.is_owners() {
            return Err(TeamError::Protected);
        }
        let removed = RemovedTeamRecord {
            organization: organization.to_owned(),
            after: None,
        };
        let mut transaction = Transaction::new();
        transaction
            .require(owned_keys::key(organization, kind::TEAM, id), team.version)
            .put(removed_key(id), &removed)?;
        removal::mark(&mut transaction, id)?;
        owned_keys::delete(&mut transaction, organization, kind::TEAM, id);
        self.count_one_less(&mut transaction, organization, kind::TEAM)?;
        if let Some(name) = FoldedTeamName::fold(&team.record.name) {
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

    /// Clears away a part of what teams left that are gone.
    pub(crate) fn sweep_teams(&self) -> Result<(), ServiceError> {
        self.for_each_marked(REMOVED_PREFIX, |id| self.sweep_team(id))
    }

    /// Clears away what a team left in memberships, as far as it goes at once.
    pub(super) fn sweep_team(&self, id: &str) -> Result<(), ServiceError> {
        self.in_commits(COMMITS_AT_ONCE, || self.let_go(id))
    }

    /// Takes the team out of the next memberships; true once it is in none.
    fn let_go(&self, id: &str) -> Result<Attempt<bool>, ServiceError> {
        let mark = removed_key(id);
        let Some(removed) = self.records.get::<RemovedTeamRecord>(&mark)? else {
            return Ok(Attempt::Done(true));
        };
        let RemovedTeamRecord {
            organization,
            after,
        } = removed.record;
        let prefix = owned_keys::prefix(&organization, kind::MEMBERSHIP);
        let after = after.map(|id| format!("{prefix}{id}"));
        let found = self.scan_some(&prefix, after.as_deref(), PER_COMMIT)?;
        let mut transaction = Transaction::new();
        transaction.require(&mark, removed.version);
        for item in &found.items {
            let mut member = Loaded {
                record: decode::<MembershipRecord>(&item.entry.value)?,
                version: item.entry.version,
            };
            if member.record.is_of(id) {
                member.record.teams.retain(|team| team != id);
                put_changed(&mut transaction, &organization, &member)?;
            }
        }
        match found.items.last().filter(|_| found.more) {
            Some(last) => {
                let after = last.key.strip_prefix(&prefix).map(str::to_owned);
                let removed = RemovedTeamRecord {
                    organization,
                    after,
                };
                transaction.put(mark, &removed)?;
            }
            None => {
                transaction.delete(mark);
            }
        }
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, !found.more)?)
    }
}
