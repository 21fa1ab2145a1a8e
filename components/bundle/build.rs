//! Has the components compiled that the program is to carry, and leaves them where the crate embeds them.
//!
//! A release carries every unit, optimized as a whole and compressed. Any other build carries what the server is joined from, compiled
//! fast; `src/units.rs` has the rest made when something asks for it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use gatehouse_assembly::{Quality, Unit, Workshop};
use sha2::{Digest, Sha256};

fn main() -> Result<()> {
    let output = PathBuf::from(env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    let workspace = workspace()?;
    watch(&workspace)?;
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let made_in = target_folder(&output)?;
    println!("cargo::rustc-check-cfg=cfg(carries_every_unit)");
    if is_release {
        println!("cargo::rustc-cfg=carries_every_unit");
    } else {
        println!("cargo::rustc-env=GATEHOUSE_SOURCES={}", workspace.display());
        println!("cargo::rustc-env=GATEHOUSE_MADE_IN={}", made_in.display());
    }
    let quality = if is_release {
        finished()
    } else {
        Quality::Draft
    };
    let made = Workshop::new(workspace, made_in, quality).make_carried()?;
    let mut digest = Sha256::new();
    for unit in Unit::ALL {
        let bytes = made.iter().find(|(made, _)| *made == unit);
        let file = output.join(format!("{}.zz", unit.name()));
        // A component that is not carried is an empty file, so that one list of files fits every build.
        let compressed = bytes
            .map(|(_, bytes)| compressed(bytes, is_release))
            .transpose()?
            .unwrap_or_default();
        digest.update(unit.name());
        digest.update(&compressed);
        fs::write(file, compressed)?;
    }
    fs::write(output.join("carried.sha256"), digest.finalize())?;
    Ok(())
}

const fn finished() -> Quality {
    if cfg!(feature = "names") {
        Quality::Named
    } else {
        Quality::Finished
    }
}

/// Names what a component is made from, so that a change elsewhere compiles none. The tests of the crates are no part of it.
fn watch(workspace: &Path) -> Result<()> {
    println!("cargo::rerun-if-env-changed=GATEHOUSE_COMPONENTS");
    if let Some(prebuilt) = Workshop::prebuilt() {
        println!("cargo::rerun-if-changed={}", prebuilt.display());
        println!(
            "cargo::warning=the components are those of {}, not of this source",
            prebuilt.display()
        );
        return Ok(());
    }
    for room in fs::read_dir(workspace.join("components"))? {
        let room = room?;
        // This crate carries the components and is in none.
        if room.file_name() == "bundle" || !room.path().join("src").exists() {
            continue;
        }
        for part in ["src", "Cargo.toml"] {
            println!(
                "cargo::rerun-if-changed={}",
                room.path().join(part).display()
            );
        }
    }
    for watched in ["wit", "Cargo.toml", "Cargo.lock"] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(watched).display()
        );
    }
    Ok(())
}

fn compressed(bytes: &[u8], is_release: bool) -> Result<Vec<u8>> {
    // Compressing well takes seconds where this script is not optimized.
    let level = if is_release {
        Compression::best()
    } else {
        Compression::none()
    };
    let mut encoder = ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn workspace() -> Result<PathBuf> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").context("not run by cargo")?);
    let root = manifest.ancestors().nth(2);
    Ok(root
        .context("the bundle is not inside the workspace")?
        .to_owned())
}

/// `components` beside the profile folders, so that all profiles and all who ask later share what is compiled.
fn target_folder(output: &Path) -> Result<PathBuf> {
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let target = output.ancestors().nth(4);
    Ok(target
        .context("the build script was run from an unexpected folder")?
        .join("components"))
}
