//! The interface `retention`: its functions, and the stored form of policies, which are kept as they are shown.

use crate::{
    Caller, ChangeError, RetentionDetail, RetentionKind, RetentionPolicy, RetentionRequest,
    RetentionRule, ServiceError,
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

/// Data retention policies. The WIT interface is the specification.
pub trait Retention {
    /// Gives an organization a policy of its own in place of the one that it has.
    fn set_retention(
        &self,
        external_id: &str,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError>;

    /// Takes an organization's own policy away, if it has one; the installation's then applies.
    fn unset_retention(&self, external_id: &str, by: &Caller) -> Result<(), ChangeError>;

    /// The policy of the installation, which applies where there is no other.
    fn default_retention(&self) -> Result<RetentionPolicy, ServiceError>;

    /// Sets the policy of the installation, by the same rules as an organization's.
    fn set_default_retention(
        &self,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError>;

    /// Returns to what the installation began with.
    fn unset_default_retention(&self, by: &Caller) -> Result<(), ChangeError>;
}
