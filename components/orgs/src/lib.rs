//! Organizations and what belongs to them.
//!
//! The trait [`Capability`] is everything that it offers, the same as the WIT package `gatehouse:orgs`; [`Orgs`] is the
//! capability over a store, a clock and randomness. It knows the rules of organizations: which names and values are good, what
//! depends on what, what a plan includes, who belongs to whom and may do what by it, and the tokens that it issues itself. It
//! knows neither HTTP nor policies: what a service token may do elsewhere has been decided before it is called.

mod agent_pools;
mod audit_trail;
mod authority;
mod bounds;
mod directory;
mod identifier;
mod initial_resources;
mod issues;
mod known;
mod listing;
mod lookup;
mod memberships;
mod numbers;
mod orgs;
mod owned_keys;
mod paging;
mod plans;
mod record;
mod related;
mod removal;
mod retention;
mod rounds;
mod rules;
mod search;
mod sharing;
mod site;
mod state;
mod team;
mod teams;
mod tokens;
mod upkeep;
mod users;

#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
// Tests that need private items share a world with those of `tests/all`, which name the crate from outside.
#[cfg(test)]
extern crate self as gatehouse_orgs;
#[cfg(test)]
#[path = "../tests/all/world.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "each group of tests uses a part of it"
)]
mod world;

pub use gatehouse_orgs_api::*;
pub use state::Orgs;
