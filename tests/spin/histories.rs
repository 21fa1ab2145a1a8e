//! What concurrent clients of the front for Spin are told, checked for linearizability (SEC-V5): instances race on the key-value store
//! alone, also when the host is killed between them.

#[path = "../histories/connection.rs"]
mod connection;
#[path = "../histories/crash.rs"]
mod crash;
#[path = "../histories/running.rs"]
mod running;

/// Who runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Spin4;
