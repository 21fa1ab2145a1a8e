//! Organizations and what belongs to them.
//!
//! The trait [`Organizations`] is the capability, the same as the WIT package `gatehouse:orgs`; [`Orgs`] is the capability over
//! a store, a clock and randomness. It knows the rules of organizations: which names and values are good, what depends on
//! what, what a plan includes. It knows neither HTTP nor who is asking: the caller has been admitted before it is called.

mod api;
mod changes;
mod identifier;
mod listing;
mod name;
mod organization;
mod orgs;
mod plan;
mod record;
mod rules;

#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
#[cfg(test)]
mod tests;

pub use api::{
    Batch, CreateError, Failure, Filter, MAXIMUM_BATCH, MAXIMUM_PAGE_SIZE, Organizations, Page,
    UpdateError,
};
pub use changes::{Attribute, Fault, Field, FieldFault, OrganizationChanges};
pub use name::folded_name;
pub use organization::{
    CollaboratorAuthPolicy, DEFAULT_SESSION_MINUTES, Edition, Entitlement, EntitlementValue,
    ExecutionMode, Organization, Permission, Plan, Settings, Standing,
};
pub use orgs::Orgs;
