//! The built WebAssembly components, alone and composed, in both flavours.
//!
//! A release carries all of them: it needs no files beside it. Any other build carries what its server needs, and has the others compiled
//! from its sources when something asks for them.

mod units;

use std::sync::OnceLock;

use anyhow::{Result, anyhow};
pub use gatehouse_assembly::{Flavour, Part};

/// The flavour that this build carries for the server: the wide one in a release, else the portable one, so that one compiler run for each
/// component is enough.
pub const SERVED: Flavour = if cfg!(carries_every_unit) {
    Flavour::Wide
} else {
    Flavour::Portable
};

/// The component's bytes, as a `.wasm` file holds them. They are unpacked and joined once for each process.
///
/// # Errors
///
/// When a build that is not a release cannot compile what it does not carry.
pub fn bytes(part: Part, flavour: Flavour) -> Result<&'static [u8]> {
    static MADE: [[OnceLock<Made>; Part::ALL.len()]; Flavour::ALL.len()] =
        [const { [const { OnceLock::new() }; Part::ALL.len()] }; Flavour::ALL.len()];
    let place = MADE
        .get(flavour as usize)
        .and_then(|parts| parts.get(part as usize));
    once(place, || part.bytes(flavour, units::bytes))
}

/// The bytes of the console alone, which is a part of no host by itself: [`Part::Composed`] has it joined with the API.
///
/// # Errors
///
/// As [`bytes`].
pub fn console() -> Result<Vec<u8>> {
    units::bytes(gatehouse_assembly::Unit::Console)
}

/// The SHA-256 digest of the carried bytes, which [`bytes`] of [`Part::Composed`] in the flavour [`SERVED`] is made of.
///
/// The build takes it: a program that finds compiled code by it reads none of the components, and keeps none of them in memory.
pub const CARRIED_DIGEST: &[u8] = units::CARRIED_DIGEST;

/// The components that Spin loads.
pub mod spin {
    use super::{Made, OnceLock, Result, once, units};
    pub use gatehouse_assembly::spin::Part;

    /// The component's bytes, as a `.wasm` file holds them. They are unpacked and joined once for each process.
    ///
    /// # Errors
    ///
    /// When a build that is not a release cannot compile what it does not carry.
    pub fn bytes(part: Part) -> Result<&'static [u8]> {
        static MADE: [OnceLock<Made>; Part::ALL.len()] =
            [const { OnceLock::new() }; Part::ALL.len()];
        once(MADE.get(part as usize), || part.bytes(units::bytes))
    }
}

/// The bytes of a component, or why there are none.
type Made = Result<Vec<u8>, String>;

fn once(
    place: Option<&'static OnceLock<Made>>,
    make: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<&'static [u8]> {
    let place = place.ok_or_else(|| anyhow!("a part has no place"))?;
    match place.get_or_init(|| make().map_err(|error| format!("{error:#}"))) {
        Ok(bytes) => Ok(bytes),
        Err(why) => Err(anyhow!("{why}")),
    }
}
