//! Runs the Gatehouse components under wasmtime, as a server or inside another program.

pub mod application_credentials;
pub mod audit;
pub mod clock;
pub mod listener;
pub mod metrics;
pub mod outbound;
pub mod rate_limits;
pub mod runtime;
pub mod seal;
pub mod server;
pub mod settings;
