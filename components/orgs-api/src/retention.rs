//! The interface `retention`: its functions, and the stored form of policies, which are kept as they are shown.

use crate::{
    Caller, ChangeError, Failure, RetentionDetail, RetentionKind, RetentionPolicy,
    RetentionRequest, RetentionRule,
};

impl gatehouse_storage::Record for RetentionPolicy {
    const SCHEMA: u16 = 1;
}

impl RetentionRule {
    /// The kind of policy that has this rule.
    #[must_use]
    pub const fn kind(self) -> RetentionKind {
        match self {
            Self::DeleteOlder(_) => RetentionKind::DeleteOlder,
            Self::DontDelete => RetentionKind::DontDelete,
        }
    }
}

impl RetentionDetail {
    /// True if a policy says nothing of this sort of data, and stores nothing of it.
    pub(crate) fn says_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Data retention policies.
pub trait Retention {
    /// Gives an organization a policy of its own in place of the one that it has. A policy of the same kind keeps its id.
    ///
    /// # Errors
    ///
    /// [`ChangeError::NotFound`] where there is no such organization, [`ChangeError::Invalid`] with every fault at once.
    fn set_retention(
        &self,
        external_id: &str,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError>;

    /// Takes an organization's own policy away, if it has one; the installation's then applies.
    ///
    /// # Errors
    ///
    /// [`ChangeError::NotFound`] where there is no such organization.
    fn unset_retention(&self, external_id: &str, by: &Caller) -> Result<(), ChangeError>;

    /// The policy of the installation, which applies where there is no other. Where none is set, nothing is deleted.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn default_retention(&self) -> Result<RetentionPolicy, Failure>;

    /// Sets the policy of the installation, by the same rules as an organization's.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Invalid`] with every fault at once.
    fn set_default_retention(
        &self,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError>;

    /// Returns to what the installation began with.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn unset_default_retention(&self, by: &Caller) -> Result<(), ChangeError>;
}
