//! The fronts for Spin on the host that stands in for it: clients, restarts, kills, slow clients, forged addresses, refused starts.

mod client_address;
mod clients;
#[path = "../faults/killed_server.rs"]
mod killed_server;
mod refused_starts;
#[path = "../faults/restart.rs"]
mod restart;
#[path = "../clients/script.rs"]
mod script;
mod slow_clients;

/// Who runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Spin4;
