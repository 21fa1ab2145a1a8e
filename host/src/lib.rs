//! Runs the Gatehouse components under wasmtime, as a server or inside another program.

pub mod application_credentials;
pub mod listener;
pub mod outbound;
pub mod runtime;
pub mod server;
pub mod settings;
