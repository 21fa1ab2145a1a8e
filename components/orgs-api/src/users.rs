//! The interface `users`: its functions, its error texts, and the schema of users, who are kept as they are shown.

use gatehouse_storage::wraps_failure;

use crate::{AttributeIssue, Caller, Failure, Identity, IssuedToken, User, UserDescription};

impl gatehouse_storage::Record for User {
    const SCHEMA: u16 = 1;
}

impl gatehouse_storage::Cacheable for User {}

/// Why a user was not made. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateUserError {
    /// At least one attribute is invalid.
    #[error("{} attributes of the user are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// People, and what they log in with. The WIT interface is the specification.
pub trait Users {
    /// Makes a user with a first token.
    fn create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<(User, IssuedToken), CreateUserError>;

    /// The users with these ids, in their order; `None` for those there are not.
    fn users(&self, ids: &[String]) -> Result<Vec<Option<User>>, Failure>;

    /// The user behind an identity; for a team, an organization or a workload that is none, the one that stands for it: always the same,
    /// and stored nowhere (contract 1.11).
    fn account_of(&self, identity: &Identity) -> Result<User, Failure>;

    /// True if the caller belongs to an organization that the user with this id belongs to as well: as a member, as one of its teams, or as
    /// the organization itself.
    fn shares_organization(&self, identity: &Identity, user: &str) -> Result<bool, Failure>;
}

wraps_failure!(Failure: CreateUserError);
