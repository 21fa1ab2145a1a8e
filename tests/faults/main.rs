//! What goes wrong in production: killed servers, clients that are slow or vanish, requests that are none.

mod audit;
mod compiled_code;
mod earlier_stores;
mod hostile_connections;
mod hostile_requests;
mod killed_server;
mod login_flood;
mod restart;
mod shared_store;
mod soak;
mod terminations;

/// Who runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;
