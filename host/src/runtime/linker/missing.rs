//! Imports of a component that the host lacks, and what would provide them.

use std::fmt;

/// Imports of a component that the host does not provide. As text it has a line for each, with what would provide it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct MissingImports(pub Vec<MissingImport>);

impl fmt::Display for MissingImports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the component imports what this host does not provide:")?;
        for import in &self.0 {
            write!(formatter, "\n  {}: {}", import.name, import.remedy)?;
        }
        Ok(())
    }
}

/// An import that the host does not provide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingImport {
    /// As the component has it, with the version.
    pub name: String,
    /// The part that would provide it.
    pub remedy: &'static str,
}

impl MissingImport {
    /// The import `name`, which is, where it has a name of its own, one of the interface `implements`.
    pub(super) fn new(name: &str, implements: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            remedy: remedy(implements.unwrap_or(name)),
        }
    }
}

/// Beginnings of interface names with what provides the interface; the first that fits counts.
const REMEDIES: [(&str, &str); 22] = [
    (
        "gatehouse:storage/key-value@0.1.",
        "give it a store, by `gatehouse::runtime::storage::bind` under this name",
    ),
    (
        "gatehouse:storage/cache@0.1.",
        "give it a cache, by `gatehouse::runtime::cache::bind` under this name",
    ),
    (
        "gatehouse:storage/",
        "this host serves version 0.1 of key-value and cache; take component and host from one release",
    ),
    (
        "gatehouse:auth-method/",
        "the component auth-method exports it; compose the two, or take gatehouse.wasm, where they are",
    ),
    (
        "gatehouse:access/",
        "the component access exports it; compose the two, or take gatehouse.wasm, where they are",
    ),
    (
        "gatehouse:orgs/",
        "the component orgs exports it; compose the two, or take gatehouse.wasm, where they are",
    ),
    (
        "gatehouse:gateway/",
        "the component gateway exports it; compose the two, or take gatehouse.wasm",
    ),
    (
        "gatehouse:host/",
        "give it the services of a server, by `gatehouse::runtime::services::bind`",
    ),
    (
        "gatehouse:",
        "no component of this release exports it; take component and host from one release",
    ),
    (
        "wasi:keyvalue/",
        "joined with the storage adapter, the component needs a host with a wasi:keyvalue 0.2.0-draft2 store, such as Spin; \
         the component without the adapter runs here",
    ),
    (
        "wasi:config/",
        "it is made for a host with wasi:config 0.2.0-draft-2024-09-27, such as Spin; the component without the storage adapter, \
         behind the gateway, runs here",
    ),
    (
        "spin:",
        "only Spin provides it; the component that is not made for Spin runs here",
    ),
    (
        "fermyon:spin/",
        "only Spin provides it; the component that is not made for Spin runs here",
    ),
    (
        "wasi:http/incoming-handler@0.2.",
        "a component that answers requests exports it; compose the two",
    ),
    ("wasi:cli/", OTHER_WASI),
    ("wasi:clocks/", OTHER_WASI),
    ("wasi:filesystem/", OTHER_WASI),
    ("wasi:http/", OTHER_WASI),
    ("wasi:io/", OTHER_WASI),
    ("wasi:random/", OTHER_WASI),
    ("wasi:sockets/", OTHER_WASI),
    (
        "wasi:",
        "it is no part of WASI 0.2; a host that offers it, or a component that exports it, is needed",
    ),
];

/// For interfaces of WASI that are not of the version served here.
const OTHER_WASI: &str = "this host serves WASI 0.2; a component for WASI 0.3 needs Spin 4.1 or another host with it, and the \
     same component for 0.2 runs here";

fn remedy(interface: &str) -> &'static str {
    let fits = |(beginning, _): &&(&str, &str)| interface.starts_with(beginning);
    let known = REMEDIES.iter().find(fits);
    known.map_or(
        "compose the component with one that exports it",
        |(_, remedy)| remedy,
    )
}
