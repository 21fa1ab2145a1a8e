//! Agent pools: groups of workers that an organization runs itself (contract 4.9).
//!
//! The pool that an organization takes for its default must be a pool of its own, at every moment: [`default`].

pub(crate) mod default;
mod listing;
pub(crate) mod record;
mod store;

#[cfg(test)]
mod tests;
