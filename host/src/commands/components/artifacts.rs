//! The artifacts to publish, and the facts that others need of them.

use anyhow::{Context, Result};
use aws_lc_rs::digest::{SHA256, digest};
use gatehouse_components::{Flavour, Part, spin};
use gatehouse_interfaces::{Package, defined};
use serde::Serialize;
use wasmparser::{Parser, Payload};

/// The worlds of the storage adapters, whose package is called after what they are and each world after what it does.
const ADAPTER_WORLD: &str = "gatehouse:storage-adapter/adapter@0.1.0";
const SQLITE_ADAPTER_WORLD: &str = "gatehouse:storage-adapter/sqlite-adapter@0.1.0";
const POSTGRES_ADAPTER_WORLD: &str = "gatehouse:storage-adapter/postgres-adapter@0.1.0";

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
    /// The hash of the content, in the notation of registries.
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
/// When a build that is not a release cannot compile what it does not carry.
pub(super) fn all(only: Option<Flavour>) -> Result<Vec<Artifact>> {
    let mut artifacts = Vec::new();
    let flavours = Flavour::ALL.into_iter();
    for flavour in flavours.filter(|flavour| only.is_none_or(|only| only == *flavour)) {
        for part in Part::ALL {
            artifacts.push(component(part, flavour)?);
        }
    }
    // The parts that Spin loads exist in this flavour alone.
    if only != Some(Flavour::Wide) {
        for part in spin::Part::ALL {
            artifacts.push(for_spin(part)?);
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
    format!("sha256:{}", base16ct::lower::encode_string(digest.as_ref()))
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
            "The HTTP front joined with the three capabilities and the console: all but the stores",
        ),
    };
    let kind = match world {
        Some(_) => Kind::Component,
        None => Kind::Composition,
    };
    Built {
        folder: flavour.name(),
        name: part.name(),
        kind,
        flavour,
        world: world.map(world_of).transpose()?,
        description,
        bytes: gatehouse_components::bytes(part, flavour)?,
    }
    .artifact()
}

fn for_spin(part: spin::Part) -> Result<Artifact> {
    use spin::Part::{
        Access, AdapterAccess, AdapterAuthMethod, AdapterOrgs, AuthMethod, Front, FrontP2,
        KeyValueAccess, KeyValueAuthMethod, KeyValueOrgs, KeyValueWhole, Orgs, PostgresAccess,
        PostgresAdapterAccess, PostgresAdapterAuthMethod, PostgresAdapterOrgs, PostgresAuthMethod,
        PostgresOrgs, PostgresWhole, PostgresWholeP2, SqliteAccess, SqliteAuthMethod, SqliteOrgs,
        Whole, WholeP2,
    };
    let description = match part {
        Front => "The HTTP front for Spin 4.1 and later (WASI 0.3)",
        FrontP2 => "The HTTP front for Spin 3 and SpinKube (WASI 0.2)",
        AdapterAccess => "Keeps the records of access in a wasi:keyvalue store",
        AdapterAuthMethod => "Keeps the records of auth-method in a wasi:keyvalue store",
        AdapterOrgs => "Keeps the records of orgs in a wasi:keyvalue store",
        SqliteAccess => "Keeps the records of access in a spin:sqlite database",
        SqliteAuthMethod => "Keeps the records of auth-method in a spin:sqlite database",
        SqliteOrgs => "Keeps the records of orgs in a spin:sqlite database",
        PostgresAdapterAccess => "Keeps the records of access in a spin:postgres database",
        PostgresAdapterAuthMethod => "Keeps the records of auth-method in a spin:postgres database",
        PostgresAdapterOrgs => "Keeps the records of orgs in a spin:postgres database",
        Access => "Tokens, policies, identity and mounts, with their storage adapter over SQLite",
        AuthMethod => "The Google Cloud auth method, with its storage adapter over SQLite",
        Orgs => "Organizations, with their storage adapter over SQLite",
        KeyValueAccess => {
            "Tokens, policies, identity and mounts, with their storage adapter over wasi:keyvalue"
        }
        KeyValueAuthMethod => {
            "The Google Cloud auth method, with its storage adapter over wasi:keyvalue"
        }
        KeyValueOrgs => "Organizations, with their storage adapter over wasi:keyvalue",
        PostgresAccess => {
            "Tokens, policies, identity and mounts, with their storage adapter over PostgreSQL"
        }
        PostgresAuthMethod => {
            "The Google Cloud auth method, with its storage adapter over PostgreSQL"
        }
        PostgresOrgs => "Organizations, with their storage adapter over PostgreSQL",
        Whole => {
            "All of Gatehouse as Spin 4.1 composes it (WASI 0.3); another host must remove spin-client-addr and spin-full-url from requests"
        }
        KeyValueWhole => {
            "All of Gatehouse over wasi:keyvalue (WASI 0.3); another host than Spin must remove spin-client-addr and spin-full-url from requests"
        }
        PostgresWhole => {
            "All of Gatehouse over spin:postgres (WASI 0.3); another host than Spin must remove spin-client-addr and spin-full-url from requests"
        }
        WholeP2 => {
            "All of Gatehouse for Spin 3 and SpinKube (WASI 0.2); another host must remove spin-client-addr and spin-full-url from requests"
        }
        PostgresWholeP2 => {
            "All of Gatehouse over spin:postgres for Spin 3 and SpinKube (WASI 0.2); another host must remove spin-client-addr and spin-full-url from requests"
        }
    };
    let (kind, world) = match part {
        // A front has the imports of one world and the export of another.
        Front | FrontP2 => (Kind::Component, None),
        AdapterAccess | AdapterAuthMethod | AdapterOrgs => {
            (Kind::Component, Some(ADAPTER_WORLD.to_owned()))
        }
        SqliteAccess | SqliteAuthMethod | SqliteOrgs => {
            (Kind::Component, Some(SQLITE_ADAPTER_WORLD.to_owned()))
        }
        PostgresAdapterAccess | PostgresAdapterAuthMethod | PostgresAdapterOrgs => {
            (Kind::Component, Some(POSTGRES_ADAPTER_WORLD.to_owned()))
        }
        Access | AuthMethod | Orgs | KeyValueAccess | KeyValueAuthMethod | KeyValueOrgs
        | PostgresAccess | PostgresAuthMethod | PostgresOrgs | Whole | KeyValueWhole
        | PostgresWhole | WholeP2 | PostgresWholeP2 => (Kind::Composition, None),
    };
    Built {
        folder: "spin",
        name: part.name(),
        kind,
        flavour: Flavour::Portable,
        world,
        description,
        bytes: spin::bytes(part)?,
    }
    .artifact()
}

/// A component or a composition, before it is looked into.
struct Built {
    folder: &'static str,
    name: &'static str,
    kind: Kind,
    flavour: Flavour,
    world: Option<String>,
    description: &'static str,
    bytes: &'static [u8],
}

impl Built {
    fn artifact(self) -> Result<Artifact> {
        let (imports, exports) =
            surface(self.bytes).with_context(|| format!("cannot read {}", self.name))?;
        Ok(Artifact {
            file: format!("{}/{}.wasm", self.folder, self.name),
            name: self.name,
            kind: self.kind,
            flavour: Some(self.flavour),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: self.description,
            digest: sha256(self.bytes),
            size: self.bytes.len(),
            world: self.world,
            imports,
            exports,
            bytes: self.bytes,
        })
    }
}

fn interfaces(package: Package) -> Result<Artifact> {
    let description = match package {
        Package::Network => "WIT: addresses, which other packages take from it",
        Package::Storage => "WIT: what the capabilities keep their records in",
        Package::AuthMethod => "WIT: the Google Cloud auth method",
        Package::Access => "WIT: tokens, policies, identity and mounts",
        Package::Orgs => "WIT: organizations",
        Package::Host => "WIT: what the HTTP front asks of the program that runs it",
        Package::Gateway => "WIT: the HTTP front",
        Package::Console => "WIT: the pages for people",
        Package::StorageAdapter => {
            "WIT: the storage interfaces over wasi:keyvalue, spin:sqlite or spin:postgres"
        }
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
            Flavour::ALL.len() * Part::ALL.len() + spin::Part::ALL.len() + Package::ALL.len()
        );
    }

    #[test]
    fn of_one_flavour_asked_for_the_other_is_left_out_and_no_package_is() {
        for only in Flavour::ALL {
            let artifacts = all(Some(only)).unwrap();
            let for_spin = match only {
                Flavour::Portable => spin::Part::ALL.len(),
                Flavour::Wide => 0,
            };
            assert_eq!(
                artifacts.len(),
                Part::ALL.len() + for_spin + Package::ALL.len()
            );
            let mut flavours = artifacts.iter().filter_map(|it| it.flavour);
            assert!(flavours.all(|flavour| flavour == only));
        }
    }

    #[test]
    fn a_component_names_its_world_and_what_it_imports_and_exports() {
        let artifacts = all(Some(Flavour::Portable)).unwrap();
        let access = artifacts
            .iter()
            .find(|it| it.file == "portable/access.wasm")
            .unwrap();
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
        let composed = artifacts
            .iter()
            .find(|it| it.file == "wide/gatehouse.wasm")
            .unwrap();
        assert_eq!(composed.kind, Kind::Composition);
        for store in ["access-storage", "auth-method-storage", "orgs-storage"] {
            let has_store = composed.imports.iter().any(|name| name == store);
            assert!(has_store, "{:?}", composed.imports);
        }
    }

    #[test]
    fn the_adapters_name_worlds_that_there_are() {
        let worlds: Vec<&str> = defined(Package::StorageAdapter).collect();
        for world in [ADAPTER_WORLD, SQLITE_ADAPTER_WORLD] {
            assert!(worlds.contains(&world), "{worlds:?}");
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
