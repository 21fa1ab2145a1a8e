//! Operators' changes of entities and groups, and the records that they leave in the store.

use crate::server::{Server, policies};
use gatehouse_access::{
    AliasRequest, Entities as _, EntityAliases as _, EntityChanges, GroupChanges, Groups as _,
    IdentityError, IdentityReference, IdentityTarget, TokenLookup as _, TokenReference,
};

fn entity(server: &Server) -> String {
    let written = server
        .access
        .write_entity(&IdentityTarget::New, &EntityChanges::default());
    written.unwrap().id
}

fn group(server: &Server, name: &str, groups: &[&String]) -> Result<String, IdentityError> {
    let changes = GroupChanges {
        member_group_ids: Some(groups.iter().map(|&id| id.clone()).collect()),
        ..GroupChanges::default()
    };
    let target = &IdentityTarget::Name(name.into());
    Ok(server.access.write_group(target, &changes)?.id)
}

fn with_members(ids: Vec<String>) -> GroupChanges {
    GroupChanges {
        member_entity_ids: Some(ids),
        ..GroupChanges::default()
    }
}

fn keys(server: &Server, prefix: &str) -> usize {
    let keys = server.store.keys();
    keys.iter().filter(|key| key.starts_with(prefix)).count()
}

#[test]
fn groups_are_nested_to_a_bounded_depth() {
    let server = Server::ready();
    let mut top = group(&server, "g0", &[]).unwrap();
    let bottom = top.clone();
    for number in 1..8 {
        top = group(&server, &format!("g{number}"), &[&top]).unwrap();
    }
    let before = server.store.commits();
    assert_eq!(
        group(&server, "g8", &[&top]),
        Err(IdentityError::TooDeep(8))
    );
    assert_eq!(
        group(&server, "g0", &[&top]),
        Err(IdentityError::CyclicGroups)
    );
    let below = GroupChanges {
        member_group_ids: Some(vec![top]),
        ..GroupChanges::default()
    };
    let closed = server
        .access
        .write_group(&IdentityTarget::Id(bottom.clone()), &below);
    assert_eq!(closed, Err(IdentityError::CyclicGroups));
    assert_eq!(server.store.commits(), before);
}

#[test]
fn two_changes_at_once_do_not_close_a_circle() {
    for _ in 0..50 {
        let server = Server::ready();
        let ids: Vec<String> = ["a", "b", "c"]
            .iter()
            .map(|name| group(&server, name, &[]).unwrap())
            .collect();
        // a over b, b over c, c over a: at most two of the three can be.
        let done: Vec<bool> = std::thread::scope(|scope| {
            let changes: Vec<_> = (0..3)
                .map(|number| {
                    let access = server.another_instance();
                    let (above, below) = (ids[number].clone(), ids[(number + 1) % 3].clone());
                    scope.spawn(move || {
                        let changes = GroupChanges {
                            member_group_ids: Some(vec![below]),
                            ..GroupChanges::default()
                        };
                        let target = &IdentityTarget::Id(above.clone());
                        match access.write_group(target, &changes) {
                            Ok(_) => true,
                            Err(IdentityError::CyclicGroups) => false,
                            Err(error) => panic!("{error}"),
                        }
                    })
                })
                .collect();
            changes.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(done.iter().filter(|done| **done).count(), 2, "{done:?}");
        for id in &ids {
            let view = server.access.read_group(&IdentityReference::Id(id.into()));
            let view = view.unwrap().unwrap();
            for below in &view.member_group_ids {
                let below = server
                    .access
                    .read_group(&IdentityReference::Id(below.into()));
                assert!(below.unwrap().unwrap().parent_group_ids.contains(id));
            }
        }
    }
}

#[test]
fn members_are_added_and_removed_in_steps_that_fit_a_commit() {
    let server = Server::ready();
    let ids: Vec<String> = (0..500).map(|_| entity(&server)).collect();
    let id = group(&server, "g", &[]).unwrap();
    let write = |ids: &[String]| {
        let changes = with_members(ids.to_vec());
        server
            .access
            .write_group(&IdentityTarget::Id(id.clone()), &changes)
    };
    let before = server.store.commits();
    assert_eq!(write(&ids), Err(IdentityError::TooManyChanges(400)));
    assert_eq!(server.store.commits(), before);
    write(&ids[..400]).unwrap();
    write(&ids).unwrap();
    let view = server.access.read_group(&IdentityReference::Id(id.clone()));
    assert_eq!(view.unwrap().unwrap().member_entity_ids.len(), 500);
    assert_eq!(keys(&server, "group-member/"), 500);

    // An entity that goes leaves; a group that goes is forgotten by all.
    assert!(
        server
            .access
            .delete_entity(&IdentityReference::Id(ids[0].clone()))
            .unwrap()
    );
    assert_eq!(keys(&server, "group-member/"), 499);
    assert!(
        server
            .access
            .delete_group(&IdentityReference::Name("g".into()))
            .unwrap()
    );
    assert_eq!(keys(&server, "group"), 0);
    let values = server.store.values();
    let naming = |value: &&Vec<u8>| String::from_utf8_lossy(value).contains(&id);
    assert_eq!(values.iter().filter(naming).count(), 0);
}

#[test]
fn an_entity_is_in_a_bounded_number_of_groups() {
    let server = Server::ready();
    let id = entity(&server);
    let join = |number: usize| {
        let name = format!("g{number}");
        let changes = with_members(vec![id.clone()]);
        server
            .access
            .write_group(&IdentityTarget::Name(name.clone()), &changes)
    };
    for number in 0..256 {
        join(number).unwrap();
    }
    let before = server.store.keys();
    assert_eq!(join(256), Err(IdentityError::TooManyGroups(256)));
    assert_eq!(server.store.keys(), before);
}

#[test]
fn metadata_and_names_are_bounded() {
    let server = Server::ready();
    let write = |changes: &EntityChanges| server.access.write_entity(&IdentityTarget::New, changes);
    let metadata = |name: String, value: String| EntityChanges {
        metadata: Some(vec![(name, value)]),
        ..EntityChanges::default()
    };
    let before = server.store.keys();
    for changes in [
        metadata("a".repeat(129), String::new()),
        metadata("a".to_owned(), "v".repeat(513)),
        EntityChanges {
            metadata: Some((0..65).map(|it| (it.to_string(), String::new())).collect()),
            ..EntityChanges::default()
        },
    ] {
        assert_eq!(write(&changes), Err(IdentityError::InvalidMetadata));
    }
    for name in [
        "",
        "a\nb",
        "a//b",
        "/a",
        "a/",
        "a/..",
        ".",
        &"n".repeat(513),
    ] {
        let changes = EntityChanges {
            name: Some(name.to_owned()),
            ..EntityChanges::default()
        };
        assert_eq!(write(&changes), Err(IdentityError::InvalidName), "{name:?}");
    }
    assert_eq!(server.store.keys(), before);
}

#[test]
fn names_and_aliases_are_given_away_once() {
    for _ in 0..20 {
        let server = Server::ready();
        let entities: Vec<String> = (0..8).map(|_| entity(&server)).collect();
        let accessor = server.mount("gcp/").accessor;
        let before = keys(&server, "entity/");
        let (named, aliased): (Vec<bool>, Vec<bool>) = std::thread::scope(|scope| {
            let writers: Vec<_> = entities
                .iter()
                .map(|id| {
                    let access = server.another_instance();
                    let accessor = accessor.clone();
                    scope.spawn(move || {
                        let changes = EntityChanges {
                            name: Some("wanted".to_owned()),
                            ..EntityChanges::default()
                        };
                        let named = access.write_entity(&IdentityTarget::Id(id.into()), &changes);
                        let request = AliasRequest {
                            name: Some("sa".to_owned()),
                            mount_accessor: Some(accessor),
                            ..AliasRequest::default()
                        };
                        let made = access.write_entity_alias(&request).unwrap();
                        (named.is_ok(), made.canonical_id.is_empty())
                    })
                })
                .collect();
            writers.into_iter().map(|it| it.join().unwrap()).unzip()
        });
        assert_eq!(named.iter().filter(|named| **named).count(), 1);
        assert!(!aliased.contains(&true));
        assert_eq!(keys(&server, "alias/"), 1);
        assert_eq!(keys(&server, "alias-id/"), 1);
        assert_eq!(keys(&server, "entity/"), before + 1);
        assert_eq!(keys(&server, "entity-name/"), before + 1);
    }
}

#[test]
fn a4_policies_of_an_identity_that_are_blanks_name_nothing() {
    let server = Server::ready();
    let token = server.log_in(policies(&["own"]));
    let id = token.grant.entity_id.clone().unwrap();
    let blanks = || Some(vec![String::new(), " ".to_owned(), "\t\n".to_owned()]);
    let changes = EntityChanges {
        policies: blanks(),
        ..EntityChanges::default()
    };
    let target = &IdentityTarget::Id(id.clone());
    server.access.write_entity(target, &changes).unwrap();
    let changes = GroupChanges {
        policies: blanks(),
        member_entity_ids: Some(vec![id.clone()]),
        ..GroupChanges::default()
    };
    let target = &IdentityTarget::Name("crew".into());
    let group = server.access.write_group(target, &changes).unwrap().id;

    let entity = server
        .access
        .read_entity(&IdentityReference::Id(id.clone()));
    assert!(entity.unwrap().unwrap().policies.is_empty());
    let group = server
        .access
        .read_group(&IdentityReference::Id(group.clone()));
    assert!(group.unwrap().unwrap().policies.is_empty());
    for text in [
        token.client_token.as_str(),
        server.log_in(policies(&["own"])).client_token.as_str(),
    ] {
        let view = server.access.lookup_token(&TokenReference::Id(text.into()));
        let view = view.unwrap();
        assert_eq!(view.identity_policies, Vec::<String>::new());
        assert_eq!(view.policies, ["default", "own"]);
    }
    // Blanks beside a name do not make another of it.
    let changes = EntityChanges {
        policies: Some(vec![" ".to_owned(), " Root ".to_owned()]),
        ..EntityChanges::default()
    };
    let refused = server
        .access
        .write_entity(&IdentityTarget::Id(id.clone()), &changes);
    assert_eq!(refused, Err(IdentityError::RootPolicy));
}

#[test]
fn an_alias_that_is_renamed_stays_with_its_entity_and_one_that_is_moved_leaves_it() {
    let server = Server::ready();
    let [first, second] = [entity(&server), entity(&server)];
    let named = |id: &str| {
        let entity = server.access.read_entity(&IdentityReference::Id(id.into()));
        let aliases = entity.unwrap().unwrap().aliases;
        aliases
            .into_iter()
            .map(|alias| alias.name)
            .collect::<Vec<_>>()
    };
    let mut request = AliasRequest {
        name: Some("sa".to_owned()),
        mount_accessor: Some(server.mount("gcp/").accessor),
        canonical_id: Some(first.clone()),
        ..AliasRequest::default()
    };
    let made = server.access.write_entity_alias(&request).unwrap();
    assert!(made.changed);
    let commits = server.store.commits();
    let again = server.access.write_entity_alias(&request).unwrap();
    assert_eq!(
        (again.id.as_str(), again.changed),
        (made.id.as_str(), false)
    );
    assert_eq!(server.store.commits(), commits);

    request.id = Some(made.id);
    request.name = Some("sb".to_owned());
    assert!(server.access.write_entity_alias(&request).unwrap().changed);
    assert_eq!(named(&first), ["sb"]);
    request.canonical_id = Some(second.clone());
    assert!(server.access.write_entity_alias(&request).unwrap().changed);
    assert_eq!(
        (named(&first).len(), named(&second)),
        (0, vec!["sb".to_owned()])
    );
    assert_eq!(keys(&server, "alias/"), 1);
}

#[test]
fn the_members_of_a_group_are_those_that_were_written_last() {
    let server = Server::ready();
    let [a, b, c] = ["a", "b", "c"].map(|name| group(&server, name, &[]).unwrap());
    let read = |id: &str| {
        let group = server.access.read_group(&IdentityReference::Id(id.into()));
        group.unwrap().unwrap()
    };
    let mut expected = vec![a.clone(), b.clone()];
    let top = group(&server, "top", &[&a, &b]).unwrap();
    expected.sort_unstable();
    assert_eq!(read(&top).member_group_ids, expected);
    group(&server, "top", &[&b, &c]).unwrap();
    let mut expected = vec![b.clone(), c.clone()];
    expected.sort_unstable();
    assert_eq!(read(&top).member_group_ids, expected);
    assert!(read(&a).parent_group_ids.is_empty());
    assert_eq!(read(&b).parent_group_ids, read(&c).parent_group_ids);
    assert_eq!(read(&c).parent_group_ids, [top]);
}
