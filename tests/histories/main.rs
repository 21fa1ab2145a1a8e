//! Histories of concurrent clients of the release server over real connections, checked for linearizability (SEC-V5), also when the
//! server is killed between them, it or its database stands still, the database is killed or serves no statement, the network between the two
//! is troubled, or its clock is set.

mod clocks;
mod connection;
mod crash;
mod disturbance;
mod network;
mod outage;
mod recovery;
mod running;
mod standstill;

use gatehouse_tests::{Host, Storage};

/// The program that runs the components.
const HOST: Host = Host::Gatehouse;
/// The stores that it can keep its records in.
const STORAGES: &[Storage] = &[Storage::Memory, Storage::Durable, Storage::Postgres];
