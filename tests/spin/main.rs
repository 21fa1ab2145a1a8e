//! The fronts for Spin on the host that stands in for it: clients, restarts, kills, slow clients, forged addresses, refused starts, bad
//! databases, the console, backups, moving in and out.
//!
//! Left out of `faults`: `audit` and `login_flood`, since there are no sinks and no rates under Spin, and `hostile_connections` and
//! `shared_store`, since connections and the files of stores are Spin's own.

#[path = "../installation/apply.rs"]
mod apply;
mod backups;
mod bad_databases;
mod bodies;
#[path = "../console/browser.rs"]
mod browser;
mod client_address;
mod clients;
#[path = "../installation/command.rs"]
mod command;
mod console;
#[path = "../installation/first_root_token.rs"]
mod first_root_token;
#[path = "../clients/go.rs"]
mod go;
#[path = "../faults/hostile_requests.rs"]
mod hostile_requests;
#[path = "../installation/import.rs"]
mod import;
mod key_value;
#[path = "../faults/killed_server.rs"]
mod killed_server;
mod long_lists;
mod moving;
mod own_stores;
#[path = "../console/pages.rs"]
mod pages;
mod refused_starts;
#[path = "../faults/restart.rs"]
mod restart;
mod runtime_configurations;
#[path = "../clients/script.rs"]
mod script;
mod slow_clients;
#[path = "../faults/slow_reader.rs"]
mod slow_reader;
mod slow_request;
mod stage;
mod turns;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Spin4;
