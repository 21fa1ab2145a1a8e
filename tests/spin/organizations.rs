//! The organizations API of the front for Spin: the same as that of the release server.
//!
//! Left out: `limits`, since nothing counts requests over all instances there.

#[macro_use]
#[path = "../organizations/scenarios.rs"]
mod scenarios;

#[path = "../organizations/breakage.rs"]
mod breakage;
#[path = "../organizations/concurrency.rs"]
mod concurrency;
#[path = "../organizations/conventions.rs"]
mod conventions;
#[path = "../organizations/described.rs"]
mod described;
#[path = "../organizations/documents.rs"]
mod documents;
#[path = "../organizations/first_users.rs"]
mod first_users;
#[path = "../organizations/fixtures.rs"]
mod fixtures;
#[path = "../organizations/recorded.rs"]
mod recorded;
#[path = "../organizations/replay.rs"]
mod replay;
#[path = "../organizations/route_table/mod.rs"]
mod route_table;
#[path = "../organizations/server.rs"]
mod server;
#[path = "../organizations/session.rs"]
mod session;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Spin4;
