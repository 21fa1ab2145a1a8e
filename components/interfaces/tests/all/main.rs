//! Rules that every package of `wit/` keeps to, and that its binary form says the same as its text.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

#[path = "../../build/encode.rs"]
mod encode;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gatehouse_interfaces::{Package, bytes, defined};
use wasmparser::{Validator, WasmFeatures};
use wit_component::{DecodedWasm, OutputToString, WitPrinter};
use wit_parser::{
    Docs, PackageId, Resolve, Stability, Type, TypeDef, TypeDefKind, TypeId,
    UnresolvedPackageGroup, WorldItem,
};

/// Something in a package that has a name.
struct Item {
    /// Where it is, such as `gatehouse:storage@0.1.0 cache.entry.version`.
    path: String,
    name: String,
    /// `None` for what is documented elsewhere.
    docs: Option<Docs>,
    /// `None` for what is there since that which it belongs to.
    stability: Option<Stability>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

fn source() -> Resolve {
    encode::resolve(&folder()).unwrap()
}

fn package_id(resolve: &Resolve, package: Package) -> PackageId {
    encode::package(resolve, package.name()).unwrap()
}

/// Everything that our packages define, but for parameters.
fn items(resolve: &Resolve) -> Vec<Item> {
    let mut items = Vec::new();
    for package in Package::ALL {
        let package = &resolve.packages[package_id(resolve, package)];
        for (name, id) in &package.interfaces {
            let interface = &resolve.interfaces[*id];
            let path = format!("{} {name}", package.name);
            items.push(Item {
                path: path.clone(),
                name: name.clone(),
                docs: Some(interface.docs.clone()),
                stability: Some(interface.stability.clone()),
            });
            for (name, id) in &interface.types {
                items.extend(items_of_type(resolve, &path, name, *id));
            }
            for (name, function) in &interface.functions {
                items.push(Item {
                    path: format!("{path}.{name}"),
                    name: name.clone(),
                    docs: Some(function.docs.clone()),
                    stability: Some(function.stability.clone()),
                });
            }
        }
        for (name, id) in &package.worlds {
            let world = &resolve.worlds[*id];
            let path = format!("{} {name}", package.name);
            items.push(Item {
                path: path.clone(),
                name: name.clone(),
                docs: Some(world.docs.clone()),
                stability: Some(world.stability.clone()),
            });
        }
    }
    items
}

/// A type, and its fields, cases or flags.
fn items_of_type(resolve: &Resolve, interface: &str, name: &str, id: TypeId) -> Vec<Item> {
    let definition = &resolve.types[id];
    let path = format!("{interface}.{name}");
    let parts: Vec<(&String, &Docs)> = match &definition.kind {
        TypeDefKind::Record(record) => (record.fields.iter())
            .map(|field| (&field.name, &field.docs))
            .collect(),
        TypeDefKind::Variant(variant) => (variant.cases.iter())
            .map(|case| (&case.name, &case.docs))
            .collect(),
        TypeDefKind::Enum(choice) => (choice.cases.iter())
            .map(|case| (&case.name, &case.docs))
            .collect(),
        TypeDefKind::Flags(flags) => (flags.flags.iter())
            .map(|flag| (&flag.name, &flag.docs))
            .collect(),
        _ => Vec::new(),
    };
    let parts = parts.into_iter().map(|(name, docs)| Item {
        path: format!("{path}.{name}"),
        name: name.clone(),
        docs: Some(docs.clone()),
        stability: None,
    });
    let is_ours = !is_used_from_elsewhere(resolve, definition);
    let itself = Item {
        path: path.clone(),
        name: name.to_owned(),
        docs: is_ours.then(|| definition.docs.clone()),
        stability: is_ours.then(|| definition.stability.clone()),
    };
    std::iter::once(itself).chain(parts).collect()
}

/// True if a type is there by `use`, and so described where it is defined.
fn is_used_from_elsewhere(resolve: &Resolve, definition: &TypeDef) -> bool {
    match definition.kind {
        TypeDefKind::Type(Type::Id(original)) => resolve.types[original].owner != definition.owner,
        _ => false,
    }
}

/// The items that `is_wrong` holds for, for a message.
fn those(items: Vec<Item>, is_wrong: impl Fn(&Item) -> bool) -> String {
    let paths = items.into_iter().filter(is_wrong).map(|item| item.path);
    paths.collect::<Vec<_>>().join("\n")
}

/// The text of a package, as the tools write it.
fn text(resolve: &Resolve, package: PackageId) -> String {
    let mut printer = WitPrinter::<OutputToString>::default();
    printer.print(resolve, package, &[]).unwrap();
    printer.output.to_string()
}

fn decoded(package: Package) -> (Resolve, PackageId) {
    match wit_component::decode(bytes(package)).unwrap() {
        DecodedWasm::WitPackage(resolve, id) => (resolve, id),
        DecodedWasm::Component(..) => panic!("{package:?} is no package of interfaces"),
    }
}

#[test]
fn every_folder_is_a_package_of_its_name() {
    let mut folders: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(folders.remove("deps"));
    let packages = Package::ALL.map(|package| package.name().to_owned());
    assert_eq!(folders, BTreeSet::from(packages));
}

#[test]
fn every_item_is_documented() {
    let is_bare = |item: &Item| item.docs.as_ref().is_some_and(Docs::is_empty);
    assert_eq!(those(items(&source()), is_bare), "");
}

#[test]
fn every_item_says_since_which_version_it_is_there() {
    let is_unsaid =
        |item: &Item| matches!(&item.stability, Some(stability) if !stability.is_stable());
    assert_eq!(those(items(&source()), is_unsaid), "");
}

/// A world that is resolved also has what it took over from others: so this looks at what was parsed.
#[test]
fn every_line_of_a_world_says_since_which_version_it_is_there() {
    for package in Package::ALL {
        let parsed = UnresolvedPackageGroup::parse_dir(folder().join(package.name())).unwrap();
        for (_, world) in parsed.main.worlds.iter() {
            let items = world.imports.values().chain(world.exports.values());
            let stabilities = items.map(|item| match item {
                WorldItem::Interface { stability, .. } => stability,
                WorldItem::Function(function) => &function.stability,
                WorldItem::Type { id, .. } => &parsed.main.types[*id].stability,
            });
            let includes = world.includes.iter().map(|include| &include.stability);
            for stability in stabilities.chain(includes) {
                assert!(stability.is_stable(), "{package:?}, world {}", world.name);
            }
        }
    }
}

#[test]
fn names_are_words_in_lower_case_with_dashes_between_them() {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        !word.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let is_otherwise = |item: &Item| !item.name.split('-').all(is_word);
    assert_eq!(those(items(&source()), is_otherwise), "");
}

#[test]
fn the_binary_form_is_valid() {
    for package in Package::ALL {
        let mut validator = Validator::new_with_features(WasmFeatures::default());
        let invalid = validator.validate_all(bytes(package)).err();
        assert!(invalid.is_none(), "{package:?}: {invalid:?}");
    }
}

#[test]
fn the_binary_form_turned_into_text_again_says_what_the_source_says() {
    let source = source();
    for package in Package::ALL {
        let (resolve, id) = decoded(package);
        assert_eq!(
            text(&resolve, id),
            text(&source, package_id(&source, package)),
            "{package:?}"
        );
    }
}

#[test]
fn the_list_of_what_a_package_defines_is_that_of_its_source_and_of_its_binary_form() {
    let source = source();
    for package in Package::ALL {
        let mut list: Vec<&str> = defined(package).collect();
        assert_eq!(list, encode::defined(&source, package.name()).unwrap());
        let (resolve, _) = decoded(package);
        let mut decoded = encode::defined(&resolve, package.name()).unwrap();
        list.sort_unstable();
        decoded.sort_unstable();
        assert_eq!(list, decoded);
    }
}

#[test]
fn the_same_source_gives_the_same_bytes() {
    for package in Package::ALL {
        let again = encode::encode(&source(), package.name()).unwrap();
        assert!(again == bytes(package), "{package:?}");
    }
}

#[test]
fn the_packages_of_others_are_valid_in_the_binary_form_too() {
    let source = source();
    for (name, id) in &source.package_names {
        let encoded = wit_component::encode(&source, *id).unwrap();
        let invalid = Validator::new().validate_all(&encoded).err();
        assert!(invalid.is_none(), "{name}: {invalid:?}");
    }
}

#[test]
fn a_name_that_is_nowhere_is_reported_with_its_place() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a-name-that-is-nowhere");
    let package = folder.join("one");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::create_dir_all(folder.join("deps")).unwrap();
    std::fs::write(
        package.join("one.wit"),
        "package gatehouse:one@0.1.0;\ninterface a {\n    use missing.{b};\n}\n",
    )
    .unwrap();
    let error = encode::resolve(&folder).unwrap_err().to_string();
    assert!(error.contains("one.wit:3"), "{error}");
}
