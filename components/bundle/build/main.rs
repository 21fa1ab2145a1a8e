//! Builds every component for WebAssembly in both flavours, composes them, and leaves the files where the crate embeds them.
//!
//! The components are built by a cargo of their own, in a target folder that debug and release builds of the host share.

mod compose;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

/// What cargo compiles at one time, with the features it does so with, and the names that the results are known by.
///
/// The gateway links the capabilities' crates for their types. Compiled together with them it would get the crates that export
/// interfaces, and export them as well: so it has a run of its own.
const RUNS: [&[Compiled]; 2] = [
    &[
        Compiled::capability(
            "auth-method",
            "gatehouse-auth-method",
            "gatehouse_auth_method",
        ),
        Compiled::capability("access", "gatehouse-access", "gatehouse_access"),
        Compiled::capability("orgs", "gatehouse-orgs", "gatehouse_orgs"),
    ],
    &[Compiled {
        name: "gateway",
        package: "gatehouse-gateway",
        stem: "gatehouse_gateway",
        feature: Some("component"),
    }],
];

struct Compiled {
    name: &'static str,
    package: &'static str,
    stem: &'static str,
    feature: Option<&'static str>,
}

impl Compiled {
    const fn capability(name: &'static str, package: &'static str, stem: &'static str) -> Self {
        Self {
            name,
            package,
            stem,
            feature: Some("component"),
        }
    }
}

/// The flavours, with what the compiler is told beside its defaults.
///
/// `wide` needs an engine that has 128-bit multiplication switched on (an RSA check costs a fifth there); `portable` runs anywhere.
const FLAVOURS: [(&str, &[&str]); 2] = [
    ("portable", &[]),
    ("wide", &["-Ctarget-feature=+simd128,+wide-arithmetic"]),
];

const TARGET: &str = "wasm32-wasip2";

fn main() -> Result<()> {
    let output = PathBuf::from(env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    let workspace = workspace()?;
    for watched in ["components", "wit", "Cargo.toml", "Cargo.lock"] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(watched).display()
        );
    }
    toolchain::ensure_target(TARGET)?;
    let target_folder = shared_target_folder(&output)?;
    for (flavour, flags) in FLAVOURS {
        let folder = output.join(flavour);
        fs::create_dir_all(&folder)?;
        for run in RUNS {
            let built = build(&workspace, &target_folder.join(flavour), flags, run)?;
            for compiled in run {
                let from = built.join(format!("{}.wasm", compiled.stem));
                fs::copy(&from, folder.join(format!("{}.wasm", compiled.name)))
                    .with_context(|| format!("cannot copy {}", from.display()))?;
            }
        }
        let composed = compose::compose(&folder)
            .with_context(|| format!("cannot compose the {flavour} components"))?;
        fs::write(folder.join("gatehouse.wasm"), composed)?;
    }
    Ok(())
}

fn workspace() -> Result<PathBuf> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").context("not run by cargo")?);
    let root = manifest.ancestors().nth(2);
    Ok(root
        .context("the bundle is not inside the workspace")?
        .to_owned())
}

/// `components` beside the profile folders, so that `cargo test` does not build again what `cargo run --release` has built.
fn shared_target_folder(output: &Path) -> Result<PathBuf> {
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let target = output.ancestors().nth(4);
    Ok(target
        .context("OUT_DIR is not where cargo puts it")?
        .join("components"))
}

/// Compiles the components of one run and returns the folder with the results.
fn build(
    workspace: &Path,
    target_folder: &Path,
    flags: &[&str],
    run: &[Compiled],
) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").context("CARGO is not set")?);
    cargo
        .current_dir(workspace)
        .args([
            "build",
            "--quiet",
            "--lib",
            "--profile",
            "component",
            "--target",
            TARGET,
        ])
        .arg("--target-dir")
        .arg(target_folder);
    for compiled in run {
        cargo.args(["--package", compiled.package]);
        if let Some(feature) = compiled.feature {
            cargo.args(["--features", &format!("{}/{feature}", compiled.package)]);
        }
    }
    // What the outer cargo sets for its own compiler runs (flags, clippy's wrapper) must not reach the inner one.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let outer = text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_CFG_")
            || text.starts_with("CARGO_FEATURE_")
            || text.starts_with("CARGO_PROFILE_")
            || text.starts_with("CARGO_BUILD_");
        if outer {
            cargo.env_remove(&name);
        }
    }
    for name in [
        "RUSTFLAGS",
        "RUSTC",
        "RUSTDOC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "TARGET",
        "HOST",
    ] {
        cargo.env_remove(name);
    }
    // Paths of the building machine would end up in panic messages and make builds differ between machines.
    let mut encoded: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    encoded.push(format!("--remap-path-prefix={}=.", workspace.display()));
    if let Some(home) = env::var_os("CARGO_HOME") {
        encoded.push(format!(
            "--remap-path-prefix={}=cargo",
            Path::new(&home).display()
        ));
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", encoded.join("\u{1f}"));
    let output = cargo.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "building the components failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let built = target_folder.join(TARGET).join("component");
    ensure!(built.is_dir(), "cargo left nothing in {}", built.display());
    Ok(built)
}
