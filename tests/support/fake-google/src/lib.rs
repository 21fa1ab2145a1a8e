//! A Google that lives on loopback: keys, accounts and tokens for tests and for the dev command.
