//! Makes sure that the compiler can build for WebAssembly.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Installs the standard library of `target` when it is missing.
///
/// # Errors
///
/// When it is missing and cannot be installed; the message says what to type.
pub(crate) fn ensure_target(target: &str) -> Result<()> {
    if is_installed(target)? {
        return Ok(());
    }
    let added = Command::new("rustup")
        .args(["target", "add", target])
        .env_remove("RUSTC")
        .status();
    if added.is_ok_and(|status| status.success()) && is_installed(target)? {
        return Ok(());
    }
    bail!(
        "the components need the Rust target {target}, which is not installed and could not be added; type:\n\n    \
         rustup target add {target}\n\n(or install your distribution's package with the standard library for {target})"
    )
}

fn is_installed(target: &str) -> Result<bool> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .context("cannot run rustc")?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(output.status.success() && Path::new(&folder).is_dir())
}
