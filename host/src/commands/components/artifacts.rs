//! What there is to publish, and what others need to know of it.

use anyhow::{Context, Result};
use aws_lc_rs::digest::{SHA256, digest};
use gatehouse_components::{Flavour, Part};
use gatehouse_interfaces::{Package, defined};
use serde::Serialize;
use wasmparser::{Parser, Payload};

/// One thing that is published, and can be used without the others.
#[derive(Debug, Serialize)]
pub(super) struct Artifact {
    /// Where it is in an export.
    pub file: String,
    /// Without namespace and version.
    pub name: &'static str,
    pub kind: Kind,
    #[serde(
        serialize_with = "flavour_name",
        skip_serializing_if = "Option::is_none"
    )]
    pub flavour: Option<Flavour>,
    /// Of a package of interfaces its own, else that of this program.
    pub version: String,
    pub description: &'static str,
    /// What the content hashes to, in the notation of registries.
    pub digest: String,
    /// In bytes.
    pub size: usize,
    /// The world that a component was built for; none where it was composed of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    pub imports: Vec<String>,
    /// Of a package of interfaces, what it defines.
    pub exports: Vec<String>,
    #[serde(skip)]
    pub bytes: &'static [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// One component of ours.
    Component,
    /// Several of them joined.
    Composition,
    /// A package of interfaces in its binary form.
    Wit,
}

/// Everything there is, without the components of any flavour but `only`.
///
/// # Errors
///
/// When one cannot be read, which its tests exclude.
pub(super) fn all(only: Option<Flavour>) -> Result<Vec<Artifact>> {
    let mut artifacts = Vec::new();
    let flavours = Flavour::ALL.into_iter();
    for flavour in flavours.filter(|flavour| only.is_none_or(|only| only == *flavour)) {
        for part in Part::ALL {
            artifacts.push(component(part, flavour)?);
        }
    }
    for package in Package::ALL {
        artifacts.push(interfaces(package)?);
    }
    Ok(artifacts)
}

/// The notation of registries for what `bytes` hash to.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    let hexadecimal = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", hexadecimal.collect::<String>())
}

fn component(part: Part, flavour: Flavour) -> Result<Artifact> {
    let (world, description) = match part {
        Part::AuthMethod => (
            Some(Package::AuthMethod),
            "The Google Cloud auth method: who a caller is, and under which role",
        ),
        Part::Access => (
            Some(Package::Access),
            "Tokens, policies, identity and mounts: what a caller may do",
        ),
        Part::Orgs => (
            Some(Package::Orgs),
            "Organizations, their teams, members, tokens and agent pools",
        ),
        Part::Gateway => (
            Some(Package::Gateway),
            "The HTTP front: two protocols over three capabilities",
        ),
        Part::Composed => (
            None,
            "The HTTP front joined with the three capabilities: all but the stores",
        ),
    };
    let kind = match world {
        Some(_) => Kind::Component,
        None => Kind::Composition,
    };
    let bytes = gatehouse_components::bytes(part, flavour);
    let (imports, exports) =
        surface(bytes).with_context(|| format!("cannot read {}", part.name()))?;
    Ok(Artifact {
        file: format!("{}/{}.wasm", flavour.name(), part.name()),
        name: part.name(),
        kind,
        flavour: Some(flavour),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description,
        digest: sha256(bytes),
        size: bytes.len(),
        world: world.map(world_of).transpose()?,
        imports,
        exports,
        bytes,
    })
}

fn interfaces(package: Package) -> Result<Artifact> {
    let description = match package {
        Package::Storage => "WIT: what the capabilities keep their records in",
        Package::AuthMethod => "WIT: the Google Cloud auth method",
        Package::Access => "WIT: tokens, policies, identity and mounts",
        Package::Orgs => "WIT: organizations",
        Package::Host => "WIT: what the HTTP front asks of the program that runs it",
        Package::Gateway => "WIT: the HTTP front",
        Package::StorageAdapter => "WIT: the storage interfaces over wasi:keyvalue",
        Package::SpinTrigger => "WIT: the HTTP front under Spin",
    };
    let bytes = gatehouse_interfaces::bytes(package);
    let exports: Vec<String> = defined(package).map(str::to_owned).collect();
    let version = exports.first().and_then(|id| id.split_once('@'));
    let (_, version) = version.context("a package has no version")?;
    Ok(Artifact {
        file: format!("wit/{}.wasm", package.name()),
        name: package.name(),
        kind: Kind::Wit,
        flavour: None,
        version: version.to_owned(),
        description,
        digest: sha256(bytes),
        size: bytes.len(),
        world: None,
        imports: Vec::new(),
        exports,
        bytes,
    })
}

/// The world of a component: it has the name of its package.
fn world_of(package: Package) -> Result<String> {
    let name = format!("/{}@", package.name());
    defined(package)
        .find(|id| id.contains(&name))
        .map(str::to_owned)
        .with_context(|| format!("{} has no world of its name", package.name()))
}

/// The names of what a component imports and exports.
///
/// They are read from its outermost sections alone: what looks into the types as well takes a composition, in which several imports
/// have one interface, for broken.
fn surface(bytes: &[u8]) -> Result<(Vec<String>, Vec<String>)> {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

// The signature is serde's.
#[allow(clippy::ref_option)]
fn flavour_name<S: serde::Serializer>(
    flavour: &Option<Flavour>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    flavour.map(Flavour::name).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_component_of_each_flavour_and_every_package_is_there_once() {
        let artifacts = all(None).unwrap();
        let files: BTreeSet<&str> = artifacts.iter().map(|it| it.file.as_str()).collect();
        assert_eq!(files.len(), artifacts.len());
        assert_eq!(
            artifacts.len(),
            Flavour::ALL.len() * Part::ALL.len() + Package::ALL.len()
        );
    }

    #[test]
    fn of_one_flavour_asked_for_the_other_is_left_out_and_no_package_is() {
        for only in Flavour::ALL {
            let artifacts = all(Some(only)).unwrap();
            assert_eq!(artifacts.len(), Part::ALL.len() + Package::ALL.len());
            let mut flavours = artifacts.iter().filter_map(|it| it.flavour);
            assert!(flavours.all(|flavour| flavour == only));
        }
    }

    #[test]
    fn a_component_names_its_world_and_what_it_imports_and_exports() {
        let artifacts = all(Some(Flavour::Portable)).unwrap();
        let access = artifacts.iter().find(|it| it.name == "access").unwrap();
        assert_eq!(
            access.world.as_deref(),
            Some("gatehouse:access/access@0.1.0")
        );
        let storage = "gatehouse:storage/key-value@0.1.0".to_owned();
        assert!(access.imports.contains(&storage), "{:?}", access.imports);
        let tokens = "gatehouse:access/tokens@0.1.0".to_owned();
        assert!(access.exports.contains(&tokens), "{:?}", access.exports);
    }

    #[test]
    fn the_composition_imports_a_store_for_each_capability() {
        let artifacts = all(Some(Flavour::Wide)).unwrap();
        let composed = artifacts.iter().find(|it| it.name == "gatehouse").unwrap();
        assert_eq!(composed.kind, Kind::Composition);
        for store in ["access-storage", "auth-method-storage", "orgs-storage"] {
            let has_store = composed.imports.iter().any(|name| name == store);
            assert!(has_store, "{:?}", composed.imports);
        }
    }

    #[test]
    fn a_package_names_its_version_and_what_it_defines() {
        let artifacts = all(None).unwrap();
        let mut packages = artifacts.iter().filter(|it| it.kind == Kind::Wit);
        let storage = packages.find(|it| it.name == "storage").unwrap();
        assert_eq!(storage.version, "0.1.0");
        for defined in ["key-value", "cache", "client", "caching-client"] {
            let id = format!("gatehouse:storage/{defined}@0.1.0");
            assert!(storage.exports.contains(&id), "{:?}", storage.exports);
        }
    }

    #[test]
    fn digests_are_those_of_everybody_else() {
        assert_eq!(
            sha256(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
