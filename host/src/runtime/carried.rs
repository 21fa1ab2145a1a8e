//! The code of the served component that the build compiled ahead.

use std::io::Read;

use anyhow::{Result, ensure};
use flate2::read::ZlibDecoder;
use wasmtime::Engine;
use wasmtime::component::Component;

/// The code of the served component, packed. Empty where the build compiled none.
const SERVED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/served.zz"));
/// The SHA-256 digest of [`SERVED`], which the build takes so that a start that finds the code unpacked does not read `SERVED`.
pub const SERVED_DIGEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/served.sha256"));
/// Code of an empty component, compiled as `SERVED` was.
const PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe.zz"));

/// Tells why [`component`] would fail, which takes no unpacking.
///
/// # Errors
///
/// When the build could compile nothing for its target, or this processor lacks what the code uses.
pub fn ensure_fits(engine: &Engine) -> Result<()> {
    load(engine, PROBE).map(drop)
}

/// The served component, with its code in memory of this process.
///
/// # Errors
///
/// As for [`ensure_fits`].
pub fn component(engine: &Engine) -> Result<Component> {
    load(engine, SERVED)
}

/// The code in [`SERVED`].
///
/// # Errors
///
/// When there is none.
pub fn code() -> Result<Vec<u8>> {
    unpacked(SERVED)
}

#[allow(unsafe_code)]
fn load(engine: &Engine, packed: &[u8]) -> Result<Component> {
    let code = unpacked(packed)?;
    // SAFETY: the code must come from wasmtime and be unchanged since. It is part of this program, which the build wrote it into.
    Ok(unsafe { Component::deserialize(engine, &code) }?)
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>> {
    ensure!(!packed.is_empty(), "this build carries no compiled code");
    let mut code = Vec::new();
    ZlibDecoder::new(packed).read_to_end(&mut code)?;
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::ZlibEncoder;
    use gatehouse_engine::{EMPTY, EngineSettings, compile_ahead, engine};

    fn packed() -> Vec<u8> {
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let code = compile_ahead(EMPTY, &target).unwrap();
        let mut packed = Vec::new();
        let mut encoder = ZlibEncoder::new(&code[..], Compression::fast());
        encoder.read_to_end(&mut packed).unwrap();
        packed
    }

    #[test]
    fn code_compiled_ahead_is_loaded_whatever_room_the_engine_gives() {
        let packed = packed();
        for memory_limit in [1 << 20, 64 << 20] {
            let engine = engine(EngineSettings {
                instances: 1,
                memory_limit,
            });
            load(&engine.unwrap(), &packed).unwrap();
        }
    }

    #[test]
    fn w8_code_for_other_settings_is_refused() {
        let mut configuration = wasmtime::Config::new();
        configuration.epoch_interruption(false);
        let other = Engine::new(&configuration).unwrap();
        let refused = load(&other, &packed()).err().unwrap();
        assert!(format!("{refused:#}").contains("epoch"), "{refused:#}");
    }

    #[test]
    fn a_build_that_compiled_nothing_says_so() {
        let engine = engine(EngineSettings::default()).unwrap();
        for nothing in [&b""[..], &packed()[..9]] {
            load(&engine, nothing).err().unwrap();
        }
    }
}
