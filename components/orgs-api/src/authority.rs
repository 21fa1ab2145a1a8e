//! The interface `authority`: its functions, its credential, which holds a secret, and identities.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    Action, Decision, Edition, Failure, Identity, Mandate, OwningOrganization, Position, Principal,
    Standing, Tie, User,
};

/// What callers prove who they are with. It is wiped from memory when it is dropped, and cannot be printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub enum Credential {
    /// A token that this capability has issued: its text, a secret.
    ApiToken(String),
    /// A service token of an entity, which the gateway has checked: the id of the entity.
    Entity(String),
    /// A service token that may do everything, which the gateway has checked.
    Root,
    /// A service token without an entity, which the gateway has checked.
    Nobody,
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

impl Position {
    /// What a caller in this position can pass on by their standing in the organization. By policies it may be more.
    #[must_use]
    pub fn mandate(&self) -> Mandate {
        Mandate {
            standing: self.standing.unwrap_or(Standing::Member),
            rights: self.rights.clone(),
            teams: self.teams.clone(),
        }
    }
}

/// Tells who a caller is, and what they may do.
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
