//! The components that Spin loads, and the units that they are made of. Everything is in the portable flavour: Spin's engine has no 128-bit
//! multiplication.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use wac_graph::types::{Package, SubtypeChecker, WorldId};
use wac_graph::{CompositionGraph, EncodeOptions, NodeId};

use crate::unit::Unit;

/// A component that can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The front for Spin 4.1 and later: exports the HTTP handler of WASI 0.3 and imports the capabilities.
    Front,
    /// The front for Spin 3 and SpinKube: the same with the handler of WASI 0.2.
    FrontP2,
    /// Keeps the records of `access` in the key-value store of that label.
    AdapterAccess,
    /// Keeps the records of `auth-method` in the key-value store of that label.
    AdapterAuthMethod,
    /// Keeps the records of `orgs` in the key-value store of that label.
    AdapterOrgs,
    /// Keeps the records of `access` in the SQLite database of that label.
    SqliteAccess,
    /// Keeps the records of `auth-method` in the SQLite database of that label.
    SqliteAuthMethod,
    /// Keeps the records of `orgs` in the SQLite database of that label.
    SqliteOrgs,
    /// Keeps the records of `access` in a PostgreSQL database.
    PostgresAdapterAccess,
    /// Keeps the records of `auth-method` in a PostgreSQL database.
    PostgresAdapterAuthMethod,
    /// Keeps the records of `orgs` in a PostgreSQL database.
    PostgresAdapterOrgs,
    /// Tokens, policies, identity and mounts, joined with the adapter over SQLite.
    Access,
    /// The Google Cloud auth method, joined with its adapter over SQLite.
    AuthMethod,
    /// Organizations, joined with their adapter over SQLite.
    Orgs,
    /// Tokens, policies, identity and mounts, joined with the adapter over a key-value store.
    KeyValueAccess,
    /// The Google Cloud auth method, joined with its adapter over a key-value store.
    KeyValueAuthMethod,
    /// Organizations, joined with their adapter over a key-value store.
    KeyValueOrgs,
    /// Tokens, policies, identity and mounts, joined with the adapter over PostgreSQL.
    PostgresAccess,
    /// The Google Cloud auth method, joined with its adapter over PostgreSQL.
    PostgresAuthMethod,
    /// Organizations, joined with their adapter over PostgreSQL.
    PostgresOrgs,
    /// The component that Spin makes of [`Self::Front`] and the three at every start, for hosts of WASI 0.3 that compose nothing.
    ///
    /// It takes the last `spin-client-addr` and `spin-full-url` of a request for the word of its host: one that does not append these
    /// headers as Spin does must remove them, or clients say where they come from.
    Whole,
    /// The same over key-value stores, for hosts of WASI 0.3 that have no SQLite.
    KeyValueWhole,
    /// The same over a PostgreSQL database, which several hosts may share.
    PostgresWhole,
    /// The same over key-value stores with [`Self::FrontP2`], for hosts of WASI 0.2: Spin 3 and SpinKube. It believes the same headers.
    WholeP2,
    /// The same over a PostgreSQL database, which several hosts may share.
    PostgresWholeP2,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 25] = [
        Self::Front,
        Self::FrontP2,
        Self::AdapterAccess,
        Self::AdapterAuthMethod,
        Self::AdapterOrgs,
        Self::SqliteAccess,
        Self::SqliteAuthMethod,
        Self::SqliteOrgs,
        Self::PostgresAdapterAccess,
        Self::PostgresAdapterAuthMethod,
        Self::PostgresAdapterOrgs,
        Self::Access,
        Self::AuthMethod,
        Self::Orgs,
        Self::KeyValueAccess,
        Self::KeyValueAuthMethod,
        Self::KeyValueOrgs,
        Self::PostgresAccess,
        Self::PostgresAuthMethod,
        Self::PostgresOrgs,
        Self::Whole,
        Self::KeyValueWhole,
        Self::PostgresWhole,
        Self::WholeP2,
        Self::PostgresWholeP2,
    ];

    /// The stem of the part's file name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Front => "spin-trigger",
            Self::FrontP2 => "spin-trigger-0.2",
            Self::AdapterAccess => "storage-adapter-access",
            Self::AdapterAuthMethod => "storage-adapter-auth-method",
            Self::AdapterOrgs => "storage-adapter-orgs",
            Self::SqliteAccess => "sqlite-adapter-access",
            Self::SqliteAuthMethod => "sqlite-adapter-auth-method",
            Self::SqliteOrgs => "sqlite-adapter-orgs",
            Self::PostgresAdapterAccess => "postgres-adapter-access",
            Self::PostgresAdapterAuthMethod => "postgres-adapter-auth-method",
            Self::PostgresAdapterOrgs => "postgres-adapter-orgs",
            Self::Access => "access",
            Self::AuthMethod => "auth-method",
            Self::Orgs => "orgs",
            Self::KeyValueAccess => "access-key-value",
            Self::KeyValueAuthMethod => "auth-method-key-value",
            Self::KeyValueOrgs => "orgs-key-value",
            Self::PostgresAccess => "access-postgres",
            Self::PostgresAuthMethod => "auth-method-postgres",
            Self::PostgresOrgs => "orgs-postgres",
            Self::Whole => "gatehouse",
            Self::KeyValueWhole => "gatehouse-key-value",
            Self::PostgresWhole => "gatehouse-postgres",
            Self::WholeP2 => "gatehouse-0.2",
            Self::PostgresWholeP2 => "gatehouse-0.2-postgres",
        }
    }

    /// The component's bytes, as a `.wasm` file holds them, from the bytes that `units` answers.
    ///
    /// # Errors
    ///
    /// When `units` fails or the units do not fit one another.
    pub fn bytes(self, units: impl Fn(Unit) -> Result<Vec<u8>> + Copy) -> Result<Vec<u8>> {
        let joined = |capability, adapter| join(&units(capability)?, &units(adapter)?);
        match self {
            Self::Front => units(Unit::Front),
            Self::FrontP2 => units(Unit::FrontP2),
            Self::AdapterAccess => units(Unit::AdapterAccess),
            Self::AdapterAuthMethod => units(Unit::AdapterAuthMethod),
            Self::AdapterOrgs => units(Unit::AdapterOrgs),
            Self::SqliteAccess => units(Unit::SqliteAccess),
            Self::SqliteAuthMethod => units(Unit::SqliteAuthMethod),
            Self::SqliteOrgs => units(Unit::SqliteOrgs),
            Self::PostgresAdapterAccess => units(Unit::PostgresAccess),
            Self::PostgresAdapterAuthMethod => units(Unit::PostgresAuthMethod),
            Self::PostgresAdapterOrgs => units(Unit::PostgresOrgs),
            Self::Access => joined(Unit::Access, Unit::SqliteAccess),
            Self::AuthMethod => joined(Unit::AuthMethod, Unit::SqliteAuthMethod),
            Self::Orgs => joined(Unit::Orgs, Unit::SqliteOrgs),
            Self::KeyValueAccess => joined(Unit::Access, Unit::AdapterAccess),
            Self::KeyValueAuthMethod => joined(Unit::AuthMethod, Unit::AdapterAuthMethod),
            Self::KeyValueOrgs => joined(Unit::Orgs, Unit::AdapterOrgs),
            Self::PostgresAccess => joined(Unit::Access, Unit::PostgresAccess),
            Self::PostgresAuthMethod => joined(Unit::AuthMethod, Unit::PostgresAuthMethod),
            Self::PostgresOrgs => joined(Unit::Orgs, Unit::PostgresOrgs),
            Self::Whole => whole(Unit::Front, CAPABILITIES, units),
            Self::KeyValueWhole => whole(Unit::Front, KEY_VALUE_CAPABILITIES, units),
            Self::PostgresWhole => whole(Unit::Front, POSTGRES_CAPABILITIES, units),
            Self::WholeP2 => whole(Unit::FrontP2, KEY_VALUE_CAPABILITIES, units),
            Self::PostgresWholeP2 => whole(Unit::FrontP2, POSTGRES_CAPABILITIES, units),
        }
    }
}

/// The capabilities, each with the key under which the manifest names it as a dependency of the front. A key without interface and
/// version stands for all interfaces of its package, so that one instance serves them all.
pub const CAPABILITIES: Capabilities = [
    ("gatehouse:access", Part::Access),
    ("gatehouse:auth-method", Part::AuthMethod),
    ("gatehouse:orgs", Part::Orgs),
];

/// The same over key-value stores.
pub const KEY_VALUE_CAPABILITIES: Capabilities = [
    ("gatehouse:access", Part::KeyValueAccess),
    ("gatehouse:auth-method", Part::KeyValueAuthMethod),
    ("gatehouse:orgs", Part::KeyValueOrgs),
];

/// The same over a PostgreSQL database.
pub const POSTGRES_CAPABILITIES: Capabilities = [
    ("gatehouse:access", Part::PostgresAccess),
    ("gatehouse:auth-method", Part::PostgresAuthMethod),
    ("gatehouse:orgs", Part::PostgresOrgs),
];

/// A part for each capability, by its key.
type Capabilities = [(&'static str, Part); 3];

/// The front joined with the capabilities.
fn whole(
    front: Unit,
    capabilities: Capabilities,
    units: impl Fn(Unit) -> Result<Vec<u8>> + Copy,
) -> Result<Vec<u8>> {
    let mut dependencies = BTreeMap::new();
    for (key, part) in capabilities {
        dependencies.insert(key.to_owned(), part.bytes(units)?);
    }
    compose(&units(front)?, &dependencies)
}

/// The prefix of the names of the interfaces that a capability imports and the adapter exports.
const STORAGE: &str = "gatehouse:storage/";

/// A capability that keeps its records through an adapter: it exports what the capability exports, and imports what is left.
///
/// Spin composes one level only, so what a dependency needs itself has to be in it already.
///
/// # Errors
///
/// When the adapter does not offer what the capability asks for, or the capability asks for nothing that an adapter could offer.
pub fn join(capability: &[u8], adapter: &[u8]) -> Result<Vec<u8>> {
    let mut parts = Parts::default();
    let capability = parts.add("gatehouse:capability", capability)?;
    let adapter = parts.add("gatehouse:storage-adapter", adapter)?;
    let asked: Vec<String> = parts
        .imports(&capability)
        .filter(|name| name.starts_with(STORAGE))
        .cloned()
        .collect();
    ensure!(!asked.is_empty(), "the capability keeps no records");
    for name in asked {
        parts.wire(&capability, &name, &adapter)?;
    }
    parts.finish(&capability)
}

/// The component that Spin loads of `front` with `dependencies`, by their keys, as `crates/compose` of Spin does it: each dependency has
/// one instance, equal imports become one, and the exports are those of the front. The adapters by which Spin withholds what a dependency
/// does not inherit are left out.
///
/// # Errors
///
/// When a key fits no import or two keys fit the same, or a dependency does not export what it is to stand for.
pub fn compose(front: &[u8], dependencies: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>> {
    let mut parts = Parts::default();
    let front = parts.add("gatehouse:front", front)?;
    let mut served: BTreeMap<String, Placed> = BTreeMap::new();
    for (key, bytes) in dependencies {
        let names: Vec<String> = parts
            .imports(&front)
            .filter(|name| stands_for(key, name))
            .cloned()
            .collect();
        ensure!(!names.is_empty(), "{key} fits no import of the front");
        let part = parts.add(key, bytes)?;
        for name in names {
            if served.insert(name.clone(), part).is_some() {
                bail!("two dependencies fit {name}");
            }
        }
    }
    for (name, part) in &served {
        parts.wire(&front, name, part)?;
    }
    parts.finish(&front)
}

/// Tells whether a dependency called `key` serves the import `name`: `package`, `package/interface`, and either with a version.
fn stands_for(key: &str, name: &str) -> bool {
    let versioned = |text: &str| match text.split_once('@') {
        Some((path, version)) => (path.to_owned(), Some(version.to_owned())),
        None => (text.to_owned(), None),
    };
    let ((asked, wanted), (path, version)) = (versioned(key), versioned(name));
    let fits = match (asked.split_once('/'), path.split_once('/')) {
        (None, Some((package, _))) => asked == package,
        _ => asked == path,
    };
    fits && (wanted.is_none() || wanted == version)
}

/// Components on their way into one.
#[derive(Default)]
struct Parts {
    graph: CompositionGraph,
}

#[derive(Clone, Copy)]
struct Placed {
    world: WorldId,
    instance: NodeId,
}

impl Parts {
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<Placed> {
        let package = Package::from_bytes(name, None, bytes.to_vec(), self.graph.types_mut())
            .with_context(|| format!("{name} is no component"))?;
        let world = package.ty();
        let package = self.graph.register_package(package)?;
        let instance = self.graph.instantiate(package);
        Ok(Placed { world, instance })
    }

    fn imports(&self, part: &Placed) -> impl Iterator<Item = &String> {
        self.graph.types()[part.world].imports.keys()
    }

    /// Gives `from`'s export called `name` to `to`, which imports it.
    fn wire(&mut self, to: &Placed, name: &str, from: &Placed) -> Result<()> {
        let types = self.graph.types();
        let import = types[to.world].imports.get(name);
        let export = types[from.world].exports.get(name);
        let (Some(import), Some(export)) = (import, export) else {
            bail!("nothing exports {name}");
        };
        SubtypeChecker::new(&mut std::collections::HashSet::default())
            .is_subtype(*export, types, *import, types)
            .with_context(|| {
                format!("what exports {name} has another type than what imports it")
            })?;
        let export = self.graph.alias_instance_export(from.instance, name)?;
        self.graph
            .set_instantiation_argument(to.instance, name, export)?;
        Ok(())
    }

    /// One component that exports what `part` exports.
    fn finish(mut self, part: &Placed) -> Result<Vec<u8>> {
        let names: Vec<String> = self.graph.types()[part.world]
            .exports
            .keys()
            .cloned()
            .collect();
        for name in names {
            let export = self.graph.alias_instance_export(part.instance, &name)?;
            self.graph.export(export, name)?;
        }
        Ok(self.graph.encode(EncodeOptions::default())?)
    }
}
