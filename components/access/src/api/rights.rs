//! What a token may do anywhere, for user interfaces (contract 6.4).

use super::Capability;

/// What a token's policies grant, rule by rule.
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
        /// With a segment `+`, which any segment matches, and with `*` at the end where they are for all paths with this beginning.
        wildcards: Vec<PathRights>,
    },
}

/// What one rule grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRights {
    /// A path, the beginning of paths, or a pattern.
    pub path: String,
    /// `deny` alone where it grants nothing.
    pub capabilities: Vec<Capability>,
}
