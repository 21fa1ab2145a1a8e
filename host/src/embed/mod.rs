//! The auth method inside another program.
//!
//! [`AuthMethod`] is the component `auth-method` and nothing else: no listener, no tokens, no settings file. The program gives it a
//! [store](ports::Store) and a way to [send requests](ports::Http), and asks it who a caller is; the calls are those of
//! [`interface::AuthMethod`], which joins a trait for each interface, and their promises are in `wit/auth-method`.
//!
//! **Calls wait, and run on the thread that makes them**, as does the store; requests are sent from a thread of this crate. They work
//! with and without a Tokio runtime around them. In an async function a call holds up its thread like any other that waits, so make it
//! in `spawn_blocking` or the like. Neither the store nor the HTTP client may call the auth method in turn. Both run in the context of a
//! runtime of this crate, which has neither sockets nor room for tasks: one that needs Tokio takes a [`Handle`](tokio::runtime::Handle)
//! of the program's own when it is made.
//!
//! **Instances** are made when they are needed and used again, each by one call at a time; [`Limits`] bounds them. A call whose
//! instance traps, computes for too long or needs too much memory fails alone, with a [storage error](interface::StorageError::Unavailable)
//! that says so, and the instance is dropped. Nothing is half written then: what is written together is one commit of the store. The
//! error does not say whether that commit was made, so read before you write again. Rotating credentials and forgetting a mount are
//! several commits; called again, they go on.
//!
//! **The store** is believed, so seal what you hand to a disk that others can read. Values may be secrets.

mod auth_method;
mod bindings;
mod builder;
mod calls;
mod crossing;
mod limits;
mod outbound;
mod storage;

pub use auth_method::AuthMethod;
pub use builder::{BuildError, Builder};
pub use gatehouse_auth_method_api as interface;
pub use gatehouse_components::Flavour;
pub use gatehouse_ports as ports;
pub use limits::Limits;
