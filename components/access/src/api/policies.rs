//! Policies as operators see them.

use super::Failure;

/// What a rule may grant (contract 5.6). The order is the one in which lists of them are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Everything; shown for root tokens only, never part of a rule.
    Root,
    /// Nothing, whatever other rules say.
    Deny,
    /// Paths that need it besides the operation's capability.
    Sudo,
    /// GET.
    Read,
    /// LIST.
    List,
    /// Write where something is, or where nobody asks.
    Update,
    /// DELETE.
    Delete,
    /// Write where nothing is.
    Create,
    /// PATCH.
    Patch,
}

/// A policy as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyView {
    /// Lower case.
    pub name: String,
    /// Byte for byte what the operator gave; base64 is decoded.
    pub text: String,
}

/// Why a policy was not changed. Texts in variants quote the operator's own policy, which is no secret.
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
    #[error("invalid key {key:?} on line {line}")]
    InvalidKey {
        /// The key.
        key: String,
        /// Counted from 1.
        line: u32,
    },
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
    /// A limit on wrapping that is no duration; holds the key.
    #[error("error parsing {key}: {reason}")]
    InvalidDuration {
        /// The key.
        key: String,
        /// What is wrong with its value.
        reason: String,
    },
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
    Failure(#[from] Failure),
}
