//! `gatehouse apply` and `gatehouse import`, as an operator types them, against servers; first starts, and the image of the program.

mod apply;
mod bootstrap;
mod command;
mod first_root_token;
mod image;
mod import;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;
