//! Changing what lies above a project, and what callers may do.

use crate::caller::Principal;
use crate::error::FakeGoogleError;
use crate::google::FakeGoogle;
use crate::resource_manager::Ancestor;
use crate::state::State;

/// Projects and permissions. Callers are named by an account's email or unique ID, or by a logged-in person's email.
impl FakeGoogle {
    /// Puts a project below these, nearest first; creates the project when there was none of it.
    pub fn set_ancestors(&self, project: &str, ancestors: impl IntoIterator<Item = Ancestor>) {
        self.state
            .lock()
            .ancestors
            .insert(project.to_owned(), ancestors.into_iter().collect());
    }

    /// Takes a permission, such as `compute.instances.get`, away from a caller in every project. All others are held.
    ///
    /// # Errors
    ///
    /// When there is no such caller.
    pub fn deny_permission(&self, caller: &str, permission: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let principal = state.principal(caller)?;
        state.denials.deny(principal, permission, None);
        Ok(())
    }

    /// Takes a permission away from a caller in one project.
    ///
    /// # Errors
    ///
    /// When there is no such caller.
    pub fn deny_permission_in(
        &self,
        project: &str,
        caller: &str,
        permission: &str,
    ) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let principal = state.principal(caller)?;
        state.denials.deny(principal, permission, Some(project));
        Ok(())
    }

    /// Gives a permission back, wherever it was taken away.
    ///
    /// # Errors
    ///
    /// When there is no such caller.
    pub fn allow_permission(&self, caller: &str, permission: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let principal = state.principal(caller)?;
        state.denials.allow(&principal, permission);
        Ok(())
    }
}

impl State {
    fn principal(&mut self, caller: &str) -> Result<Principal, FakeGoogleError> {
        if self.users.contains(caller) {
            return Ok(Principal::User {
                email: caller.to_owned(),
            });
        }
        let unique_id = self.require_account(caller)?.spec.unique_id.clone();
        Ok(Principal::Account { unique_id })
    }
}
