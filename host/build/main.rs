//! Lists the types of the auth method for the library to convert, and, with the feature `compiled-ahead`, compiles the component that the
//! server runs for the build's target.

mod crossing;

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, Result};

fn main() -> Result<()> {
    // Cargo also runs this again when the crates have changed that it is linked from.
    println!("cargo::rerun-if-changed=build");
    let output = PathBuf::from(env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    fs::write(output.join("crossing.rs"), crossing::conversions()?)?;
    let code = code()?;
    fs::write(output.join("served.zz"), code.served)?;
    fs::write(output.join("served.sha256"), code.served_digest)?;
    fs::write(output.join("probe.zz"), code.probe)?;
    Ok(())
}

/// Compressed machine code. Both are empty where nothing is compiled ahead.
#[derive(Default)]
struct Code {
    /// Of the component that the server runs.
    served: Vec<u8>,
    /// The SHA-256 digest of `served`.
    served_digest: Vec<u8>,
    /// Of an empty component: a processor that can run it can run the other.
    probe: Vec<u8>,
}

#[cfg(not(feature = "compiled-ahead"))]
fn code() -> Result<Code> {
    Ok(Code::default())
}

#[cfg(feature = "compiled-ahead")]
fn code() -> Result<Code> {
    use gatehouse_components::{Part, SERVED};
    use gatehouse_engine::{EMPTY, compile_ahead};
    use sha2::{Digest, Sha256};

    let target = env::var("TARGET")?;
    let served = gatehouse_components::bytes(Part::Composed, SERVED)?;
    match compile_ahead(EMPTY, &target) {
        Ok(probe) => {
            let served = compressed(&compile_ahead(served, &target)?)?;
            Ok(Code {
                served_digest: Sha256::digest(&served).to_vec(),
                served,
                probe: compressed(&probe)?,
            })
        }
        Err(error) => {
            println!("cargo::warning=the first start will compile the components: {error:#}");
            Ok(Code::default())
        }
    }
}

#[cfg(feature = "compiled-ahead")]
fn compressed(code: &[u8]) -> Result<Vec<u8>> {
    use flate2::{Compression, write::ZlibEncoder};
    use std::io::Write;

    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(code)?;
    Ok(encoder.finish()?)
}
