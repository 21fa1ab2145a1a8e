//! How long the data of an organization is kept (contract 4.5).
//!
//! An organization has a policy of its own, which is a part of its record, or else the installation's applies. Policies describe:
//! there are no runs and states here that could be deleted.

mod store;

use serde::{Deserialize, Serialize};

use crate::{Attribute, Caller, ChangeError, Failure};

pub(crate) use self::store::DEFAULT_KEY;

/// What happens to data that has grown old.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetentionRule {
    /// It is deleted once it is older than this many days.
    DeleteOlder(u64),
    /// It is kept.
    #[default]
    DontDelete,
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

/// A kind of policies, which have a resource type of their own each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetentionKind {
    /// Those with [`RetentionRule::DeleteOlder`].
    DeleteOlder,
    /// Those with [`RetentionRule::DontDelete`].
    DontDelete,
}

/// What a policy says besides of one sort of data; `None` of what nobody has said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionDetail {
    /// Whether data of this sort is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<bool>,
    /// After how many days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_after_days: Option<i64>,
    /// How many of the latest are kept in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_latest: Option<i64>,
}

impl RetentionDetail {
    fn says_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A data retention policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionPolicy {
    /// `drp-` and 16 letters and digits; another one once the kind changes.
    pub id: String,
    /// What happens to old data.
    pub rule: RetentionRule,
    /// Of state versions.
    #[serde(default, skip_serializing_if = "RetentionDetail::says_nothing")]
    pub state_versions: RetentionDetail,
    /// Of configuration versions.
    #[serde(default, skip_serializing_if = "RetentionDetail::says_nothing")]
    pub configuration_versions: RetentionDetail,
    /// Of what runs leave behind.
    #[serde(default, skip_serializing_if = "RetentionDetail::says_nothing")]
    pub run_data_and_logs: RetentionDetail,
}

/// What a request says about one sort of data. Null is as nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetentionDetailChange {
    /// See [`RetentionDetail::delete`].
    pub delete: Attribute<bool>,
    /// See [`RetentionDetail::delete_after_days`].
    pub delete_after_days: Attribute<i64>,
    /// See [`RetentionDetail::keep_latest`].
    pub keep_latest: Attribute<i64>,
}

/// A policy as it is asked for, whole: what it does not mention it does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionRequest {
    /// Which kind of policy.
    pub kind: RetentionKind,
    /// At least 1. Required of [`RetentionKind::DeleteOlder`], and ignored of the other kind.
    pub days: Attribute<i64>,
    /// Of state versions.
    pub state_versions: RetentionDetailChange,
    /// Of configuration versions.
    pub configuration_versions: RetentionDetailChange,
    /// Of what runs leave behind.
    pub run_data_and_logs: RetentionDetailChange,
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

    /// The policy of the installation, which applies where there is no other. As long as nobody has set one, nothing is deleted.
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
