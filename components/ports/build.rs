//! Warns early in a build that the compiler cannot make the components, which a program with them needs: the build script that makes them runs
//! some minutes later. This crate is below all others of the workspace, so cargo comes to it before the large dependencies.

use std::env;
use std::path::Path;
use std::process::Command;

const TARGET: &str = "wasm32-wasip2";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(folder) = library_folder() else {
        return;
    };
    // Where it is missing, cargo asks again at the next build.
    println!("cargo::rerun-if-changed={folder}");
    if Path::new(&folder).is_dir() || has_rustup() {
        return;
    }
    println!(
        "cargo::warning=the Rust target {TARGET} is missing, so a program with the components cannot be built: install your \
         distribution's package with the standard library for {TARGET}, or rustup"
    );
}

/// Where the compiler looks for the standard library of the target; `None` if it does not say. `components/assembly` decides by the same answer
/// whether it can build; a build script of this crate cannot call it, since it would have to be compiled first, late.
fn library_folder() -> Option<String> {
    let rustc = env::var_os("RUSTC")?;
    let asked = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .ok()?;
    let folder = String::from_utf8(asked.stdout).ok()?;
    asked.status.success().then(|| folder.trim().to_owned())
}

/// True if there is a rustup, which the build has add what is missing.
fn has_rustup() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join("rustup").is_file())
}
