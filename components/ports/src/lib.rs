//! The ports by which a capability reaches its surroundings: a store, a cache, outgoing HTTP, a clock, randomness.
//!
//! The logic of every capability is ordinary Rust over these five small traits. Compiled to a component they are answered by
//! WASI and by the `gatehouse:storage` imports; in a native program by implementations of the program's choice; in tests by the doubles of
//! this crate (feature `doubles`).
//!
//! The items that several packages share are here too: [`IpAddress`], [`networks`], [`AllowedHost`], [`limits`], [`key_rotation`],
//! [`organizations_api`].

mod allowed_host;
mod cache;
mod callable_hosts;
mod clock;
pub mod console_paths;
mod http;
mod ip_address;
pub mod key_rotation;
pub mod limits;
pub mod networks;
pub mod organizations_api;
mod random;
mod reach;
pub mod rules;
mod store;

#[cfg(feature = "doubles")]
pub mod doubles;

pub use allowed_host::{AllowedHost, AllowedHostError, Scheme};
pub use cache::{Cache, NoCache};
pub use callable_hosts::{CallableHosts, NamedBy};
pub use clock::{Clock, SystemClock};
pub use http::{Http, HttpError, HttpRequest, HttpResponse, Method};
pub use ip_address::IpAddress;
pub use random::{DrawnAhead, OsRandom, Random, RandomError};
pub use reach::Reach;
pub use store::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Item, MAXIMUM_KEY_BYTES,
    MAXIMUM_KEYS_PER_CALL, MAXIMUM_SCAN_LIMIT, MAXIMUM_VALUE_BYTES, Page, Put, Requirement, Store,
    StoreError, Version,
};
