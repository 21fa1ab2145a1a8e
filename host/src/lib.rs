//! Runs the Gatehouse components under wasmtime, inside another program or as a server.
//!
//! A program embeds one component with what it has itself, by [`embed`]. This one judges a login (`host/examples/judge_login.rs`):
//!
//! ```
#![doc = include_str!("../examples/judge_login.rs")]
//! ```
//!
//! The server is [`server::Server`]; the other modules are its parts. [`runtime`] is for programs that run the components in their own way,
//! and names the imports that a component lacks ([`runtime::linker::ensure_imports_are_met`]).

pub mod application_credentials;
pub mod audit;
pub mod backup;
pub mod blocking_store;
pub mod clock;
mod console;
pub mod database;
pub mod embed;
mod further_parts;
pub mod listener;
pub mod log;
pub mod metrics;
pub mod nodes;
pub mod one_line;
pub mod outbound;
pub mod runtime;
pub mod seal;
pub mod server;
pub mod settings;
mod start_checks;
pub mod traces;
