//! Which requests about tokens there are.

use crate::http::Method;

/// Requests about tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::organizations) enum Route<'a> {
    /// The one token of somebody.
    ShowOne(Place<'a>),
    /// A new one in its place.
    IssueOne(Place<'a>),
    /// The end of it.
    RevokeOne(Place<'a>),
    /// All tokens of somebody who may have many.
    List(Collection<'a>),
    /// One more of them.
    Issue(Collection<'a>),
    /// All tokens of all teams of the organization of this name.
    ListOfTeams(&'a str),
    /// The token with this id.
    Show(&'a str),
    /// The end of it.
    Revoke(&'a str),
    /// How long tokens may live in the organization of this name.
    Lifetimes(&'a str),
    /// Changes to that.
    SetLifetimes(&'a str),
}

/// Who has one token at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::organizations) enum Place<'a> {
    /// The organization of this name, or its audit trail if the query says so.
    Organization(&'a str),
    /// The team with this id.
    Team(&'a str),
}

/// Who may have many tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::organizations) enum Collection<'a> {
    /// The team with this id, by tokens with descriptions of their own.
    Team(&'a str),
    /// The user with this id.
    User(&'a str),
    /// The workers of the agent pool with this id.
    AgentPool(&'a str),
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(in crate::organizations) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match *segments {
            ["organizations", name, "authentication-token"] => {
                Self::of_one(method, Place::Organization(name))
            }
            ["teams", id, "authentication-token"] => Self::of_one(method, Place::Team(id)),
            ["teams", id, "authentication-tokens"] => Self::of_many(method, Collection::Team(id)),
            ["users", id, "authentication-tokens"] => Self::of_many(method, Collection::User(id)),
            ["agent-pools", id, "authentication-tokens"] => {
                Self::of_many(method, Collection::AgentPool(id))
            }
            ["organizations", name, "team-tokens"] => {
                (method == Method::Get).then_some(Self::ListOfTeams(name))
            }
            ["authentication-tokens", id] => match method {
                Method::Get => Some(Self::Show(id)),
                Method::Delete => Some(Self::Revoke(id)),
                _ => None,
            },
            ["organizations", name, "token-ttl-policies"] => match method {
                Method::Get => Some(Self::Lifetimes(name)),
                Method::Patch => Some(Self::SetLifetimes(name)),
                _ => None,
            },
            _ => None,
        }
    }

    const fn of_one(method: Method, place: Place<'a>) -> Option<Self> {
        match method {
            Method::Get => Some(Self::ShowOne(place)),
            Method::Post => Some(Self::IssueOne(place)),
            Method::Delete => Some(Self::RevokeOne(place)),
            _ => None,
        }
    }

    const fn of_many(method: Method, collection: Collection<'a>) -> Option<Self> {
        match method {
            Method::Get => Some(Self::List(collection)),
            Method::Post => Some(Self::Issue(collection)),
            _ => None,
        }
    }
}
