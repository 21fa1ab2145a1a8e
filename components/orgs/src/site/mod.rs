//! The administration of the whole installation (contract 4.14).

mod store;
