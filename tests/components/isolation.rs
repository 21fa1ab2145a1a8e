//! Isolation of components (SEC-W6): shown by what each imports, and by what happens when it tries more.

#[path = "../support/types_alone.rs"]
mod types_alone;

use gatehouse::runtime::linker::linker;
use gatehouse::runtime::storage;
use gatehouse_components::{Flavour, Part};
use gatehouse_store::Namespace;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::surroundings::Surroundings;
use types_alone::has_types_alone;

/// The interfaces that give a component something beyond computing: everything else that it imports is clocks, randomness, types, and
/// the parts of WASI that the language's standard library asks for and that the host leaves empty.
fn powers(part: Part, flavour: Flavour) -> Vec<String> {
    let surroundings = Surroundings::new();
    let (component, _) = surroundings.load(part, flavour);
    powers_of(&component, &surroundings.engine)
}

fn powers_of(component: &Component, engine: &Engine) -> Vec<String> {
    let component_type = component.component_type();
    component_type
        .imports(engine)
        .filter(|(_, item)| !has_types_alone(engine, &item.ty))
        .map(|(name, _)| name.to_owned())
        .filter(|name| {
            name.contains("storage")
                || name.contains("cache")
                || name.contains("outgoing-handler")
                || name.contains("gatehouse")
        })
        .collect()
}

#[test]
fn w6_orgs_and_access_import_their_store_and_nothing_else() {
    for flavour in Flavour::ALL {
        for part in [Part::Orgs, Part::Access] {
            assert_eq!(powers(part, flavour), ["gatehouse:storage/key-value@0.1.0"]);
        }
    }
}

#[test]
fn w6_only_auth_method_has_a_cache_and_can_send_requests() {
    for flavour in Flavour::ALL {
        let mut powers = powers(Part::AuthMethod, flavour);
        powers.sort();
        assert_eq!(
            powers,
            [
                "gatehouse:storage/cache@0.1.0",
                "gatehouse:storage/key-value@0.1.0",
                "wasi:http/outgoing-handler@0.2.12"
            ]
        );
    }
}

#[test]
fn w6_the_gateway_has_no_store_and_no_network() {
    for flavour in Flavour::ALL {
        for power in powers(Part::Gateway, flavour) {
            let known = [
                "gatehouse:auth-method/",
                "gatehouse:access/",
                "gatehouse:orgs/",
                "gatehouse:host/",
            ]
            .iter()
            .any(|prefix| power.starts_with(prefix));
            assert!(known, "{power}");
        }
    }
}

#[test]
fn w6_the_console_reaches_the_api_and_nothing_else() {
    let surroundings = Surroundings::new();
    let bytes = gatehouse_components::console().unwrap();
    let console = Component::new(&surroundings.engine, bytes).unwrap();
    let powers = powers_of(&console, &surroundings.engine);
    assert_eq!(powers, ["gatehouse:gateway/exchange@0.1.0"]);
}

#[test]
fn each_capability_of_the_composition_has_a_store_of_its_own() {
    for flavour in Flavour::ALL {
        let mut powers = powers(Part::Composed, flavour);
        powers.retain(|name| !name.starts_with("wasi:") && !name.starts_with("gatehouse:host/"));
        powers.sort();
        assert_eq!(
            powers,
            [
                "access-storage",
                "auth-method-cache",
                "auth-method-storage",
                "orgs-storage"
            ]
        );
    }
}

#[test]
fn w6_a_capability_that_is_offered_only_the_store_of_another_does_not_start() {
    for flavour in Flavour::ALL {
        let surroundings = Surroundings::new();
        let (component, with_own_store) = surroundings.load(Part::Orgs, flavour);
        let mut with_that_of_access = linker(&surroundings.engine).unwrap();
        let store = surroundings.private(Namespace::Access);
        storage::bind(&mut with_that_of_access, "access-storage", store).unwrap();

        let refused = with_that_of_access
            .instantiate_pre(&component)
            .err()
            .unwrap();
        let reason = format!("{refused:?}");
        assert!(reason.contains(storage::INTERFACE), "{reason}");
        assert!(with_own_store.instantiate_pre(&component).is_ok());
    }
}
