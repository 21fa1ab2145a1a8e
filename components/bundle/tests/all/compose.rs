//! Which imports a composition has, shown with components that hold nothing but imports.

use gatehouse_assembly::compose;
use wac_graph::CompositionGraph;
use wac_graph::types::Package;

const STORAGE: &str =
    r#"(import "gatehouse:storage/key-value@0.1.0" (instance (export "get" (func))))"#;
const CACHE: &str = r#"(import "gatehouse:storage/cache@0.1.0" (instance (export "get" (func))))"#;

/// The imports of the composition of a gateway that needs nothing and of capabilities with these imports.
fn composed(auth_method: &str, access: &str, orgs: &str) -> anyhow::Result<Vec<String>> {
    let component = |imports: &str| wat::parse_str(format!("(component {imports})"));
    let composed = compose(
        &component("")?,
        &[
            ("auth-method", component(auth_method)?),
            ("access", component(access)?),
            ("orgs", component(orgs)?),
        ],
        &component("")?,
    )?;
    let mut graph = CompositionGraph::new();
    let package = Package::from_bytes("gatehouse:composed", None, composed, graph.types_mut())?;
    let mut imports: Vec<String> = graph.types()[package.ty()]
        .imports
        .keys()
        .cloned()
        .collect();
    imports.sort();
    Ok(imports)
}

#[test]
fn every_capability_has_a_store_of_its_own() {
    let imports = composed(STORAGE, STORAGE, STORAGE).unwrap();
    assert_eq!(
        imports,
        ["access-storage", "auth-method-storage", "orgs-storage"]
    );
}

#[test]
fn a_capability_that_imports_a_cache_has_one_of_its_own_and_no_other_has_one() {
    let both = format!("{STORAGE} {CACHE}");
    let imports = composed(&both, STORAGE, &both).unwrap();
    assert_eq!(
        imports,
        [
            "access-storage",
            "auth-method-cache",
            "auth-method-storage",
            "orgs-cache",
            "orgs-storage"
        ]
    );
}

#[test]
fn a_capability_without_a_store_is_refused() {
    let refused = composed(STORAGE, "", STORAGE).unwrap_err().to_string();
    assert!(refused.contains("access does not import"), "{refused}");
}
