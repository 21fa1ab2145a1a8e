//! Users in the store.
//!
//! - `user/<id>`: the user.
//! - `username/<folded name>`, `user-email/<hash>`: whose they are, which makes them unique.
//! - `subject/<segment>`: which user a workload is.

use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{
    Attempt, ReadAhead, StorageError, Transaction, commit_with_retries, key_segment,
};

use super::account::{NO_HOST, id_of_user};
use super::entity::{ENTITY_PREFIX, name_of_entity};
use crate::audit_trail::AuditedOperations as _;
use crate::audit_trail::INSTALLATION;
use crate::authority::{INSTALLATION_NAME, NOBODY_NAME};
use crate::identifier::well_formed;
use crate::name::{self, FoldedName};
use crate::owned_keys::PointerRecord;
use crate::rules::is_email_address;
use crate::{
    Account, AttributeIssue, Caller, CreateUserError, Fault, Identity, IssuedToken, Orgs,
    Principal, Resource, ServiceError, Subject, TokenOwner, TokenRequest, User, UserDescription,
    Users,
};

/// A user that a transaction is going to make.
pub(crate) struct NewUser(pub User);

impl NewUser {
    /// Adds the user to `transaction`, under the condition that its name, address and subject are free.
    pub(crate) fn put(
        &self,
        transaction: &mut Transaction,
        email_key: String,
    ) -> Result<(), StorageError> {
        let user = &self.0;
        let pointer = PointerRecord::to(&user.id);
        let mut claims = vec![username_key(&user.username), email_key];
        claims.extend(user.subject.as_ref().map(subject_key));
        for claim in claims {
            transaction.require_absent(&claim).put(claim, &pointer)?;
        }
        transaction
            .require_absent(user_key(&user.id))
            .put(user_key(&user.id), user)?;
        Ok(())
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(crate) fn load_user(&self, id: &str) -> Result<Option<User>, ServiceError> {
        let user = self.known::<User>(&ReadAhead::default(), [user_key(id)])?;
        let user = user.into_iter().next().flatten();
        Ok(user.map(Arc::unwrap_or_clone))
    }

    /// The users with these ids, in their order; `None` for each that does not exist.
    pub(crate) fn users_with_ids(&self, ids: &[String]) -> Result<Vec<Option<User>>, ServiceError> {
        let keys: Vec<String> = ids.iter().map(|id| user_key(id)).collect();
        let found = self.get_many::<User>(&keys)?;
        let users = found.into_iter().map(|user| user.map(|user| user.record));
        Ok(users.collect())
    }

    /// The user that was made for an entity.
    pub(crate) fn user_of_entity(
        &self,
        entity: &str,
        ahead: &ReadAhead,
    ) -> Result<Option<User>, ServiceError> {
        let subject = Subject::Entity(entity.to_owned());
        self.user_behind(&subject_key(&subject), ahead)
    }

    /// The user that stands for a subject.
    pub(crate) fn user_of_subject(&self, subject: &Subject) -> Result<Option<User>, ServiceError> {
        self.user_behind(&subject_key(subject), &ReadAhead::default())
    }

    /// The user who has this address.
    pub(crate) fn user_of_email(&self, email: &str) -> Result<Option<User>, ServiceError> {
        self.user_behind(&self.email_key(email)?, &ReadAhead::default())
    }

    fn user_behind(&self, key: &str, ahead: &ReadAhead) -> Result<Option<User>, ServiceError> {
        let pointers = vec![key.to_owned()];
        let users = self.pointed_to(ahead, pointers, |_, pointer| user_key(&pointer.id));
        Ok(users?.pop().flatten().map(Arc::unwrap_or_clone))
    }

    /// A new user for a subject that has none yet. It has no address that mail could reach.
    pub(crate) fn new_user_of(&self, subject: Subject) -> Result<NewUser, ServiceError> {
        let username = match &subject {
            Subject::Installation => INSTALLATION_NAME.to_owned(),
            Subject::Entity(entity) => name_of_entity(entity),
        };
        let email = format!("{username}@{NO_HOST}");
        self.new_user(username, email, false, Some(subject))
    }

    /// The key of the record that says which user has an address. It shows nothing of the address (SEC-K8).
    pub(crate) fn email_key(&self, email: &str) -> Result<String, ServiceError> {
        Ok(format!("user-email/{}", self.email_hash(email)?))
    }

    /// The hash by which an address is known, in any capitalisation.
    pub(crate) fn email_hash(&self, email: &str) -> Result<String, ServiceError> {
        Ok(self.hasher()?.email(&email.to_lowercase()))
    }

    fn new_user(
        &self,
        username: String,
        email: String,
        site_administrator: bool,
        subject: Option<Subject>,
    ) -> Result<NewUser, ServiceError> {
        Ok(NewUser(User {
            id: id_of_user(&self.hasher()?, &email),
            username,
            email,
            site_administrator,
            suspended: false,
            subject,
            created_at: self.clock.now_milliseconds(),
        }))
    }

    fn faults_of_user(
        &self,
        description: &UserDescription,
    ) -> Result<Vec<AttributeIssue>, ServiceError> {
        let issue = AttributeIssue::new;
        let mut issues: Vec<_> = name::faults(&description.username)
            .map(|fault| issue("username", fault))
            .collect();
        if issues.is_empty() && is_reserved(&description.username) {
            issues.push(issue("username", Fault::Taken));
        } else if issues.is_empty() {
            let taken = self
                .records
                .get::<PointerRecord>(&username_key(&description.username))?;
            issues.extend(taken.map(|_| issue("username", Fault::Taken)));
        }
        if description.email.is_empty() {
            issues.push(issue("email", Fault::Blank));
        } else if !is_email_address(&description.email) {
            issues.push(issue("email", Fault::NotAnAddress));
        } else if is_reserved_address(&description.email)
            || self.user_of_email(&description.email)?.is_some()
        {
            issues.push(issue("email", Fault::Taken));
        }
        Ok(issues)
    }

    fn try_create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<Attempt<(User, IssuedToken)>, CreateUserError> {
        let faults = self.faults_of_user(description)?;
        if !faults.is_empty() {
            return Err(CreateUserError::Invalid(faults));
        }
        let new = self.new_user(
            description.username.clone(),
            description.email.clone(),
            description.site_administrator,
            None,
        )?;
        let mut transaction = Transaction::new();
        new.put(&mut transaction, self.email_key(&description.email)?)
            .map_err(ServiceError::from)?;
        let request = TokenRequest::default();
        let owner = TokenOwner::User(new.0.id.clone());
        let token = self.add_token(&mut transaction, owner, &request, by)?;
        let audited = Resource::User.created(&new.0.id);
        self.note(&mut transaction, INSTALLATION, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, (new.0, token)).map_err(ServiceError::from)?)
    }
}

impl<S: Store, C: Clock, R: Random> Users for Orgs<S, C, R> {
    fn create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<(User, IssuedToken), CreateUserError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_create_user(description, by)
        })
    }

    fn account_of(&self, identity: &Identity) -> Result<Account, ServiceError> {
        let organization = match &identity.principal {
            Principal::Organization(id) | Principal::AuditReader(id) => {
                self.organizations_of(&[id])?.pop().flatten()
            }
            _ => None,
        };
        Ok(Account {
            user: self.user_standing_for(identity)?,
            organization: organization.map(|record| record.name),
        })
    }

    fn find_user(&self, identity: &Identity, id: &str) -> Result<Option<User>, ServiceError> {
        if identity.is_site_administrator() || self.belongs_with(identity, id)? {
            self.load_user(id)
        } else {
            Ok(None)
        }
    }
}

/// True if a name belongs to a user that is no person: one for a workload, a team or an organization.
fn is_reserved(username: &str) -> bool {
    let username = username.to_ascii_lowercase();
    [INSTALLATION_NAME, NOBODY_NAME].contains(&username.as_str())
        || [ENTITY_PREFIX, "api-org-", "api-team_"]
            .iter()
            .any(|prefix| username.starts_with(prefix))
}

/// True if an address belongs, or could belong, to a user that is no person. A person who had it first would keep that user from being
/// made.
pub(crate) fn is_reserved_address(email: &str) -> bool {
    let host = email.rsplit('@').next().unwrap_or_default();
    host.eq_ignore_ascii_case(NO_HOST)
}

pub(crate) fn user_key(id: &str) -> String {
    format!("user/{}", if well_formed(id) { id } else { "-" })
}

pub(crate) fn username_key(username: &str) -> String {
    let folded = FoldedName::fold(username);
    // A text that cannot be a name has a key that no name has.
    format!(
        "username/{}",
        folded.as_ref().map_or("-/", FoldedName::as_str)
    )
}

pub(crate) fn subject_key(subject: &Subject) -> String {
    match subject {
        Subject::Entity(entity) => format!("subject/entity/{}", key_segment(entity)),
        Subject::Installation => "subject/installation".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::MAXIMUM_KEYS_PER_CALL;

    use super::*;
    use crate::world::{World, installation};

    #[test]
    fn more_users_are_read_than_one_call_of_the_store_takes() {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store);
        let ada = UserDescription {
            username: "ada".to_owned(),
            email: "ada@example.com".to_owned(),
            site_administrator: false,
        };
        let (ada, _) = orgs.create_user(&ada, &installation()).unwrap();
        let mut ids = vec!["user-absent".to_owned(); MAXIMUM_KEYS_PER_CALL];
        ids.push(ada.id.clone());
        let users = orgs.users_with_ids(&ids).unwrap();
        assert_eq!(users.len(), ids.len());
        assert_eq!(users.last(), Some(&Some(ada)));
    }
}
