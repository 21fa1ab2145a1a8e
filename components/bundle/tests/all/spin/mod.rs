//! Manifests for Spin: they are as Spin documents them, and the components that they name fit Spin and one another.

mod composition;
mod faces;
mod manifests;
mod offered;
mod parts;
mod schema;
