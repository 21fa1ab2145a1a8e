//! The owners of API tokens, as paths name them.

/// An owner that has one token.
#[derive(Debug, Clone, Copy)]
pub(super) enum SingleTokenOwner<'a> {
    /// The organization of this name, or its audit trail if the query asks for that.
    Organization(&'a str),
    /// The team with this id.
    Team(&'a str),
}

/// An owner that can have several tokens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Collection<'a> {
    /// The team with this id, for tokens that have a description each.
    Team(&'a str),
    /// The user with this id.
    User(&'a str),
    /// The agents of the agent pool with this id.
    AgentPool(&'a str),
}
