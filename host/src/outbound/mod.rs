//! Outgoing HTTP of components: who may be called, and within which limits.
//!
//! [`Policy`] decides, [`Outbound`] sends, [`OutboundHooks`] is how `wasi:http/outgoing-handler` comes here.

mod breaker;
mod client;
mod destinations;
mod hooks;
mod policy;
mod resolver;
mod trust;

pub use client::Outbound;
pub use gatehouse_ports::{AllowedHost, AllowedHostError, Scheme};
pub use hooks::OutboundHooks;
pub use policy::{DestinationError, Policy};
pub use trust::{TrustError, client_configuration};

#[cfg(test)]
mod tests;
