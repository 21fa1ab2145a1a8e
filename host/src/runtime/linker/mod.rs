//! The interfaces that the host provides to components.

mod missing;

use anyhow::Result;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker, ResourceType};

pub use missing::{MissingImport, MissingImports};

use super::addresses;
use super::state::InstanceState;

/// The interfaces of WASI 0.2, of which the instance decides what does anything. The list is closed: later versions of 0.2 add none.
const WASI: [&str; 29] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:http/outgoing-handler",
    "wasi:http/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// A linker with WASI 0.2, outgoing HTTP and addresses; [`super::storage::bind`] and [`super::cache::bind`] add what each component has for
/// itself, [`super::services::bind`] what all have in common.
///
/// # Errors
///
/// When two of the interfaces clash, which would be a fault of this program.
pub fn linker(engine: &Engine) -> Result<Linker<InstanceState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    // It is all types, so that there is nothing to define in it.
    linker.instance(addresses::INTERFACE)?;
    Ok(linker)
}

/// Makes sure that `linker`, which began as [`linker`], has whatever `component` imports.
///
/// # Errors
///
/// When it lacks something: names each such import, and what would provide it.
pub fn ensure_imports_are_met(
    linker: &Linker<InstanceState>,
    component: &Component,
) -> Result<(), MissingImports> {
    let mut probe = linker.clone();
    let component_type = component.component_type();
    let missing: Vec<MissingImport> = component_type
        .imports(linker.engine())
        .filter(|(name, _)| !is_wasi(name) && !is_taken(&mut probe, name))
        .map(|(name, item)| MissingImport::new(name, item.implements))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(MissingImports(missing)),
    }
}

/// True if something is defined as `name`; if not, something is from now on: a linker can only be asked by trying to take the name.
fn is_taken(probe: &mut Linker<InstanceState>, name: &str) -> bool {
    let nothing = ResourceType::host::<()>();
    probe.root().resource(name, nothing, |_, _| Ok(())).is_err()
}

/// True if `name` is an interface that every linker from here has, of whatever version of 0.2.
fn is_wasi(name: &str) -> bool {
    match name.split_once('@') {
        Some((interface, version)) => {
            // A version before a release is never taken for it.
            version.starts_with("0.2.") && !version.contains('-') && WASI.contains(&interface)
        }
        None => false,
    }
}

#[cfg(test)]
mod tests;
