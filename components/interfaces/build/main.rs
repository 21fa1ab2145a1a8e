//! Leaves each package of `wit/` in its binary form where the crate embeds it, and beside it a list of what it defines.

mod encode;
#[path = "../src/package.rs"]
mod package;

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, Result};

use package::Package;

fn main() -> Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").context("not run by cargo")?);
    let output = PathBuf::from(env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    let workspace = manifest.ancestors().nth(2);
    let wit = workspace
        .context("the crate is not inside the workspace")?
        .join("wit");
    println!("cargo::rerun-if-changed={}", wit.display());
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/package.rs");
    let resolve = encode::resolve(&wit)?;
    for package in Package::ALL {
        let file = output.join(package.name());
        let bytes = encode::encode(&resolve, package.name())?;
        fs::write(file.with_extension("wasm"), bytes)?;
        let defined = encode::defined(&resolve, package.name())?;
        fs::write(file.with_extension("txt"), defined.join("\n"))?;
    }
    Ok(())
}
