//! Faults of production: killed servers, clients that are slow or vanish, requests that are none.

mod access_log;
mod audit;
mod backups;
mod cluster;
mod compiled_code;
mod core_files;
mod databases;
mod earlier_stores;
mod failover;
mod followed_log;
mod full_disk;
mod gauges;
mod hostile_connections;
mod hostile_requests;
mod killed_server;
mod login_flood;
mod long_lists;
mod probes;
mod races;
mod reload;
mod restart;
mod rolling_replacement;
mod several_servers;
mod shared_store;
mod slow_reader;
mod soak;
mod terminations;
mod traces;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;
