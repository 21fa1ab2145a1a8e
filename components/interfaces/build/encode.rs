//! Puts packages of WIT text into their binary form.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wit_parser::{PackageId, Resolve, UnresolvedPackageGroup};

/// The namespace of the packages that are ours.
const NAMESPACE: &str = "gatehouse";

/// The folder of packages that are others'.
const DEPENDENCIES: &str = "deps";

/// Every package below `wit`, with those that they depend on.
///
/// # Errors
///
/// When a file cannot be read, is not WIT, or names what is nowhere; the message has the place in the file.
pub fn resolve(wit: &Path) -> Result<Resolve> {
    let mut folders = folders(wit)?;
    folders.retain(|folder| !folder.ends_with(DEPENDENCIES));
    folders.extend(self::folders(&wit.join(DEPENDENCIES))?);
    let mut groups = folders
        .iter()
        .map(UnresolvedPackageGroup::parse_dir)
        .collect::<Result<Vec<_>>>()?;
    let last = groups
        .pop()
        .with_context(|| format!("{} holds no packages", wit.display()))?;
    let mut resolve = Resolve {
        all_features: true,
        ..Resolve::default()
    };
    if let Err(error) = resolve.push_groups(last, groups) {
        anyhow::bail!("{}", resolve.render_error(&error.into()));
    }
    Ok(resolve)
}

/// The binary form of our package `name`.
///
/// # Errors
///
/// When there is no such package.
pub fn encode(resolve: &Resolve, name: &str) -> Result<Vec<u8>> {
    let package = package(resolve, name)?;
    wit_component::encode(resolve, package).with_context(|| format!("cannot encode {name}"))
}

/// The identifiers of the interfaces and the worlds of our package `name`, such as `gatehouse:storage/cache@0.1.0`.
///
/// # Errors
///
/// When there is no such package.
pub fn defined(resolve: &Resolve, name: &str) -> Result<Vec<String>> {
    let id = package(resolve, name)?;
    let package = resolve.packages.get(id).context("it has no content")?;
    let names = package.interfaces.keys().chain(package.worlds.keys());
    Ok(names.map(|name| package.name.interface_id(name)).collect())
}

/// Our package `name`.
///
/// # Errors
///
/// When there is none.
pub fn package(resolve: &Resolve, name: &str) -> Result<PackageId> {
    let mut packages = resolve.package_names.iter();
    packages
        .find(|(package, _)| package.namespace == NAMESPACE && package.name == name)
        .map(|(_, id)| *id)
        .with_context(|| format!("there is no package {NAMESPACE}:{name}"))
}

/// The folders in `parent`, by their names.
fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    let entries =
        fs::read_dir(parent).with_context(|| format!("cannot read {}", parent.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}
