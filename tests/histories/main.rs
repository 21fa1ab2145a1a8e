//! Histories of concurrent clients of the release server over real connections, checked for linearizability (SEC-V5), also when the
//! server is killed between them.

mod connection;
mod crash;
mod running;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;
