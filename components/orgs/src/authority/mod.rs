//! The caller, and what they may do with an organization (contract 1.6, 1.7).

mod affiliation;
mod decision;
mod identify;
mod table;
mod teams_in_scope;

use crate::{Principal, identifier, users};
pub(crate) use teams_in_scope::TeamsInScope;

/// Tells what identifies a principal, and what it is called.
pub(crate) trait Named {
    /// The identifier: the id of a user, team or entity, or the external id of an organization.
    fn id(&self) -> &str;

    /// The name. A caller who is not a user has one too, which never changes (contract 1.11).
    fn username(&self) -> String;
}

impl Named for Principal {
    fn id(&self) -> &str {
        match self {
            Self::User(user) => &user.id,
            Self::Team(team) => &team.id,
            Self::Organization(id) | Self::AuditReader(id) => id,
            Self::Installation => INSTALLATION_NAME,
            Self::Workload(entity) => entity.as_deref().unwrap_or(NOBODY_NAME),
        }
    }

    fn username(&self) -> String {
        match self {
            Self::User(user) => user.username.clone(),
            Self::Team(team) => format!("api-team_{}", identifier::characters_of(&team.id)),
            Self::Organization(id) => format!("api-org-{}", identifier::characters_of(id)),
            Self::AuditReader(id) => format!("api-org-audit-{}", identifier::characters_of(id)),
            Self::Installation => INSTALLATION_NAME.to_owned(),
            Self::Workload(Some(entity)) => users::name_of_entity(entity),
            Self::Workload(None) => NOBODY_NAME.to_owned(),
        }
    }
}

/// The name of the installation.
pub(crate) const INSTALLATION_NAME: &str = "installation";

/// The name of workloads of which nothing is known but what their policies say.
pub(crate) const NOBODY_NAME: &str = "workload";
