//! The whole package as one trait: implemented by the rules, and by the component that imports them.

use crate::{
    Cubbyhole, Entities, EntityAliases, GroupAliases, Groups, LeaseTree, Logins, Migrations,
    Mounts, Policies, Renewal, Requests, Revocation, Rights, System, Tidying, TokenCreation,
    TokenLookup, TokenRoles, Wrapping,
};

/// Decides who may do what: tokens, policies, identities, auth mounts, and the first start of a server.
///
/// The functions of one interface are one trait, except those of `tokens` and of `identity`: there each kind of work has its own.
pub trait Access:
    System
    + Requests
    + Rights
    + Logins
    + TokenCreation
    + TokenLookup
    + Renewal
    + Revocation
    + Tidying
    + LeaseTree
    + TokenRoles
    + Policies
    + Entities
    + EntityAliases
    + Groups
    + GroupAliases
    + Mounts
    + Migrations
    + Wrapping
    + Cubbyhole
{
}

impl<T> Access for T where
    T: System
        + Requests
        + Rights
        + Logins
        + TokenCreation
        + TokenLookup
        + Renewal
        + Revocation
        + Tidying
        + LeaseTree
        + TokenRoles
        + Policies
        + Entities
        + EntityAliases
        + Groups
        + GroupAliases
        + Mounts
        + Migrations
        + Wrapping
        + Cubbyhole
{
}
