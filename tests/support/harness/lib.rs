//! The harness of the product's tests: a running server, and the clients that others wrote.
//!
//! The server, like the host that stands in for Spin, is a program of its own. It is built on first use, in the profile of the tests: what
//! `cargo run` has built is not built again.

mod balancer;
mod clients;
mod database_link;
mod installation;
mod program;
mod reference;
mod server;
mod tls;

pub use balancer::Balancer;
pub use clients::{Client, ClientRun, bao_program, clients_folder, node_program, python};
pub use database_link::DatabaseLink;
pub use installation::{
    INSTANCE, INSTANCE_ROLE, Installation, OPERATOR, ROLE, Storage, WORKLOAD, free_address,
};
pub use program::{Host, Program, real_spin, set_clock};
pub use reference::ReferenceProcess;
pub use server::{
    Answer, DevServer, Google, ServerProcess, ServiceAccount, gatehouse_binary, target_folder,
    workspace,
};
pub use tls::TlsListener;

/// The number in an environment variable with which a test runs longer than CI has time for, or the number of CI.
///
/// # Panics
///
/// When the variable holds something else.
pub fn number_from(variable: &str, of_ci: usize) -> usize {
    let given = std::env::var(variable);
    given.map_or(of_ci, |given| {
        let number = given.parse();
        number.unwrap_or_else(|_| panic!("{variable} is a number"))
    })
}
