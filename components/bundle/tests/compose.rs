//! Which imports a composition has, shown with components that hold nothing but imports.

#[path = "../build/compose.rs"]
mod compose;

use std::path::Path;

use wac_graph::CompositionGraph;
use wac_graph::types::Package;

const STORAGE: &str =
    r#"(import "gatehouse:storage/key-value@0.1.0" (instance (export "get" (func))))"#;
const CACHE: &str = r#"(import "gatehouse:storage/cache@0.1.0" (instance (export "get" (func))))"#;

/// The composition of a gateway that needs nothing and of capabilities with these imports.
fn composed(auth_method: &str, access: &str, orgs: &str) -> anyhow::Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, imports: &str| {
        let bytes = wat::parse_str(format!("(component {imports})"))?;
        std::fs::write(folder.path().join(name).with_extension("wasm"), bytes)?;
        anyhow::Ok(())
    };
    write("gateway", "")?;
    write("auth-method", auth_method)?;
    write("access", access)?;
    write("orgs", orgs)?;
    imports_of(&compose::compose(folder.path())?, folder.path())
}

fn imports_of(component: &[u8], folder: &Path) -> anyhow::Result<Vec<String>> {
    let path = folder.join("composed.wasm");
    std::fs::write(&path, component)?;
    let mut graph = CompositionGraph::new();
    let package = Package::from_file("gatehouse:composed", None, path, graph.types_mut())?;
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
