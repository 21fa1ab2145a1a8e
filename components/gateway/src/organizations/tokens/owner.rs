//! The owners of API tokens, as a path names them.

/// An owner that has one token at a time.
#[derive(Debug, Clone, Copy)]
pub(super) enum SingleTokenOwner<'a> {
    /// The organization of this name, or its audit trail if the query says so.
    Organization(&'a str),
    /// The team with this id.
    Team(&'a str),
}

/// An owner that may have many tokens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Collection<'a> {
    /// The team with this id, by tokens with descriptions of their own.
    Team(&'a str),
    /// The user with this id.
    User(&'a str),
    /// The workers of the agent pool with this id.
    AgentPool(&'a str),
}
