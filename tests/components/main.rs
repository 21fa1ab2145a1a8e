//! Each component alone under wasmtime with doubles for its imports, and all of them composed.

mod access_alone;
mod auth_method_alone;
mod calls_into_orgs;
mod composed;
mod embedding;
mod faulty_backend;
mod faulty_storage;
mod gateway_alone;
mod isolation;
mod misbehaving;
mod nonsense;
mod orgs_alone;
mod surroundings;

use gatehouse_components::Part;

/// A new part does not compile here before it has a module of tests.
#[test]
fn every_part_has_tests_of_its_own() {
    for part in Part::ALL {
        let tested = match part {
            Part::AuthMethod => auth_method_alone::SUBJECT,
            Part::Access => access_alone::SUBJECT,
            Part::Orgs => orgs_alone::SUBJECT,
            Part::Gateway => gateway_alone::SUBJECT,
            Part::Composed => composed::SUBJECT,
        };
        assert_eq!(tested, part);
    }
}
