//! What the host provides to components.

use anyhow::{Result, bail};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use super::state::InstanceState;

/// The packages that a component may import: WASI 0.2, of which the instance decides what does anything, and the host's services.
const PROVIDED_PACKAGES: [&str; 8] = [
    super::services::PACKAGE,
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:http/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// The interfaces that are bound for each component, under their own names or others.
const BOUND_INTERFACES: [&str; 2] = [super::cache::INTERFACE, super::storage::INTERFACE];

/// A linker with WASI 0.2 and outgoing HTTP; [`super::storage::bind`] and [`super::cache::bind`] add what each component has for
/// itself, [`super::services::bind`] what all have in common.
///
/// # Errors
///
/// When two of the interfaces clash, which would be a fault of this program.
pub fn linker(engine: &Engine) -> Result<Linker<InstanceState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    Ok(linker)
}

/// Names every import of `component` that nothing here provides, and what would.
///
/// # Errors
///
/// When there is such an import.
pub fn ensure_imports_are_met(engine: &Engine, component: &Component) -> Result<()> {
    let component_type = component.component_type();
    let unmet: Vec<String> = component_type
        .imports(engine)
        .filter(|(name, item)| {
            let bound = BOUND_INTERFACES
                .iter()
                .any(|interface| item.is_implements(interface) || name == interface);
            let provided = PROVIDED_PACKAGES
                .iter()
                .any(|package| name.starts_with(package));
            !bound && !provided
        })
        .map(|(name, _)| format!("  {name}: {}", remedy(name)))
        .collect();
    if unmet.is_empty() {
        return Ok(());
    }
    bail!(
        "the component imports what this host does not provide:\n{}",
        unmet.join("\n")
    )
}

fn remedy(name: &str) -> &'static str {
    if name.starts_with("gatehouse:storage/") {
        "of this package key-value and cache are served here, version 0.1"
    } else if name.starts_with("gatehouse:") {
        "compose the component with the one that exports it"
    } else if name.contains("@0.3") {
        "WASI 0.3 is not served here; use the 0.2 component"
    } else {
        "use a component built for WASI 0.2 and gatehouse:storage"
    }
}
