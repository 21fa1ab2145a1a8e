//! Properties of every component as it was built.

use gatehouse_components::{Flavour, Part, bytes};
use gatehouse_interfaces::Package;
use wasmparser::{Operator, Parser, Payload, Validator, WasmFeatures};
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldId};

/// The features that an engine must have switched on for a flavour, and none that the flavour could do without.
fn features(flavour: Flavour) -> WasmFeatures {
    let mut features = WasmFeatures::default();
    features.set(WasmFeatures::RELAXED_SIMD, false);
    features.set(WasmFeatures::SIMD, flavour == Flavour::Wide);
    features.set(WasmFeatures::WIDE_ARITHMETIC, flavour == Flavour::Wide);
    // The composition has several imports of one interface under names of their own.
    features.set(WasmFeatures::CM_IMPLEMENTS, true);
    features
}

/// The world that a part was built for.
fn world(resolve: &Resolve, package: Package) -> WorldId {
    let mut worlds = resolve.worlds.iter();
    let named = worlds.find(|(_, world)| {
        let of = world.package.map(|package| &resolve.packages[package].name);
        let is_ours = of.is_some_and(|name| name.name == package.name());
        is_ours && world.name == package.name()
    });
    named.unwrap().0
}

#[test]
fn every_component_is_valid_on_an_engine_that_has_what_its_flavour_needs() {
    for flavour in Flavour::ALL {
        for part in Part::ALL {
            let mut validator = Validator::new_with_features(features(flavour));
            let invalid = validator.validate_all(bytes(part, flavour).unwrap()).err();
            assert!(invalid.is_none(), "{flavour:?} {part:?}: {invalid:?}");
        }
    }
}

#[test]
fn the_wide_flavour_needs_what_the_portable_one_does_not() {
    let mut validator = Validator::new_with_features(features(Flavour::Portable));
    let validated = validator.validate_all(bytes(Part::AuthMethod, Flavour::Wide).unwrap());
    assert!(validated.is_err());
}

/// LLVM 22 takes the wrong half of the signed products whose overflow is checked. They cannot be told from those that are right, so there
/// must be none.
#[test]
fn nothing_but_the_auth_method_is_wide_and_it_multiplies_no_signed_numbers() {
    for part in [Part::Access, Part::Orgs, Part::Gateway] {
        assert!(
            bytes(part, Flavour::Wide).unwrap() == bytes(part, Flavour::Portable).unwrap(),
            "{part:?}"
        );
    }
    let (mut unsigned, mut signed) = (0, 0);
    for payload in Parser::new(0).parse_all(bytes(Part::AuthMethod, Flavour::Wide).unwrap()) {
        if let Payload::CodeSectionEntry(function) = payload.unwrap() {
            for operator in function.get_operators_reader().unwrap() {
                match operator.unwrap() {
                    Operator::I64MulWideU => unsigned += 1,
                    Operator::I64MulWideS => signed += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(unsigned > 0);
    assert_eq!(signed, 0);
}

/// The package of a component, decoded, with the component's own world in it; that world's imports are the keys that it was built with.
fn decoded(package: Package, component: &[u8]) -> (Resolve, WorldId) {
    let bytes = gatehouse_interfaces::bytes(package);
    let DecodedWasm::WitPackage(mut resolve, _) = wit_component::decode(bytes).unwrap() else {
        panic!("{package:?} is no package of interfaces");
    };
    let DecodedWasm::Component(built, built_world) = wit_component::decode(component).unwrap()
    else {
        panic!("{package:?} has no component");
    };
    let merged = resolve.merge(built).unwrap();
    let built_world = merged.worlds[built_world.index()].unwrap();
    (resolve, built_world)
}

/// The world is taken from the package in its binary form, as it comes from a registry. A component may import of WASI
/// what its language's standard library wants, which no world of ours names.
#[test]
fn every_component_is_what_its_world_says() {
    let console = gatehouse_components::console().unwrap();
    for flavour in Flavour::ALL {
        let part = |part| bytes(part, flavour).unwrap();
        for (package, component) in [
            (Package::AuthMethod, part(Part::AuthMethod)),
            (Package::Access, part(Part::Access)),
            (Package::Orgs, part(Part::Orgs)),
            (Package::Gateway, part(Part::Gateway)),
            (Package::Console, &console),
        ] {
            let (mut resolve, built) = decoded(package, component);
            let promised = world(&resolve, package);
            let imports = resolve.worlds[built].imports.clone();
            for (key, import) in imports {
                let name = resolve.name_world_key(&key);
                let world = &mut resolve.worlds[promised];
                if name.starts_with("wasi:") && !world.imports.contains_key(&key) {
                    world.imports.insert(key, import);
                }
            }
            let fits = wit_component::targets(&resolve, promised, component);
            assert!(fits.is_ok(), "{flavour:?} {package:?}: {fits:?}");
        }
    }
}

#[test]
fn the_console_reaches_the_api_and_no_store_and_no_network() {
    let (resolve, built) = decoded(Package::Console, &gatehouse_components::console().unwrap());
    let imports = resolve.worlds[built].imports.keys();
    let names: Vec<String> = imports.map(|key| resolve.name_world_key(key)).collect();
    let ours = names.iter().filter(|name| !name.starts_with("wasi:"));
    assert_eq!(
        ours.collect::<Vec<_>>(),
        [
            "gatehouse:network/addresses@0.1.0",
            "gatehouse:gateway/exchange@0.1.0"
        ]
    );
    for beyond in ["wasi:http/", "wasi:sockets/", "wasi:keyvalue/"] {
        assert!(
            !names.iter().any(|name| name.starts_with(beyond)),
            "{names:?}"
        );
    }
}
