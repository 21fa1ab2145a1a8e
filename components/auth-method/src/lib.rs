//! The Google Cloud auth method: who a caller is and under which role.
//!
//! [`AuthMethodService`] implements [`AuthMethod`], the capability's face, over the ports of `gatehouse-ports`: a store, outgoing HTTP, a
//! clock and randomness. Compiled for WebAssembly the crate is the component `gatehouse:auth-method`.
//!
//! The capability never makes a token: a login answers who the caller is and how their token is to be made.

mod authorization;
#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
mod config;
mod entity;
mod excerpt;
mod forgetting;
mod google;
mod identity_tokens;
mod jwt;
mod login;
mod pages;
mod policies;
mod proof;
mod record_keys;
mod renewal;
mod replay;
mod roles;
mod rotation;
pub mod rs256;
mod service;
mod trace;
pub mod untrusted;
#[cfg(all(target_family = "wasm", feature = "component"))]
mod wasi_http;

pub use gatehouse_auth_method_api::*;
pub use google::{Compatibility, Settings};
pub use service::AuthMethodService;
