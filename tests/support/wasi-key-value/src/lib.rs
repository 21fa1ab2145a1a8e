//! Stores of `wasi:keyvalue` 0.2.0-draft2 in plain Rust, with the habits of the host that offers them: Spin and its SQLite provider.
//!
//! **Habits that a user of the interface must know**, each of which is kept here:
//!
//! - [`Cas::swap`] compares only where [`Cas::current`] has returned a value. Where the record was absent, or was not read, it
//!   overwrites whatever is there by then: two clients that create a record both succeed.
//! - A record that [`Bucket::increment`] counts has eight bytes, little-endian. One of another length makes Spin panic; here it is an
//!   error, and noted as a [`Misuse`].
//! - [`Bucket::list_keys`] knows no cursor, and answers with all keys at once.
//! - [`Bucket::get_many`] answers with pairs of key and value, in no promised order, and leaves absent records out.
//! - [`Bucket::set_many`] promises neither an order nor that it is whole. Here it goes from the last pair to the first.
//!
//! **Faults**: a [`KeyValue`] is one client. [`KeyValue::another_client`] sees the same records, and has faults and counts of its own.
//! A client can be [stopped](KeyValue::stop_after_writes) after any single write, as if its instance had been cut off there, and every
//! call can be [intercepted](KeyValue::intercept) to fail it, to answer garbage, to wait, or to let another client act first.

#[cfg(feature = "adapter-host")]
mod adapter_host;
mod bucket;
mod client;
mod error;
mod records;

#[cfg(feature = "adapter-host")]
pub use adapter_host::AdapterHost;
pub use bucket::{Bucket, Cas};
pub use client::{Call, KeyValue, Misuse, Operation, Uses, Verdict};
pub use error::{Error, SwapError};
