//! The imports that Spin offers a component, and those that a component asks for in vain.

// Spin's offer is written down once, where the manifests and the bundle are held against it.
#[path = "../../../../components/bundle/tests/all/spin/offered.rs"]
mod offered;
#[path = "../../types_alone.rs"]
mod types_alone;

use anyhow::{Result, bail};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::platform;
use crate::state::InstanceState;
use offered::Offer;
use types_alone::has_types_alone;

/// The versions of Spin that are different in what they offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 3.6, and what SpinKube runs: WASI 0.2.
    Spin3,
    /// 4.1: WASI 0.3 as well.
    Spin4,
}

impl Version {
    fn offers(self) -> Vec<Offer> {
        match self {
            Self::Spin3 => offered::by_spin_3_6(),
            Self::Spin4 => offered::by_spin_4_1(),
        }
    }
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
    let offers = version.offers();
    let component_type = component.component_type();
    let unmet: Vec<String> = component_type
        .imports(engine)
        .filter(|(name, import)| {
            !has_types_alone(engine, &import.ty) && !offered::covers(&offers, name)
        })
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
