//! Builds every component for WebAssembly in both flavours, composes them, and leaves the files where the crate embeds them. What Spin
//! loads is made beside them, in the portable flavour, since Spin's engine has no other; it also goes where `spin.toml` looks for it.
//!
//! The components are built by a cargo of their own, in a target folder that debug and release builds of the host share. Whoever works on
//! the host alone can name the output of an earlier build in `GATEHOUSE_COMPONENTS`, and nothing is compiled for WebAssembly.

mod compose;
mod paths;
mod spin;
mod toolchain;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, anyhow, bail};

/// What is compiled in each flavour.
const COMPONENTS: [Compiled; 4] = [
    Compiled::exporting(
        "auth-method",
        "gatehouse-auth-method",
        "gatehouse_auth_method",
    ),
    Compiled::exporting("access", "gatehouse-access", "gatehouse_access"),
    Compiled::exporting("orgs", "gatehouse-orgs", "gatehouse_orgs"),
    Compiled::exporting("gateway", "gatehouse-gateway", "gatehouse_gateway"),
];

/// What only Spin loads: crates in several forms.
const FOR_SPIN: [Compiled; 5] = [
    Compiled::front("spin-trigger", &["wasi-0-3"]),
    Compiled::front("spin-trigger-0.2", &["wasi-0-2"]).apart(),
    Compiled::adapter("storage-adapter-access", &["component", "label-access"]).apart(),
    Compiled::adapter(
        "storage-adapter-auth-method",
        &["component", "label-auth-method"],
    )
    .apart(),
    Compiled::adapter("storage-adapter-orgs", &["component", "label-orgs"]),
];

/// A crate, the features that it is compiled with, and the name that the result is known by.
struct Compiled {
    name: &'static str,
    package: &'static str,
    stem: &'static str,
    features: &'static [&'static str],
    /// Whether it has a target folder of its own. Cargo calls all forms of a crate that becomes a component alike, so of two forms in
    /// one folder each would replace the other, and both be compiled again every time.
    apart: bool,
}

impl Compiled {
    const fn exporting(name: &'static str, package: &'static str, stem: &'static str) -> Self {
        Self {
            name,
            package,
            stem,
            features: &["component"],
            apart: false,
        }
    }

    const fn front(name: &'static str, features: &'static [&'static str]) -> Self {
        Self {
            name,
            package: "gatehouse-spin-trigger",
            stem: "gatehouse_spin_trigger",
            features,
            apart: false,
        }
    }

    const fn adapter(name: &'static str, features: &'static [&'static str]) -> Self {
        Self {
            name,
            package: "gatehouse-storage-adapter",
            stem: "gatehouse_storage_adapter",
            features,
            apart: false,
        }
    }

    const fn apart(mut self) -> Self {
        self.apart = true;
        self
    }
}

/// Runs anywhere.
const PORTABLE: &str = "portable";

/// Needs an engine that has 128-bit multiplication switched on.
const WIDE: &str = "wide";

/// What the compiler is told for the wide flavour, beside its defaults.
const WIDE_FLAGS: &[&str] = &["-Ctarget-feature=+simd128,+wide-arithmetic"];

/// What is compiled anew for the wide flavour: where an RSA check costs a fifth there. Everything else is the portable one in both, because
/// LLVM 22 takes the wrong half of some 128-bit products. That was seen in checked products of signed numbers, which `tests/built.rs` keeps
/// out of the method, and where decimal fractions are written out.
const COMPILED_WIDE: &str = "auth-method";

const TARGET: &str = "wasm32-wasip2";

/// The environment variable that names a folder with the components of an earlier build: the `out` folder of this script.
const PREBUILT: &str = "GATEHOUSE_COMPONENTS";

fn main() -> Result<()> {
    let output = PathBuf::from(env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    if let Some(prebuilt) = env::var_os(PREBUILT) {
        return take_over(Path::new(&prebuilt), &output);
    }
    let workspace = workspace()?;
    for watched in ["components", "wit", "Cargo.toml", "Cargo.lock"] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(watched).display()
        );
    }
    toolchain::ensure_target(TARGET)?;
    let target_folder = shared_target_folder(&output)?;
    let [portable, wide] = [PORTABLE, WIDE].map(|flavour| output.join(flavour));
    fs::create_dir_all(&portable)?;
    fs::create_dir_all(&wide)?;
    let for_spin = output.join("spin");
    fs::create_dir_all(&for_spin)?;
    let mut together = Vec::new();
    let mut apart = Vec::new();
    for component in &COMPONENTS {
        together.push(Job {
            component,
            target_folder: target_folder.join(PORTABLE),
            flags: &[],
            folder: &portable,
        });
        if component.name == COMPILED_WIDE {
            apart.push(Job {
                component,
                target_folder: target_folder.join(WIDE),
                flags: WIDE_FLAGS,
                folder: &wide,
            });
        }
    }
    for component in &FOR_SPIN {
        let (jobs, place) = if component.apart {
            (&mut apart, component.name)
        } else {
            (&mut together, PORTABLE)
        };
        jobs.push(Job {
            component,
            target_folder: target_folder.join(place),
            flags: &[],
            folder: &for_spin,
        });
    }
    compile_side_by_side(&workspace, &together, &apart)?;
    for component in &COMPONENTS {
        if component.name != COMPILED_WIDE {
            let file = format!("{}.wasm", component.name);
            fs::copy(portable.join(&file), wide.join(&file))?;
        }
    }
    for folder in [&portable, &wide] {
        let composed = compose::compose(folder)
            .with_context(|| format!("cannot compose what is in {}", folder.display()))?;
        fs::write(folder.join("gatehouse.wasm"), composed)?;
    }
    join_for_spin(&portable, &for_spin).context("cannot compose what Spin loads")?;
    publish(&for_spin, &target_folder.join("spin"))
}

/// Copies the components of an earlier build in place of making them.
fn take_over(prebuilt: &Path, output: &Path) -> Result<()> {
    println!("cargo::rerun-if-changed={}", prebuilt.display());
    println!(
        "cargo::warning=the components are those of {}, not of this source",
        prebuilt.display()
    );
    for folder in [PORTABLE, WIDE, "spin"] {
        publish(&prebuilt.join(folder), &output.join(folder))?;
    }
    publish(
        &output.join("spin"),
        &shared_target_folder(output)?.join("spin"),
    )
}

/// Joins the capabilities of `capabilities` with the adapters of `folder`, and both fronts of `folder` with these.
fn join_for_spin(capabilities: &Path, folder: &Path) -> Result<()> {
    let file = |name: &str| folder.join(format!("{name}.wasm"));
    let mut dependencies = BTreeMap::new();
    for (key, name) in spin::CAPABILITIES {
        let capability = fs::read(capabilities.join(format!("{name}.wasm")))?;
        let adapter = fs::read(file(&format!("storage-adapter-{name}")))?;
        let joined = spin::join(&capability, &adapter)?;
        fs::write(file(name), &joined)?;
        dependencies.insert(key.to_owned(), joined);
    }
    for (front, whole) in [
        ("spin-trigger", "gatehouse"),
        ("spin-trigger-0.2", "gatehouse-0.2"),
    ] {
        let whole_bytes = spin::compose(&fs::read(file(front))?, &dependencies)?;
        fs::write(file(whole), whole_bytes)?;
    }
    Ok(())
}

/// Copies the files of `folder` to `place`, such as the one where the manifests for Spin look for them.
fn publish(folder: &Path, place: &Path) -> Result<()> {
    fs::create_dir_all(place)?;
    for file in fs::read_dir(folder)? {
        let from = file?.path();
        let to = place.join(from.file_name().context("a file without a name")?);
        fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
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

/// A component to be compiled.
struct Job<'a> {
    component: &'a Compiled,
    /// Where cargo keeps what it makes on the way.
    target_folder: PathBuf,
    flags: &'static [&'static str],
    /// Where the component goes.
    folder: &'a Path,
}

/// Compiles two lists of jobs at one time, each in its order. No target folder may stand in both, since cargo locks it. Most of the time
/// goes into link-time optimization, which runs on one core.
fn compile_side_by_side(workspace: &Path, one: &[Job], other: &[Job]) -> Result<()> {
    let all = |jobs: &[Job]| jobs.iter().try_for_each(|job| compile(workspace, job));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| all(other));
        let one = all(one);
        let other = other
            .join()
            .map_err(|_| anyhow!("a thread that compiled components panicked"))?;
        one.and(other)
    })
}

/// Compiles a component and leaves it in its folder.
fn compile(workspace: &Path, job: &Job) -> Result<()> {
    let Job {
        component,
        target_folder,
        flags,
        folder,
    } = job;
    let mut cargo = Command::new(env::var_os("CARGO").context("CARGO is not set")?);
    // Other crates link this one as a library; only here it becomes a component.
    cargo
        .current_dir(workspace)
        .args([
            "rustc",
            "--quiet",
            "--lib",
            "--crate-type",
            "cdylib",
            "--no-default-features",
            "--profile",
            "component",
            "--target",
            TARGET,
        ])
        .arg("--target-dir")
        .arg(target_folder)
        .args(["--package", component.package])
        .args(["--features", &component.features.join(",")]);
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
    let mut encoded: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    encoded.extend(paths::remapped(workspace, target_folder));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", encoded.join("\u{1f}"));
    let output = cargo.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "building the components failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let built = target_folder.join(TARGET).join("component");
    let from = built.join(format!("{}.wasm", component.stem));
    fs::copy(&from, folder.join(format!("{}.wasm", component.name)))
        .with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}
