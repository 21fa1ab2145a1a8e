//! Joins the gateway, the three capabilities and the console into one component.

use anyhow::{Result, ensure};
use wac_graph::types::{ItemKind, Package};
use wac_graph::{CompositionGraph, EncodeOptions, NodeId};

/// The interface through which every capability keeps its records.
const STORAGE: &str = "gatehouse:storage/key-value@0.1.0";

/// The interface through which instances of a capability share what can be had again.
const CACHE: &str = "gatehouse:storage/cache@0.1.0";

/// The composition of `gateway` with `capabilities`, each by its name, and `console`; the gateway imports whatever each capability exports,
/// and the console what the gateway exports. It exports what these two export.
///
/// Every capability gets a storage import of its own, called `<capability>-storage`, and one that imports a cache likewise
/// `<capability>-cache`. Left alone, equal imports of several parts would be merged into one, and with it the stores: the names are
/// what keeps one capability out of another's records.
///
/// # Errors
///
/// When a capability keeps no records or two parts do not fit.
pub fn compose(
    gateway: &[u8],
    capabilities: &[(&str, Vec<u8>)],
    console: &[u8],
) -> Result<Vec<u8>> {
    let mut graph = CompositionGraph::new();
    let gateway = instantiate(&mut graph, "gateway", gateway.to_vec())?;
    for (capability, bytes) in capabilities {
        let instance = instantiate(&mut graph, capability, bytes.clone())?;
        let has_storage = rename_import(
            &mut graph,
            instance,
            STORAGE,
            &format!("{capability}-storage"),
        )?;
        ensure!(has_storage, "{capability} does not import {STORAGE}");
        rename_import(&mut graph, instance, CACHE, &format!("{capability}-cache"))?;
        let prefix = format!("gatehouse:{capability}/");
        for name in imports(&graph, gateway, &prefix) {
            let export = graph.alias_instance_export(instance, &name)?;
            graph.set_instantiation_argument(gateway, &name, export)?;
        }
    }
    let console = instantiate(&mut graph, "console", console.to_vec())?;
    for name in imports(&graph, console, "gatehouse:gateway/") {
        let export = graph.alias_instance_export(gateway, &name)?;
        graph.set_instantiation_argument(console, &name, export)?;
    }
    for front in [gateway, console] {
        for name in exports(&graph, front) {
            let export = graph.alias_instance_export(front, &name)?;
            graph.export(export, name)?;
        }
    }
    Ok(graph.encode(EncodeOptions::default())?)
}

fn instantiate(graph: &mut CompositionGraph, name: &str, bytes: Vec<u8>) -> Result<NodeId> {
    let package = Package::from_bytes(
        &format!("gatehouse:{name}-component"),
        None,
        bytes,
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

/// Makes the instance's import of `interface` an import of the composition called `name`. Answers `false` where the instance has no such
/// import.
fn rename_import(
    graph: &mut CompositionGraph,
    instance: NodeId,
    interface: &str,
    name: &str,
) -> Result<bool> {
    let kind: Option<ItemKind> =
        world(graph, instance).and_then(|world| world.imports.get(interface).copied());
    let Some(kind) = kind else {
        return Ok(false);
    };
    let import = graph.import(name, kind)?;
    graph.set_instantiation_argument(instance, interface, import)?;
    Ok(true)
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
