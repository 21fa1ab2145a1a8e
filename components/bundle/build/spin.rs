//! What the capabilities and the front are joined into for Spin.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use wac_graph::types::{Package, SubtypeChecker, WorldId};
use wac_graph::{CompositionGraph, EncodeOptions, NodeId};

/// The capabilities, each with the key under which the manifest names it as a dependency of the front. A key without interface and
/// version stands for all interfaces of its package, so that one instance serves them all.
pub const CAPABILITIES: [(&str, &str); 3] = [
    ("gatehouse:access", "access"),
    ("gatehouse:auth-method", "auth-method"),
    ("gatehouse:orgs", "orgs"),
];

/// What a capability imports and the adapter exports begins with this.
const STORAGE: &str = "gatehouse:storage/";

/// A capability that keeps its records through an adapter: it exports what the capability exports, and imports what is left.
///
/// Spin composes one level only, so what a dependency needs itself has to be in it already.
///
/// # Errors
///
/// When the adapter does not offer what the capability asks for, or offers it to nobody.
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

/// What Spin loads of `front` with `dependencies`, by their keys, as `crates/compose` of Spin does it: each dependency has one instance,
/// equal imports become one, and the exports are those of the front. The adapters by which Spin withholds what a dependency does not
/// inherit are left out.
///
/// # Errors
///
/// When a key fits no import or two keys fit the same, or a dependency does not export what it is to stand for.
pub fn compose(front: &[u8], dependencies: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>> {
    let mut parts = Parts::default();
    let front = parts.add("gatehouse:front", front)?;
    let mut served: BTreeMap<String, Part> = BTreeMap::new();
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

/// Whether a dependency called `key` serves the import `name`: `package`, `package/interface`, and either with a version.
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
struct Part {
    world: WorldId,
    instance: NodeId,
}

impl Parts {
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<Part> {
        let package = Package::from_bytes(name, None, bytes.to_vec(), self.graph.types_mut())
            .with_context(|| format!("{name} is no component"))?;
        let world = package.ty();
        let package = self.graph.register_package(package)?;
        let instance = self.graph.instantiate(package);
        Ok(Part { world, instance })
    }

    fn imports(&self, part: &Part) -> impl Iterator<Item = &String> {
        self.graph.types()[part.world].imports.keys()
    }

    /// Gives `from`'s export called `name` to `to`, which imports it.
    fn wire(&mut self, to: &Part, name: &str, from: &Part) -> Result<()> {
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
    fn finish(mut self, part: &Part) -> Result<Vec<u8>> {
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
