//! Token-store roles: what callers may make of the tokens they create under one (contract 5.4). Durations are whole seconds.

use serde::{Deserialize, Serialize};

use super::{Failure, MountTokenType, ServiceField};

/// A token-store role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRole {
    /// As it is part of the path; upper and lower case differ.
    pub name: String,
    /// Policies that a token may have; with [`Self::allowed_policies_glob`] empty for whatever the creator may give away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_policies: Vec<String>,
    /// The same, as patterns in which `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_policies_glob: Vec<String>,
    /// Policies that no token may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disallowed_policies: Vec<String>,
    /// The same, as patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disallowed_policies_glob: Vec<String>,
    /// Names, or patterns of names, that an entity alias may have, in lower case; `None` when they were never set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_entity_aliases: Option<Vec<String>>,
    /// Whether tokens have no parent.
    pub orphan: bool,
    /// Whether tokens can be renewed.
    pub renewable: bool,
    /// Ends the path that tokens are issued at; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path_suffix: String,
    /// Address ranges that tokens may be used from; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_cidrs: Vec<String>,
    /// Longest life of a token counted from its creation; 0 for no such limit.
    pub explicit_max_ttl: u64,
    /// Leaves policy `default` out, where the role has policies of its own.
    pub no_default_policy: bool,
    /// How often a token may be used at most; 0 for unlimited.
    pub num_uses: u64,
    /// What periodic tokens are renewed by; 0 for tokens that are not periodic.
    pub period: u64,
    /// How tokens are kept: as the creator says with a default, or whatever the creator says.
    pub token_type: MountTokenType,
    /// What was last set under names that are not used any more.
    #[serde(default)]
    pub old_spellings: OldSpellings,
}

/// Values that were set under their old names, to be shown under these too. Empty and 0 where a new name was used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OldSpellings {
    /// Of [`TokenRole::bound_cidrs`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_cidrs: Vec<String>,
    /// Of [`TokenRole::explicit_max_ttl`].
    #[serde(default)]
    pub explicit_max_ttl: u64,
    /// Of [`TokenRole::period`].
    #[serde(default)]
    pub period: u64,
}

/// What a write says about a role. What it does not say stays as it is, or gets its default in a new role: renewable, not orphan,
/// `default-service`, and otherwise nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenRoleChanges {
    /// In any spelling and order.
    pub allowed_policies: Option<Vec<String>>,
    /// In any spelling and order.
    pub allowed_policies_glob: Option<Vec<String>>,
    /// In any spelling and order.
    pub disallowed_policies: Option<Vec<String>>,
    /// In any spelling and order.
    pub disallowed_policies_glob: Option<Vec<String>>,
    /// In any spelling and order.
    pub allowed_entity_aliases: Option<Vec<String>>,
    /// See [`TokenRole::orphan`].
    pub orphan: Option<bool>,
    /// See [`TokenRole::renewable`].
    pub renewable: Option<bool>,
    /// See [`TokenRole::path_suffix`].
    pub path_suffix: Option<String>,
    /// Address ranges or single addresses.
    pub bound_cidrs: Option<Vec<String>>,
    /// See [`TokenRole::explicit_max_ttl`].
    pub explicit_max_ttl: Option<u64>,
    /// See [`TokenRole::no_default_policy`].
    pub no_default_policy: Option<bool>,
    /// Negative is refused.
    pub num_uses: Option<i64>,
    /// See [`TokenRole::period`].
    pub period: Option<u64>,
    /// `default-service`, `default-batch`, `service` or `batch`.
    pub token_type: Option<String>,
    /// `bound_cidrs` under its old name; ignored beside the new one.
    pub old_bound_cidrs: Option<Vec<String>>,
    /// `explicit_max_ttl` under its old name; ignored beside the new one.
    pub old_explicit_max_ttl: Option<u64>,
    /// `period` under its old name; ignored beside the new one.
    pub old_period: Option<u64>,
}

/// A field that has an old name and a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenamedField {
    /// The period.
    Period,
    /// The address ranges.
    BoundCidrs,
    /// The longest life, fixed at creation.
    ExplicitMaxTtl,
}

/// Something that did not stop a write and that the operator should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenRoleWarning {
    /// A field was given under both names, and the old one ignored.
    OldSpellingIgnored(RenamedField),
    /// Tokens will not live as long as the role says.
    ExplicitMaxTtlAboveMount {
        /// What the role says.
        explicit_max_ttl: u64,
        /// What the mount of tokens allows.
        mount_max: u64,
    },
}

/// Why a token-store role was not written. Nothing was stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRoleError {
    /// The name is empty, longer than 128 bytes, or has other than printable ASCII characters or a slash.
    #[error("a role's name has 1 to 128 printable ASCII characters without slashes")]
    InvalidName,
    /// The caller may create or change roles, and this write would do the other.
    #[error("the write would create a role, or change one, and the caller may only do the other")]
    Denied,
    /// The path suffix has other than letters, digits, `_`, `-` and `.`, or does not begin and end with one of the first three.
    #[error(
        "a path suffix has 3 to 256 letters, digits, '_', '-' and '.', and no '-' or '.' at its ends"
    )]
    InvalidPathSuffix,
    /// The path suffix has two dots in a row.
    #[error("a path suffix cannot contain '..'")]
    PathSuffixWithParent,
    /// A negative number of uses.
    #[error("the number of uses cannot be negative")]
    NegativeNumUses,
    /// A text that is no address range.
    #[error("bound CIDR {range:?} is neither an address nor an address range")]
    InvalidBoundCidr {
        /// The text.
        range: String,
        /// Whether the field was given under its old name.
        old_spelling: bool,
    },
    /// A token type that does not exist; holds it.
    #[error("there is no token type {0:?}: use default-service, default-batch, service or batch")]
    InvalidTokenType(String),
    /// Type `batch` for tokens that have parents.
    #[error("batch tokens of a role are orphans: set orphan to true")]
    BatchWithParent,
    /// Type `batch` for renewable tokens.
    #[error("batch tokens cannot be renewed: set renewable to false")]
    RenewableBatch,
    /// Type `batch` with this field, which only service tokens have.
    #[error("batch tokens cannot have {:?} set", .0.name())]
    BatchWith(ServiceField),
    /// More than a role may hold; holds that number of bytes.
    #[error("a role holds at most {0} bytes: name fewer policies, aliases or address ranges")]
    TooLarge(u32),
    /// A list of policies, entity aliases or address ranges that holds only blanks: what it is to bind would not be bound.
    #[error("the list holds only blanks; name what it is to hold, or send [] for none")]
    OnlyBlanks,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}
