//! The HTTP front: two wire protocols over three capabilities.
//!
//! [`Gateway::handle`] takes a plain [`Request`] and returns a plain [`Response`]. Where the body of the response comes in parts, [`Gateway::resume`]
//! returns the further parts. The front parses, routes, converts and renders, and decides nothing else: `access` decides what a token may do,
//! `auth-method` what a login means, and `orgs` what an organization is. These three are behind traits, so the same front runs over their logic in
//! one process and over component imports under WASI.
//!
//! - `/v1/...` is the protocol of the auth method, its tokens, policies and system endpoints ([`vault`]).
//! - `/api/v2/...` and `/.well-known/terraform.json` are the organizations protocol (JSON:API).

mod admission;
mod audit;
mod background;
#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
mod continuation;
mod cubbyhole_paths;
mod fresh_uuid;
mod gateway;
pub mod host;
pub mod http;
#[cfg(target_family = "wasm")]
pub mod imported;
mod json_writer;
mod metadata;
mod openapi;
pub mod organizations;
mod parts;
pub mod path;
pub mod query;
pub mod received;
mod request_body;
pub mod settings;
mod source;
mod state;
#[cfg(target_family = "wasm")]
pub mod transport;
mod unread_body;
pub mod vault;

pub use background::{Duty, DutyError, DutyOutcome};
pub use gatehouse_access_api::RootTokenHash;
pub use gatehouse_orgs_api::Edition;
pub use http::{Headers, Method, Request, Response};
pub use parts::{Part, Rest, ResumeError};
pub use received::Received;
pub use request_body::{BODY_TIMEOUT, BodyError, MAXIMUM_BODY_BYTES};
pub use settings::{Initializer, Settings};
pub use state::Gateway;
pub use unread_body::refusal_page;
