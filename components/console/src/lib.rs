//! Pages for people, made from the API alone.
//!
//! [`Console::handle`] takes a request of a browser and returns a page. It asks the API for everything, through the port [`Exchange`], with the token
//! of its visitor: it has no records and no rights of its own. The token is sealed in a cookie of the browser (`session.rs`). Pages are made by
//! templates that escape every value, and need no scripts.

mod api;
#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
mod console;
mod exchange;
mod form;
mod layout;
mod origin;
mod pages;
mod session;

pub use console::{Console, Settings};
pub use exchange::{Exchange, Request, Response};
pub use pages::addresses;
pub use session::{KEY_BYTES, SealingKey};
