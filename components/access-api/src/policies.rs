//! The interface `policies`: its functions and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{KeyPosition, MalformedDuration, Policy, ServiceError};

/// Policies. The WIT interface is the specification.
pub trait Policies {
    /// The names of all policies, sorted, and after them `root`.
    fn list_policies(&self) -> Result<Vec<String>, ServiceError>;

    /// A policy as the operator wrote it; `root` shows an empty text.
    fn read_policy(&self, name: &str) -> Result<Option<Policy>, ServiceError>;

    /// Stores a policy, given as text or as base64 of the text.
    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError>;

    /// Removes a policy; a missing one is a success.
    fn delete_policy(&self, name: &str) -> Result<(), PolicyError>;
}

/// Why a policy was not changed. Texts in variants quote the operator's own policy, which is not a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The name is empty, longer than 128 bytes, holds a control character, or has an empty, `.` or `..` part between slashes.
    #[error(
        "a policy name is 1 to 128 bytes of text without control characters, in which slashes stand between parts other than . and .."
    )]
    InvalidName,
    /// There is no text.
    #[error("the policy is empty")]
    Empty,
    /// Longer than 256 KiB.
    #[error("the policy is longer than 262144 bytes")]
    TooLong,
    /// Built in, cannot be written; holds the name.
    #[error("cannot update {0:?} policy")]
    CannotUpdate(String),
    /// Built in, cannot be deleted; holds the name.
    #[error("cannot delete {0:?} policy")]
    CannotDelete(String),
    /// Policy `default` can be edited, not deleted.
    #[error("cannot delete default policy")]
    CannotDeleteDefault,
    /// Neither HCL nor JSON; holds what the parser says, with the line.
    #[error("{0}")]
    Syntax(String),
    /// A key that does not belong there.
    #[error("invalid key {:?} on line {}", .0.key, .0.line)]
    InvalidKey(KeyPosition),
    /// A capability that does not exist; holds it.
    #[error("invalid capability {0:?}")]
    InvalidCapability(String),
    /// A value of the old key `policy` that does not exist; holds it.
    #[error("invalid policy {0:?}")]
    InvalidLegacyPolicy(String),
    /// A `+` beside other characters of its segment, or a pattern such as `+*`; holds the path.
    #[error("path {0:?}: invalid use of wildcards ('+*' is forbidden)")]
    InvalidWildcard(String),
    /// A value of another kind than the key takes; holds the key.
    #[error("the value of {0:?} has the wrong type")]
    WrongType(String),
    /// A limit on wrapping that is not a duration; holds the key.
    #[error("error parsing {}: {}", .0.key, .0.reason)]
    InvalidDuration(MalformedDuration),
    /// No life of a wrapped answer would be within both limits.
    #[error("max_wrapping_ttl cannot be less than min_wrapping_ttl")]
    WrappingLimits,
    /// A template that is not understood; holds the path.
    #[error("path {0:?}: the template is malformed or not supported")]
    InvalidTemplate(String),
    /// A restriction that is not enforced here, and therefore not accepted; holds the key.
    #[error("key {0:?} is not supported: leave it out, or grant less")]
    UnsupportedKey(String),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: PolicyError);
