//! The HTTP front under Spin: the gateway's two protocols behind the handler that Spin calls, over the imported capabilities.
//!
//! Spin lends a component requests, variables and an instance, and nothing that outlives it. So the seal is automatic (the storage
//! adapters read the key), nothing is audited, counted or limited in rate by the front, and what is due in the background is done now and
//! then after an answer ([`background_sampling`]).

pub mod background_sampling;
pub mod client_address;
pub mod console;
#[cfg(target_family = "wasm")]
mod front;
pub mod once_lock;
pub mod origin;
pub mod patience;
pub mod settings;
#[cfg(all(target_family = "wasm", feature = "wasi-0-3"))]
mod turn;
#[cfg(all(
    target_family = "wasm",
    feature = "wasi-0-2",
    not(feature = "wasi-0-3")
))]
mod wasi_p2;
#[cfg(all(target_family = "wasm", feature = "wasi-0-3"))]
mod wasi_p3;
