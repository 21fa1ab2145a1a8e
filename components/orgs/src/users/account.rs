//! Identifiers of users that do not exist yet, and users that represent callers who are no users (contract 1.11).

use gatehouse_ports::{Clock, Random, Store};

use crate::authority::Named as _;
use crate::tokens::SecretHasher;
use crate::{Identity, Orgs, Principal, ServiceError, Subject, User, identifier};

pub(super) const USER_PREFIX: &str = "user-";

/// The host in the address of users who have none: one that cannot exist (RFC 2606).
pub(super) const NO_HOST: &str = "gatehouse.invalid";

/// The id of the user who has this address, in any capitalisation, or will have it: an invitation tells it before there is a user.
pub(crate) fn id_of_user(hasher: &SecretHasher, email: &str) -> String {
    let hash = hasher.user(&email.to_lowercase());
    let characters = identifier::characters_of_hash(&hash);
    format!("{USER_PREFIX}{characters}")
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn user_standing_for(&self, identity: &Identity) -> Result<User, ServiceError> {
        let principal = &identity.principal;
        let characters = match principal {
            Principal::User(user) => return Ok(user.clone()),
            Principal::Installation => {
                if let Some(user) = self.user_of_subject(&Subject::Installation)? {
                    return Ok(user);
                }
                self.characters_for(principal.id())?
            }
            Principal::Workload(_) => self.characters_for(principal.id())?,
            Principal::Team(team) => identifier::characters_of(&team.id).to_owned(),
            Principal::Organization(id) | Principal::AuditReader(id) => {
                identifier::characters_of(id).to_owned()
            }
        };
        let username = principal.username();
        Ok(User {
            id: format!("{USER_PREFIX}{characters}"),
            email: format!("{username}@{NO_HOST}"),
            username,
            site_administrator: identity.is_site_administrator(),
            suspended: false,
            subject: None,
            created_at: 0,
        })
    }

    /// Letters and digits that stay for a caller that has no identifier of the usual form.
    fn characters_for(&self, id: &str) -> Result<String, ServiceError> {
        let hash = self.hasher()?.account(id);
        Ok(identifier::characters_of_hash(&hash))
    }
}
