//! Who asks, and what they may do with an organization (contract 1.6, 1.7).

mod identify;
mod mandate;
mod table;

use zeroize::Zeroizing;

use crate::{
    Edition, Failure, Organization, Rights, Standing, TeamReference, User, identifier, users,
};

pub use mandate::Mandate;
pub use table::Action;

/// What somebody proves who they are with.
#[derive(Clone)]
pub enum Credential {
    /// A token that this capability has issued: its text, a secret.
    ApiToken(Zeroizing<String>),
    /// A service token of an entity, which somebody else has checked: the id of the entity.
    Entity(String),
    /// A service token that may do everything, which somebody else has checked.
    Root,
    /// A service token without an entity, which somebody else has checked.
    Nobody,
}

/// Who somebody is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// A person, or a workload that has been made a user.
    User(User),
    /// A team, by one of its tokens.
    Team(TeamReference),
    /// An organization, by its token: the external id.
    Organization(String),
    /// The reader of an organization's audit trail: the external id.
    AuditReader(String),
    /// The installation itself: a root token.
    Installation,
    /// A workload that is no user here, by the id of its entity if it has one. It may do what its policies say.
    Workload(Option<String>),
}

impl Principal {
    /// What identifies them: the id of a user, team or entity, or the external id of an organization.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::User(user) => &user.id,
            Self::Team(team) => &team.id,
            Self::Organization(id) | Self::AuditReader(id) => id,
            Self::Installation => INSTALLATION_NAME,
            Self::Workload(entity) => entity.as_deref().unwrap_or(NOBODY_NAME),
        }
    }

    /// What they are called. Who is no user has a name of its own all the same, which stays (contract 1.11).
    #[must_use]
    pub fn username(&self) -> String {
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

/// What the installation is called.
pub(crate) const INSTALLATION_NAME: &str = "installation";

/// What those are called of whom nothing is known but what their policies say.
pub(crate) const NOBODY_NAME: &str = "workload";

/// Somebody, known by a valid credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who it is.
    pub principal: Principal,
    /// The id of the token that was presented, where this capability has issued it.
    pub token_id: Option<String>,
}

impl Identity {
    /// Whether they administer the whole installation.
    #[must_use]
    pub const fn is_site_administrator(&self) -> bool {
        match &self.principal {
            Principal::Installation => true,
            Principal::User(user) => user.site_administrator,
            _ => false,
        }
    }

    /// Whether they may make, see and end the tokens of the user with this id: the user may, and who administers the installation.
    ///
    /// A workload that is a user may not make itself tokens of this API: they would outlive what its cloud identity is good for.
    #[must_use]
    pub fn manages_tokens_of(&self, user: &str) -> bool {
        let is_person = |own: &User| own.id == user && own.subject.is_none();
        self.is_site_administrator()
            || matches!(&self.principal, Principal::User(own) if is_person(own))
    }
}

/// What is to happen about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may proceed.
    Allowed,
    /// To the caller there is no such organization.
    Hidden,
    /// It may not, and the caller may know.
    Forbidden,
    /// The organization does not open to tokens of users.
    UserTokensOff,
}

/// What somebody is to an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The organization.
    pub organization: Organization,
    /// What they are to it by membership or token; `None` for outsiders.
    pub standing: Option<Standing>,
    /// What their teams let them do.
    pub rights: Rights,
    /// The ids of their teams.
    pub teams: Vec<String>,
    /// What is to happen about the action that was asked about.
    pub decision: Decision,
}

/// What ties somebody to an organization, whatever they may do there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// What they are to it by membership or token; `None` for outsiders.
    pub standing: Option<Standing>,
    /// What their teams let them do.
    pub rights: Rights,
}

/// The organization to which something belongs, as it was when somebody looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwningOrganization {
    /// Stays through renames, and no other organization ever has it.
    pub external_id: String,
    /// The name, which another organization can have by now.
    pub name: String,
}

/// Tells who somebody is, and what they may do.
pub trait Authority {
    /// Who presents the credential; `None` if it is worth nothing: unknown, expired, revoked, or its owner gone or suspended.
    /// A token's last use is noted, at most once a minute.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn identify(&self, credential: &Credential) -> Result<Option<Identity>, Failure>;

    /// What they are to the organization of this name, and whether they may do `action` there (contract 1.7). `granted` says that
    /// policies allow it besides. `None` where there is no such organization; it takes as long to say as that it is hidden.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn position_in(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
        name: &str,
        action: Action,
    ) -> Result<Option<Position>, Failure>;

    /// What they are to each of the organizations with these external ids, in their order, for lists: it takes a few reads for all of
    /// them together. Of what does not exist they are what they are to everything.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn ties(&self, identity: &Identity, external_ids: &[String]) -> Result<Vec<Tie>, Failure>;

    /// Whether they may make an organization (contract 1.7): people may; a workload if policies allow it, which `granted` says. Where
    /// the settings of a self-hosted installation leave that to its administrators, it is forbidden to them all the same.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn creation(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
    ) -> Result<Decision, Failure>;

    /// The organization to which something with this identifier belongs: a team, membership, agent pool, token, project,
    /// subscription, or the organization itself by its external id. `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn organization_of(&self, id: &str) -> Result<Option<OwningOrganization>, Failure>;
}
