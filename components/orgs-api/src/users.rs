//! The interface `users`: its functions, its error texts, and the schema of users, who are kept as they are shown.

use gatehouse_storage::wraps_failure;

use crate::{
    Account, AttributeIssue, Caller, Identity, IssuedToken, ServiceError, User, UserDescription,
};

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
    Failed(#[from] ServiceError),
}

/// People, and what they log in with. The WIT interface is the specification.
pub trait Users {
    /// Makes a user with a first token.
    fn create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<(User, IssuedToken), CreateUserError>;

    /// The user behind an identity, and the organization whose token they present (contract 1.11).
    fn account_of(&self, identity: &Identity) -> Result<Account, ServiceError>;

    /// The user with this id, if the caller may know them: a site administrator may, and who belongs to an organization that the user belongs
    /// to as well.
    fn find_user(&self, identity: &Identity, id: &str) -> Result<Option<User>, ServiceError>;
}

wraps_failure!(ServiceError: CreateUserError);
