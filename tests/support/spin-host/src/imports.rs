//! What a component may import of Spin, and what it asks for in vain.

use anyhow::{Result, bail};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::platform;
use crate::state::InstanceState;

/// Packages whose interfaces of version 0.2 are all offered.
const WASI_0_2: [&str; 7] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:http/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// Packages whose interfaces of version 0.3 are all offered by Spin 4.1.
const WASI_0_3: [&str; 6] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:http/",
    "wasi:random/",
    "wasi:sockets/",
];

/// Interfaces of which nothing but this version is offered.
const DRAFTS: [&str; 4] = [
    "wasi:config/store@0.2.0-draft-2024-09-27",
    "wasi:keyvalue/atomics@0.2.0-draft2",
    "wasi:keyvalue/batch@0.2.0-draft2",
    "wasi:keyvalue/store@0.2.0-draft2",
];

/// The versions of Spin that are different in what they offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 3.6, and what SpinKube runs: WASI 0.2.
    Spin3,
    /// 4.1: WASI 0.3 as well.
    Spin4,
}

/// A linker with everything that either version offers.
///
/// # Errors
///
/// When two interfaces clash.
pub fn linker(engine: &Engine) -> wasmtime::Result<Linker<InstanceState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    wasmtime_wasi::p3::add_to_linker(&mut linker)?;
    wasmtime_wasi_http::p3::add_to_linker(&mut linker)?;
    platform::add_to_linker(&mut linker)?;
    Ok(linker)
}

/// Names every import of `component` that this version does not offer.
///
/// # Errors
///
/// When there is such an import.
pub fn ensure_met(engine: &Engine, component: &Component, version: Version) -> Result<()> {
    let component_type = component.component_type();
    let unmet: Vec<String> = component_type
        .imports(engine)
        .filter(|(name, _)| !is_offered(name, version))
        .map(|(name, _)| format!("  {name}"))
        .collect();
    if unmet.is_empty() {
        return Ok(());
    }
    bail!(
        "{version:?} does not offer what the component imports:\n{}",
        unmet.join("\n")
    )
}

fn is_offered(name: &str, version: Version) -> bool {
    let of_packages = |packages: &[&str], line: &str| {
        let package = packages.iter().any(|package| name.starts_with(package));
        let version = name.rsplit_once('@').map_or("", |(_, version)| version);
        package && version.starts_with(line) && !version.contains('-')
    };
    DRAFTS.contains(&name)
        || of_packages(&WASI_0_2, "0.2.")
        || (version == Version::Spin4 && of_packages(&WASI_0_3, "0.3."))
}
