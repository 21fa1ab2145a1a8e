//! Users: people, and workloads that have been made users.

mod account;
mod fellows;
mod store;

pub(crate) use account::id_of_user;
pub(crate) use store::{is_reserved_address, name_of_entity, user_key, username_key};

use serde::{Deserialize, Serialize};

use crate::{AttributeIssue, Caller, Failure, Identity, IssuedToken};

/// Somebody who can belong to organizations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// `user-` and 16 letters and digits, which follow from the address.
    pub id: String,
    /// Unique without regard to case: 1 to 90 of `A-Z a-z 0-9 _ -`.
    pub username: String,
    /// Unique without regard to case.
    pub email: String,
    /// Administers the whole installation.
    pub site_administrator: bool,
    /// Cannot log in.
    #[serde(default)]
    pub suspended: bool,
    /// Who this is elsewhere; `None` for people.
    pub subject: Option<Subject>,
    /// Milliseconds since 1970-01-01T00:00Z.
    pub created_at: u64,
}

/// A user who is somebody elsewhere, and comes with a service token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The entity of a workload, by its id.
    Entity(String),
    /// The installation: whoever holds a root token.
    Installation,
}

/// What a new user is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDescription {
    /// See [`User::username`].
    pub username: String,
    /// See [`User::email`].
    pub email: String,
    /// See [`User::site_administrator`].
    pub site_administrator: bool,
}

/// Why a user was not made. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateUserError {
    /// At least one attribute is not as it must be.
    #[error("{} attributes of the user are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// Not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// People, and what they log in with.
pub trait Users {
    /// Makes a user with a first token. Invitations to the address wait until the user accepts them.
    ///
    /// # Errors
    ///
    /// [`CreateUserError::Invalid`] with every fault at once: a name or address that is malformed, or that somebody has.
    fn create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<(User, IssuedToken), CreateUserError>;

    /// The users with these ids, in their order; `None` for those there are not.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn users(&self, ids: &[String]) -> Result<Vec<Option<User>>, Failure>;

    /// The user that somebody is; for a team, an organization or a workload that is none, the one that stands for it: always the
    /// same, and stored nowhere (contract 1.11).
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn account_of(&self, identity: &Identity) -> Result<User, Failure>;

    /// True if the caller belongs to an organization that the user with this id belongs to as well: as a member, as one of its teams, or
    /// as the organization itself. Invitations do not count, nor do organizations that are closed to the caller. False for an unknown id.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn shares_organization(&self, identity: &Identity, user: &str) -> Result<bool, Failure>;
}
