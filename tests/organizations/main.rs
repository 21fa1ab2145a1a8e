//! The organizations API of the running server: what the tests and the requests of its clients demand of it (contract 6 and 8).

#[macro_use]
mod scenarios;

mod breakage;
mod concurrency;
mod conventions;
mod described;
mod documents;
mod first_users;
mod fixtures;
mod invitations;
mod limits;
mod recorded;
mod replay;
mod route_table;
mod server;
mod session;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;
