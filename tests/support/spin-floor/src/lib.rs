//! The least that a component can do under Spin: an answer of a few bytes, the same after one statement of SQLite that reads, and after one
//! that writes. The cost of these in Spin itself is the floor for everything that Gatehouse does there, and the bench measures both in one run.
//!
//! For WebAssembly this crate is the component, called by WASI 0.3 as the front of `spin.toml` is; the bench compiles it when it is asked for.
//! For the bench it holds the paths of the component, and the files that `spin up` needs for it.

#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
mod database;

use std::path::Path;

/// The path that makes the tables. It must be requested once, before [`READ`] and [`WRITE`].
pub const PREPARE: &str = "/prepare";
/// The path that is answered at once.
pub const HELLO: &str = "/hello";
/// The path that is answered after a statement which reads four rows by their keys.
pub const READ: &str = "/read";
/// The path that is answered after a statement which writes a row, and waits for the disk.
pub const WRITE: &str = "/write";

/// The option of `spin up` for instances that are kept for many requests, as `docs/hosts/spin.md` advises: for the floor and for Gatehouse
/// above it. Spin 3.6 does not know it.
pub const KEEP_INSTANCES: [&str; 2] = ["--max-instance-reuse-count", "10000"];

/// The label of the component's database.
const DATABASE: &str = "floor";

/// The manifest of an application that is the component in that file alone.
#[must_use]
pub fn manifest(component: &Path) -> String {
    format!(
        "spin_manifest_version = 2\n\n\
         [application]\nname = \"floor\"\nversion = \"0.1.0\"\n\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"floor\"\n\n\
         [component.floor]\nsource = {component:?}\nsqlite_databases = [{DATABASE:?}]\n"
    )
}

/// The runtime configuration with the database in that file.
#[must_use]
pub fn runtime_configuration(database: &Path) -> String {
    format!("[sqlite_database.{DATABASE}]\ntype = \"spin\"\npath = {database:?}\n")
}
