//! Access control: tokens, policies, identities, auth mounts, wrapped responses, and the first start of a server.
//!
//! [`AccessService`] implements [`Access`], the capability's face, over a store, a clock and a source of
//! randomness. Compiled to WebAssembly the crate is a component that exports the world `gatehouse:access/access`.

use gatehouse_access_api as api;

mod accessors;
mod admission;
mod batch;
mod bounds;
#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
mod counting;
mod creation;
mod cubbyhole;
mod ending;
mod foundation_guesses;
mod generation;
mod identity;
mod indexes;
mod leases;
mod lifetime;
mod lineage;
mod liveness;
mod login;
mod mount_configuration;
mod mounts;
mod one_time_cipher;
mod path_name;
mod policies;
mod policy;
mod quotas;
mod random;
mod records;
mod remount;
mod renewal;
mod revocation;
mod rights;
mod secret;
mod service;
mod settings;
mod system;
mod tidying;
mod token_location;
mod token_roles;
mod token_store;
mod uses;
mod wrapping;

pub use gatehouse_access_api::*;
pub use policies::check_policy;
pub use service::AccessService;
pub use settings::Settings;
pub use system::new_root_token;
