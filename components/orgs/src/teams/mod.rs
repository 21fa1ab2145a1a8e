//! Teams: what their members may do, and who the members are (contract 4.10).

mod members;
mod owners;
mod reading;
mod removal;
mod rules;
mod store;
