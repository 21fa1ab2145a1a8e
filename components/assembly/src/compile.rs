//! Runs a cargo of its own for each unit, in target folders that all who ask share.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::paths;
use crate::seed::seed;
use crate::toolchain;
use crate::unit::{PORTABLE, Recipe, Unit};

const TARGET: &str = "wasm32-wasip2";

/// The environment variable that names a folder with units of an earlier build, each in a file called after it.
const PREBUILT: &str = "GATEHOUSE_COMPONENTS";

/// The environment variable that has each cargo leave a report of the seconds that each crate took, in `cargo-timings` of its target folder.
const TIMINGS: &str = "GATEHOUSE_TIMINGS";

/// How much time the compiler may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// Compiled fast, and changed crates alone: for programs that are built to try or to test something.
    Draft,
    /// Optimized as a whole: for programs and components that are released.
    Finished,
    /// The same with the names of functions, for a profile.
    Named,
}

impl Quality {
    const fn profile(self) -> &'static str {
        match self {
            Self::Draft => "component-draft",
            Self::Finished => "component",
            Self::Named => "component-named",
        }
    }
}

/// A place where units are compiled.
#[derive(Debug, Clone)]
pub struct Workshop {
    workspace: PathBuf,
    target_folder: PathBuf,
    quality: Quality,
}

impl Workshop {
    /// A workshop for the sources in `workspace` that leaves what it makes below `target_folder`.
    #[must_use]
    pub fn new(
        workspace: impl Into<PathBuf>,
        target_folder: impl Into<PathBuf>,
        quality: Quality,
    ) -> Self {
        Self {
            workspace: workspace.into(),
            target_folder: target_folder.into(),
            quality,
        }
    }

    /// The folder with units of an earlier build that are taken in place of compiling them, where the environment names one.
    #[must_use]
    pub fn prebuilt() -> Option<PathBuf> {
        env::var_os(PREBUILT).map(PathBuf::from)
    }

    /// The bytes of `unit`. What has not changed since it was last asked for is not compiled again.
    ///
    /// # Errors
    ///
    /// When the compiler cannot build for WebAssembly or the sources do not compile.
    pub fn make(&self, unit: Unit) -> Result<Vec<u8>> {
        if let Some(folder) = Self::prebuilt() {
            let file = folder.join(format!("{}.wasm", unit.name()));
            return read(&file);
        }
        toolchain::ensure_target(TARGET)?;
        self.compile(unit)
    }

    /// The units that a program of this quality carries, in no particular order: those of the server in a draft, all of them otherwise.
    ///
    /// # Errors
    ///
    /// As [`Self::make`].
    pub fn make_carried(&self) -> Result<Vec<(Unit, Vec<u8>)>> {
        match self.quality {
            Quality::Draft if Self::prebuilt().is_none() => self.draft_server(),
            Quality::Draft => self.make_all(&Unit::OF_SERVER),
            Quality::Finished | Quality::Named => self.make_all(&Unit::ALL),
        }
    }

    /// Each of `units` with its bytes. Units of different target folders are compiled side by side.
    fn make_all(&self, units: &[Unit]) -> Result<Vec<(Unit, Vec<u8>)>> {
        let (together, apart): (Vec<Unit>, Vec<Unit>) = units
            .iter()
            .partition(|unit| unit.recipe().folder == PORTABLE);
        let make = |units: &[Unit]| -> Result<Vec<(Unit, Vec<u8>)>> {
            let made = units.iter().map(|unit| Ok((*unit, self.make(*unit)?)));
            made.collect()
        };
        // The other folders begin with what this one has compiled.
        if let ([first, ..], [_, ..]) = (&*together, &*apart) {
            self.make(*first)?;
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| make(&apart));
            let mut made = make(&together)?;
            let other = other
                .join()
                .map_err(|_| anyhow!("a thread that compiled components panicked"))?;
            made.append(&mut other?);
            Ok(made)
        })
    }

    /// The units of the server, compiled by one cargo side by side, and once what they have in common: dependencies have other features for
    /// each package that cargo is run for alone. Not for finished units, since cargo does not optimize a library as a whole with what it links.
    fn draft_server(&self) -> Result<Vec<(Unit, Vec<u8>)>> {
        toolchain::ensure_target(TARGET)?;
        let profile = Quality::Draft.profile();
        let mut cargo = self.cargo("build", &Unit::Gateway.recipe(), profile)?;
        for unit in Unit::OF_SERVER {
            let Recipe {
                package, features, ..
            } = unit.recipe();
            let features = format!("{package}/{features}");
            cargo.args(["--package", package, "--features", &features]);
        }
        run(&mut cargo, "the components of the server")?;
        let made = Unit::OF_SERVER.map(|unit| Ok((unit, self.compiled(unit, profile)?)));
        made.into_iter().collect()
    }

    /// The target folders of all units, in one order: dependencies that are compiled in one are taken over by others, for which the compiler
    /// must have been given the same flags.
    fn target_folders(&self) -> Vec<PathBuf> {
        let names: BTreeSet<&str> = Unit::ALL.iter().map(|unit| unit.recipe().folder).collect();
        let folders = names.into_iter();
        folders.map(|name| self.target_folder.join(name)).collect()
    }

    fn compile(&self, unit: Unit) -> Result<Vec<u8>> {
        let recipe = unit.recipe();
        let profile = match (unit, self.quality) {
            // Compiled fast, it would hold the products that the compiler takes the wrong half of.
            (Unit::AuthMethodWide, Quality::Draft) => Quality::Finished.profile(),
            (_, quality) => quality.profile(),
        };
        // The folder of this unit begins as a copy of the shared one. Compiling its relative there first has the copy hold its
        // dependencies, which would be compiled once for each folder otherwise.
        if let Some(relative) = unit.relative()
            && !self.target_folder.join(recipe.folder).exists()
            && profile == self.quality.profile()
        {
            self.compile(relative)?;
        }
        let mut cargo = self.cargo("rustc", &recipe, profile)?;
        // Without the library that the crate is too, it can be optimized as a whole.
        cargo
            .args(["--crate-type", "cdylib", "--package", recipe.package])
            .args(["--features", recipe.features]);
        run(&mut cargo, &format!("the component {}", unit.name()))?;
        self.compiled(unit, profile)
    }

    /// A cargo with `command` that builds libraries for WebAssembly by the flags and in the folder of `recipe`.
    fn cargo(&self, command: &str, recipe: &Recipe, profile: &str) -> Result<Command> {
        let target_folder = self.target_folder.join(recipe.folder);
        let folders = [profile.to_owned(), format!("{TARGET}/{profile}")];
        seed(&self.target_folder.join(PORTABLE), &target_folder, &folders)?;
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(cargo);
        cargo
            .current_dir(&self.workspace)
            .args([command, "--quiet", "--locked", "--lib"])
            .arg("--no-default-features")
            .args(["--profile", profile, "--target", TARGET])
            .arg("--target-dir")
            .arg(&target_folder);
        if env::var_os(TIMINGS).is_some() {
            cargo.arg("--timings");
        }
        remove_settings_of_outer_cargo(&mut cargo);
        let mut flags: Vec<String> = recipe.flags.iter().map(|&flag| flag.to_owned()).collect();
        flags.extend(paths::remapped(&self.workspace, &self.target_folders()));
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        Ok(cargo)
    }

    /// The component that a cargo has left of `unit`.
    fn compiled(&self, unit: Unit, profile: &str) -> Result<Vec<u8>> {
        let recipe = unit.recipe();
        let folder = self.target_folder.join(recipe.folder);
        let file = recipe.package.replace('-', "_");
        let built = folder.join(TARGET).join(profile).join(file);
        read(&built.with_extension("wasm"))
    }
}

/// Runs `cargo`, which builds `what`.
fn run(cargo: &mut Command, what: &str) -> Result<()> {
    let output = cargo.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "building {what} failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Keeps what an outer cargo sets for its own compiler runs (flags, the wrapper of clippy) from the inner one.
fn remove_settings_of_outer_cargo(cargo: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let prefixes = [
            "CARGO_PKG_",
            "CARGO_CFG_",
            "CARGO_FEATURE_",
            "CARGO_PROFILE_",
            "CARGO_BUILD_",
            "CARGO_MANIFEST_",
        ];
        if prefixes.iter().any(|prefix| text.starts_with(prefix)) {
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
}
