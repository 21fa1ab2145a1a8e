//! What a token may do anywhere, for user interfaces (contract 6.4).

use super::Capability;

/// What a token's policies grant, rule by rule. A rule with a wildcard segment is not shown: clients would take it for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultantAcl {
    /// Everything.
    Root,
    /// These rules; all policies together, sorted by path.
    Rules {
        /// For exactly one path.
        exact: Vec<PathRights>,
        /// For all paths with this beginning.
        prefixes: Vec<PathRights>,
    },
}

/// What one rule grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRights {
    /// A path, or the beginning of paths.
    pub path: String,
    /// `deny` alone where it grants nothing.
    pub capabilities: Vec<Capability>,
}
