//! The fronts for Spin with their records in a PostgreSQL database: clients, kills, restarts, backups, and histories of several processes on one
//! database.

mod backups;
#[path = "../installation/command.rs"]
mod command;
#[path = "../histories/connection.rs"]
mod connection;
#[path = "../clients/everywhere.rs"]
mod everywhere;
#[path = "../faults/killed_server.rs"]
mod killed_server;
mod postgres_on_spin_3;
#[path = "../faults/restart.rs"]
mod restart;
#[path = "../histories/running.rs"]
mod running;
#[path = "../clients/script.rs"]
mod script;
mod stage;

use gatehouse_tests::{Host, Storage};

/// The program that runs the components.
const HOST: Host = Host::SpinPostgres;
/// The store that it keeps its records in.
const STORAGES: &[Storage] = &[Storage::Postgres];
