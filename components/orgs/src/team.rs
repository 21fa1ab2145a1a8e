//! Teams and memberships as they are stored.
//!
//! Every organization has the team `owners`, which cannot be removed. Who belongs to an organization has a membership, and the
//! membership tells the teams.

use std::collections::BTreeSet;

use crate::{MembershipStatus, OWNERS, Right, Visibility};
use gatehouse_storage::{Cacheable, Record};
use serde::{Deserialize, Serialize};

/// Rights of a team, none of them twice.
pub(crate) type Rights = BTreeSet<Right>;

pub(crate) const TEAM_PREFIX: &str = "team-";
pub(crate) const MEMBERSHIP_PREFIX: &str = "ou-";

/// A team as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TeamRecord {
    pub id: String,
    pub name: String,
    /// Milliseconds since 1970.
    pub created_at: u64,
    pub visibility: Visibility,
    /// The rights of its members; those of the owners have all, whatever stands here.
    pub rights: Rights,
    pub sso_team_id: Option<String>,
    pub allow_member_token_management: bool,
}

impl Record for TeamRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for TeamRecord {}

impl TeamRecord {
    /// True if it is the team that may do everything. No other team can have its name.
    pub fn is_owners(&self) -> bool {
        self.name == OWNERS
    }

    /// The rights of its members.
    pub fn rights_in_force(&self) -> Rights {
        if self.is_owners() {
            Right::ALL.into()
        } else {
            self.rights.clone()
        }
    }
}

/// A membership as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MembershipRecord {
    pub id: String,
    /// The user who belongs; `None` of an invitation.
    pub user: Option<String>,
    pub email: String,
    pub status: MembershipStatus,
    /// The ids of its teams, each once.
    pub teams: Vec<String>,
    /// Milliseconds since 1970.
    pub created_at: u64,
}

impl Record for MembershipRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for MembershipRecord {}

impl MembershipRecord {
    pub fn is_active(&self) -> bool {
        self.status == MembershipStatus::Active
    }

    /// True if it is a membership in the team with this id.
    pub fn is_of(&self, team: &str) -> bool {
        self.teams.iter().any(|id| id == team)
    }
}

/// The key that tells that a user belongs to an organization, for the way from users to organizations.
pub(crate) fn membership_of_key(user: &str, external_id: &str) -> String {
    format!("{}{external_id}", membership_of_prefix(user))
}

/// Before the organizations of a user.
pub(crate) fn membership_of_prefix(user: &str) -> String {
    format!("membership-of/{user}/")
}
