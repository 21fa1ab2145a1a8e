//! Compiles the crates of `components/` to WebAssembly and joins them.
//!
//! The same code serves everything that needs a component: the build script of the bundle, tests and tools that ask for a component that
//! a program does not carry, the manifests for Spin, and releases. A [`Unit`] is what the compiler makes; a [`Part`] and a
//! [`spin::Part`] are what can be loaded: a unit, or several joined.

mod compile;
#[cfg(feature = "join")]
mod compose;
#[cfg(feature = "join")]
mod parts;
mod paths;
mod seed;
#[cfg(feature = "join")]
pub mod spin;
mod toolchain;
mod unit;

pub use compile::{Quality, Workshop};
#[cfg(feature = "join")]
pub use compose::compose;
#[cfg(feature = "join")]
pub use parts::{Flavour, Part};
pub use unit::Unit;
