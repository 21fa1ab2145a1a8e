//! The place where an operator has enabled the method.

/// A mount, as its owner sees it at the time of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Never reused, also not by a later mount at the same path; all records of the mount are kept under it. Letters, digits and
    /// `-`.
    pub id: String,
    /// Names the mount in identity aliases.
    pub accessor: String,
    /// Where it is enabled, with a slash at the end: `gcp/`, `cloud/prod/gcp/`.
    pub path: String,
    /// Seconds that a token of this mount lives when its role does not say otherwise.
    pub default_lease: u64,
    /// Seconds that a token of this mount can live at most.
    pub maximum_lease: u64,
}
