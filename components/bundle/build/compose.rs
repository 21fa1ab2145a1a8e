//! Joins the gateway and the three capabilities into one component.

use std::path::Path;

use anyhow::{Context, Result};
use wac_graph::types::{ItemKind, Package};
use wac_graph::{CompositionGraph, EncodeOptions, NodeId};

/// The interface through which every capability keeps its records.
const STORAGE: &str = "gatehouse:storage/key-value@0.1.0";

/// The capabilities, in no particular order; the gateway imports whatever each of them exports.
const CAPABILITIES: [&str; 3] = ["auth-method", "access", "orgs"];

/// The composition of the components in `folder`.
///
/// Every capability gets a storage import of its own, called `<capability>-storage`. Left alone, equal imports of several parts
/// would be merged into one, and with it the stores: the names are what keeps one capability out of another's records.
///
/// # Errors
///
/// When a file is missing or two parts do not fit.
pub fn compose(folder: &Path) -> Result<Vec<u8>> {
    let mut graph = CompositionGraph::new();
    let gateway = instantiate(&mut graph, folder, "gateway")?;
    for capability in CAPABILITIES {
        let instance = instantiate(&mut graph, folder, capability)?;
        let storage = storage_kind(&graph, instance)
            .with_context(|| format!("{capability} does not import {STORAGE}"))?;
        let storage = graph.import(format!("{capability}-storage"), storage)?;
        graph.set_instantiation_argument(instance, STORAGE, storage)?;
        let prefix = format!("gatehouse:{capability}/");
        for name in imports(&graph, gateway, &prefix) {
            let export = graph.alias_instance_export(instance, &name)?;
            graph.set_instantiation_argument(gateway, &name, export)?;
        }
    }
    for name in exports(&graph, gateway) {
        let export = graph.alias_instance_export(gateway, &name)?;
        graph.export(export, name)?;
    }
    Ok(graph.encode(EncodeOptions::default())?)
}

fn instantiate(graph: &mut CompositionGraph, folder: &Path, name: &str) -> Result<NodeId> {
    let path = folder.join(format!("{name}.wasm"));
    let package = Package::from_file(
        &format!("gatehouse:{name}-component"),
        None,
        path,
        graph.types_mut(),
    )?;
    let package = graph.register_package(package)?;
    Ok(graph.instantiate(package))
}

fn world(graph: &CompositionGraph, instance: NodeId) -> Option<&wac_graph::types::World> {
    let package = graph
        .nodes()
        .zip(graph.node_ids())
        .find(|(_, id)| *id == instance)?
        .0
        .package()?;
    Some(&graph.types()[graph[package].ty()])
}

fn storage_kind(graph: &CompositionGraph, instance: NodeId) -> Option<ItemKind> {
    world(graph, instance)?.imports.get(STORAGE).copied()
}

fn imports(graph: &CompositionGraph, instance: NodeId, prefix: &str) -> Vec<String> {
    let names = world(graph, instance).map(|world| world.imports.keys());
    names
        .into_iter()
        .flatten()
        .filter(|name| name.starts_with(prefix))
        .cloned()
        .collect()
}

fn exports(graph: &CompositionGraph, instance: NodeId) -> Vec<String> {
    let names = world(graph, instance).map(|world| world.exports.keys());
    names.into_iter().flatten().cloned().collect()
}
