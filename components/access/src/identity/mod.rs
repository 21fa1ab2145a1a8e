//! Entities, the groups they are in, and the aliases that lead to both (contract 7).
//!
//! An entity's record names its groups: internal ones, which an operator filled, and for each mount the external ones that its
//! last login there brought. The rights of a token are thus found by reading the entity and then its groups by their keys; no
//! request walks over all groups.

mod aliases;
mod checks;
mod creation;
mod entities;
mod finding;
mod group_aliases;
mod groups;
mod hierarchy;
mod lists;
mod membership;
mod merge;
mod names;
mod records;
mod template_values;

pub(crate) use creation::stage_alias;
pub(crate) use membership::{Claims, EntityGroups, MAXIMUM_GROUP_ALIASES};
pub(crate) use names::Named;
pub(crate) use records::{AliasReference, Membership};
pub(crate) use template_values::TokenIdentity;
