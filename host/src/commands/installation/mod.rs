//! A whole installation as one description: read from a file or from another server, and applied to a running one.
//!
//! [`Description`] is the wanted state. A [`Reconciler`] reads the present state through the API of a [`Server`], compares the two field by
//! field ([`comparison`]) and writes what differs, with no way around the API: the rights are those of the token, and everything is in
//! the audit log. [`source`] makes the description of a server of Vault's protocol.
//!
//! Fields are the API's own and pass through as they are: the server says which there are ([`ServedFields`]), so a new one needs no change here.

mod client;
mod comparison;
mod description;
mod first_start;
mod identity;
mod organizations;
mod reconciler;
mod report;
mod served;
pub(super) mod source;

pub(super) use client::Server;
pub(super) use description::Description;
pub(super) use reconciler::{Options, Reconciler};
pub(super) use report::{Report, Summary, shown};

/// The fields of an object of the API.
type Fields = serde_json::Map<String, serde_json::Value>;
