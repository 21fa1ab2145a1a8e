//! Histories of concurrent clients of the front for Spin, checked for linearizability (SEC-V5): instances race on the SQLite
//! databases alone, also when the host is killed between them.

#[path = "../histories/connection.rs"]
mod connection;
#[path = "../histories/crash.rs"]
mod crash;
#[path = "../histories/disturbance.rs"]
mod disturbance;
#[path = "../histories/running.rs"]
mod running;

use gatehouse_tests::{Host, Storage};

/// The program that runs the components.
const HOST: Host = Host::Spin4;
/// The stores that it can keep its records in.
const STORAGES: &[Storage] = &[Storage::Memory, Storage::Durable];
