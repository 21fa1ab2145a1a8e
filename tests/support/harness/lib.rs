//! The harness of the product's tests: a running server, and the clients that others wrote.
//!
//! The server, like the host that stands in for Spin, is a program of its own. It is built on first use, in the profile of the tests: what
//! `cargo run` has built is not built again.

mod balancer;
mod clients;
mod installation;
mod program;
mod reference;
mod server;

pub use balancer::Balancer;
pub use clients::{Client, ClientRun, bao_program, clients_folder, node_program, python};
pub use installation::{
    INSTANCE, INSTANCE_ROLE, Installation, OPERATOR, ROLE, Storage, WORKLOAD, free_address,
};
pub use program::{Host, Program};
pub use reference::ReferenceProcess;
pub use server::{
    Answer, DevServer, Google, ServerProcess, ServiceAccount, gatehouse_binary, target_folder,
    workspace,
};
