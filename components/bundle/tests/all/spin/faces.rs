//! The imports and exports of a component.

use std::collections::BTreeMap;

use wac_graph::CompositionGraph;
use wac_graph::types::{ItemKind, Package, Type};

/// The interfaces that a component imports, sorted, but for those of types alone: they ask nothing of a host.
pub fn imports(component: &[u8]) -> Vec<String> {
    functions(component).into_keys().collect()
}

/// The same interfaces, each with the functions and resources that the component uses of it.
pub fn functions(component: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut graph = CompositionGraph::new();
    let package = read(component, &mut graph);
    let types = graph.types();
    // `None` for an interface of types alone.
    let used = |kind: &ItemKind| {
        let ItemKind::Instance(instance) = kind else {
            return Some(Vec::new());
        };
        let exports = &types[*instance].exports;
        let used = exports
            .iter()
            .filter(|(_, kind)| !matches!(kind, ItemKind::Type(Type::Value(_))))
            .map(|(name, _)| name.clone());
        let used: Vec<_> = used.collect();
        (exports.is_empty() || !used.is_empty()).then_some(used)
    };
    let imports = &types[package.ty()].imports;
    imports
        .iter()
        .filter_map(|(name, kind)| Some((name.clone(), used(kind)?)))
        .collect()
}

/// The interfaces that a component exports, sorted.
pub fn exports(component: &[u8]) -> Vec<String> {
    let mut graph = CompositionGraph::new();
    let package = read(component, &mut graph);
    let mut exports: Vec<String> = graph.types()[package.ty()]
        .exports
        .keys()
        .cloned()
        .collect();
    exports.sort();
    exports
}

fn read(component: &[u8], graph: &mut CompositionGraph) -> Package {
    Package::from_bytes(
        "gatehouse:seen",
        None,
        component.to_vec(),
        graph.types_mut(),
    )
    .unwrap()
}
