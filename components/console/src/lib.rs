//! Pages for people, over the API alone.
//!
//! [`Console::handle`] takes a request of a browser and answers a page. All it knows it asks of the API, through the port [`Exchange`], with
//! the token of its visitor: it has no records and no rights of its own. The token lies sealed in a cookie of the browser (`session.rs`);
//! pages are made by templates that escape whatever they are given, and need no scripts.

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
