//! Tokens that are created for the entity of an alias which their token-store role allows (contract 5.4).

use std::num::NonZeroU32;
use std::sync::Mutex;

use crate::interposed::{Fate, interposed};
use crate::server::{ROOT, Server, sudo};
use crate::under_role::{
    asking, create, holder, listed, text, texts, under, view, with_role, write,
};
use gatehouse_access::{
    AliasPlace, CreateError, CreateRequest, Entities as _, EntityAliases as _, EntityChanges,
    IdentityReference, IdentityTarget, Settings, TokenCreation as _, TokenRoleChanges,
};

fn with_aliases() -> Server {
    with_role(&TokenRoleChanges {
        allowed_entity_aliases: listed(&["Bob", "svc-*"]),
        ..TokenRoleChanges::default()
    })
}

fn named(alias: &str) -> CreateRequest {
    CreateRequest {
        entity_alias: Some(alias.to_owned()),
        ..asking(&["own"])
    }
}

#[test]
fn contract_5_4_a_token_has_the_entity_of_an_alias_that_its_role_allows() {
    let server = with_aliases();
    let parent = holder(&server, &["own"], false);
    let entity = |alias: &str| {
        let made = create(&server, &parent, named(alias)).ok().unwrap();
        made.grant.entity_id.unwrap()
    };
    let bob = entity("Bob");
    assert_eq!(entity("BOB"), bob);
    assert_ne!(entity("svc-1"), bob);
    assert_eq!(entity("svc-1"), entity("SVC-1"));
    let aliases = server
        .access
        .list_entity_aliases(None, 100)
        .unwrap()
        .aliases;
    let mut names: Vec<_> = aliases.iter().map(|alias| alias.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["bob", "svc-1"]);
    assert!(
        aliases
            .iter()
            .all(|alias| alias.mount_path == "auth/token/")
    );
    for alias in ["eve", "svc", "bobby", &format!("svc-{}", "x".repeat(512))] {
        let refused = create(&server, &parent, named(alias)).err();
        assert_eq!(refused, Some(CreateError::AliasNotAllowed), "{alias}");
    }
    let none = create(&server, &parent, named("")).ok().unwrap();
    assert_eq!(none.grant.entity_id, None);
    write(
        &server,
        &TokenRoleChanges {
            allowed_entity_aliases: Some(Vec::new()),
            ..TokenRoleChanges::default()
        },
    );
    let refused = create(&server, &parent, named("bob")).err();
    assert_eq!(refused, Some(CreateError::AliasNotAllowed));
    let refused = server.access.create_token(&sudo(&parent), &named("bob"));
    assert_eq!(refused.err(), Some(CreateError::EntityAliasWithoutRole));
}

#[test]
fn t12_a_role_with_a_pattern_of_aliases_makes_a_bounded_number_of_entities() {
    let mut server = with_aliases();
    server.access = server.another_instance().with_settings(Settings {
        entities_per_token_role: NonZeroU32::new(2),
        ..Settings::DEFAULT
    });
    let make = |alias: &str| create(&server, ROOT, named(alias)).map(|it| it.grant.entity_id);
    let first = make("svc-1").unwrap().unwrap();
    make("svc-2").unwrap();
    let keys = server.store.keys();
    assert_eq!(make("svc-3"), Err(CreateError::TooManyEntities(2)));
    assert_eq!(server.store.keys(), keys);
    // Those that exist are no new ones, and one that is deleted makes room.
    make("svc-1").unwrap();
    let gone = &IdentityReference::Id(first.clone());
    assert_eq!(server.access.delete_entity(gone), Ok(true));
    make("svc-3").unwrap();
    assert_eq!(make("svc-4"), Err(CreateError::TooManyEntities(2)));
}

#[test]
fn the_entity_brings_its_policies_and_a_disabled_one_no_token() {
    let server = with_aliases();
    let first = create(&server, ROOT, named("bob")).ok().unwrap();
    let id = first.grant.entity_id.unwrap();
    let change = |changes: &EntityChanges| {
        server
            .access
            .write_entity(&IdentityTarget::Id(id.clone()), changes)
            .unwrap();
    };
    change(&EntityChanges {
        policies: listed(&["of-entity"]),
        ..EntityChanges::default()
    });
    let second = create(&server, ROOT, named("bob")).ok().unwrap();
    assert_eq!(second.grant.identity_policies, texts(&["of-entity"]));
    assert_eq!(
        view(&server, &text(&second)).identity_policies,
        texts(&["of-entity"])
    );
    change(&EntityChanges {
        disabled: Some(true),
        ..EntityChanges::default()
    });
    let before = server.store.keys();
    let refused = create(&server, ROOT, named("bob")).err();
    assert_eq!(refused, Some(CreateError::AliasEntityUnusable));
    assert_eq!(server.store.keys(), before);
}

#[test]
fn concurrent_first_tokens_of_an_alias_make_one_entity() {
    let server = with_aliases();
    let other = server.another_instance();
    let made = Mutex::new(None);
    let made: &'static Mutex<Option<String>> = Box::leak(Box::new(made));
    let access = interposed(&server, move |number, _| {
        if number == 0 {
            let issued = other.create_token(&sudo(ROOT), &under("ci", named("bob")));
            *made.lock().unwrap() = issued.ok().unwrap().grant.entity_id;
        }
        Fate::Asked
    });
    let issued = access.create_token(&sudo(ROOT), &under("ci", named("bob")));
    assert_eq!(issued.ok().unwrap().grant.entity_id, *made.lock().unwrap());
    assert_eq!(
        server
            .access
            .list_entities(None, 100)
            .unwrap()
            .entities
            .len(),
        1
    );
}

#[test]
fn t11_a_refused_token_makes_no_entity() {
    let server = with_aliases();
    let parent = holder(&server, &["own"], false);
    let before = server.store.keys();
    let request = CreateRequest {
        policies: listed(&["others"]),
        ..named("bob")
    };
    let refused = create(&server, &parent, request).err();
    assert_eq!(refused, Some(CreateError::PoliciesNotSubset));
    assert_eq!(server.store.keys(), before);
    let unknown = IdentityReference::Alias(AliasPlace {
        mount_accessor: "auth_token_x".to_owned(),
        name: "bob".to_owned(),
    });
    assert_eq!(server.access.read_entity(&unknown), Ok(None));
}
