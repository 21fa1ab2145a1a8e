//! What Spin is given: that its manifests are as Spin documents them, and that what they name fits Spin and one another.

mod composition;
mod faces;
mod manifests;
mod offered;
mod parts;
mod schema;
