//! Bounds of everything that callers can fill; no list reads more than it shows.

use crate::server::{ROOT, Server, sudo};
use gatehouse_access::{
    Access, AccessService, AliasRequest, CreateError, CreateRequest, Entities as _,
    EntityAliases as _, EntityChanges, FieldTooLong, GroupChanges, Groups as _, IdentityError,
    IdentityTarget, LoginError, Logins as _, MountError, MountRequest, MountTuning, Mounts as _,
    Policies as _, System as _, TokenCreation as _, TokenParameters, TokenRoleChanges,
    TokenRoles as _, TuneError, WritePermission,
};
use gatehouse_ports::doubles::CountingStore;
use gatehouse_ports::{Change, Put, Store};

const KIB: usize = 1024;

fn too_long(field: &str, bytes: usize) -> FieldTooLong {
    FieldTooLong {
        field: field.to_owned(),
        bytes: u32::try_from(bytes).unwrap(),
    }
}

fn put(server: &Server, key: &str, value: Vec<u8>) {
    let change = Change::Put(Put {
        key: key.to_owned(),
        value,
        expires_at: None,
    });
    server.store.commit(Vec::new(), vec![change]).unwrap();
}

fn delete(server: &Server, key: &str) {
    let key = key.to_owned();
    let change = Change::Delete(key);
    server.store.commit(Vec::new(), vec![change]).unwrap();
}

fn value(server: &Server, key: &str) -> Vec<u8> {
    let entry = server.store.get(&[key]).unwrap().remove(0);
    entry.unwrap().value
}

/// `value` with one text in the place of another.
fn edited(value: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = value
        .windows(from.len())
        .position(|window| window == from.as_bytes())
        .unwrap();
    [&value[..at], to.as_bytes(), &value[at + from.len()..]].concat()
}

#[test]
fn s14_policies_are_listed_without_their_texts() {
    let server = Server::ready();
    let rule = "path \"a\" { capabilities = [\"read\"] }\n#";
    let text = format!("{rule}{}", "x".repeat(255 * KIB - rule.len()));
    for number in 0..60 {
        let name = format!("p{number:02}");
        server.access.write_policy(&name, &text).unwrap();
    }
    let names = server.access.list_policies().unwrap();
    assert_eq!(names.len(), 62);
    let measured = CountingStore::new(server.store);
    let access = AccessService::new(&measured, server.clock, server.random);
    assert_eq!(access.list_policies().unwrap(), names);
    assert!(measured.take_counts().largest_answer < 100 * KIB);

    // A store of before the index of names.
    for key in server.store.keys() {
        if key.starts_with("policy-name/") || key == "index/policy-names" {
            delete(&server, &key);
        }
    }
    assert_eq!(access.list_policies().unwrap(), names);
    assert!(measured.take_counts().largest_answer < 6 * KIB * KIB);
    server.access.delete_policy("p00").unwrap();
    let names = server.access.list_policies().unwrap();
    assert_eq!(names.len(), 61);
    assert!(!names.contains(&"p00".to_owned()));
}

fn list(access: &impl Access) -> Vec<String> {
    access.list_token_roles(None, 10_000).unwrap().keys
}

#[test]
fn s14_token_roles_are_listed_without_what_they_hold() {
    let server = Server::ready();
    let changes = TokenRoleChanges {
        allowed_policies: Some((0..2_000).map(|number| format!("{number:0100}")).collect()),
        ..TokenRoleChanges::default()
    };
    let permission = WritePermission {
        create: true,
        update: true,
    };
    for number in 0..60 {
        let name = format!("r{number:02}");
        let written = server.access.write_token_role(&name, &changes, permission);
        written.unwrap();
    }
    let names = list(&server.access);
    assert_eq!(names.len(), 60);
    let measured = CountingStore::new(server.store);
    let access = AccessService::new(&measured, server.clock, server.random);
    assert_eq!(list(&access), names);
    assert!(measured.take_counts().largest_answer < 100 * KIB);

    // A store of before the index of names.
    for key in server.store.keys() {
        if key.starts_with("token-role-name/") || key == "index/token-role-names" {
            delete(&server, &key);
        }
    }
    assert_eq!(list(&access), names);
    assert!(measured.take_counts().largest_answer < 6 * KIB * KIB);
    let page = access.list_token_roles(Some("r10"), 2).unwrap();
    assert_eq!(
        (page.keys, page.next),
        (
            vec!["r11".to_owned(), "r12".to_owned()],
            Some("r12".to_owned())
        )
    );
    server.access.delete_token_role("r00").unwrap();
    assert!(!list(&access).contains(&"r00".to_owned()));
    server.access.maintain().unwrap();
    assert_eq!(list(&access).len(), 59);
}

#[test]
fn s14_texts_of_mounts_are_bounded_when_they_are_enabled_and_tuned() {
    let server = Server::ready();
    let described = |length: usize| MountRequest {
        mount_type: "gcp".to_owned(),
        description: "d".repeat(length),
        ..MountRequest::default()
    };
    let expected = too_long("description", 4 * KIB);
    let commits = server.store.commits();
    let refused = server.access.enable_mount("a", &described(4 * KIB + 1));
    assert_eq!(refused, Err(MountError::TooLong(expected.clone())));
    let tuning = MountTuning {
        description: Some("d".repeat(4 * KIB + 1)),
        ..MountTuning::default()
    };
    let refused = server.access.tune_mount("gcp", &tuning);
    assert_eq!(refused, Err(TuneError::TooLong(expected)));
    let tuning = MountTuning {
        options: Some(vec![("o".to_owned(), "v".repeat(4 * KIB))]),
        ..MountTuning::default()
    };
    let refused = server.access.tune_mount("gcp", &tuning);
    assert!(matches!(refused, Err(TuneError::TooLong(_))), "{refused:?}");
    let headers = MountRequest {
        passthrough_request_headers: vec!["h".repeat(4 * KIB), "i".to_owned()],
        ..described(0)
    };
    let refused = server.access.enable_mount("a", &headers);
    assert!(
        matches!(refused, Err(MountError::TooLong(_))),
        "{refused:?}"
    );
    assert_eq!(server.store.commits(), commits);
    server
        .access
        .enable_mount("a", &described(4 * KIB))
        .unwrap();
}

#[test]
fn s14_mounts_of_before_with_long_descriptions_are_read_and_their_number_is_bounded() {
    let server = Server::ready();
    let one = value(&server, "mount/auth/gcp");
    let long = format!("\"description\":\"{}\"", "ä".repeat(400 * KIB));
    let long = edited(&one, "\"description\":\"\"", &long);
    for number in 0..70 {
        let path = format!("\"path\":\"old{number:02}/\"");
        let mount = edited(&long, "\"path\":\"gcp/\"", &path);
        put(&server, &format!("mount/auth/old{number:02}"), mount);
    }
    let measured = CountingStore::new(server.store);
    let access = AccessService::new(&measured, server.clock, server.random);
    let mounts = access.list_mounts().unwrap();
    assert_eq!(mounts.len(), 72);
    let shown: usize = mounts.iter().map(|mount| mount.description.len()).sum();
    assert!(shown <= 72 * 4 * KIB, "{shown}");
    assert!(measured.take_counts().largest_answer <= 16 * 810 * KIB);
    let tuning = MountTuning {
        default_lease_ttl: Some(60),
        ..MountTuning::default()
    };
    access.tune_mount("old00", &tuning).unwrap();

    for number in 72..999 {
        let path = format!("\"path\":\"m{number}/\"");
        let mount = edited(&one, "\"path\":\"gcp/\"", &path);
        put(&server, &format!("mount/auth/m{number}"), mount);
    }
    server.enable("last");
    let request = MountRequest {
        mount_type: "gcp".to_owned(),
        ..MountRequest::default()
    };
    let refused = access.enable_mount("more", &request);
    assert_eq!(refused, Err(MountError::TooManyMounts(1000)));
    server.access.disable_mount("last").unwrap();
    server.enable("more");
}

#[test]
fn t12_what_a_token_carries_is_bounded() {
    let server = Server::ready();
    let create = |request: CreateRequest| {
        let made = server.access.create_token(&sudo(ROOT), &request);
        made.map(|_| ())
    };
    let meta = |length: usize| CreateRequest {
        metadata: Some(Vec::from([("m".to_owned(), "v".repeat(length - 1))])),
        ..CreateRequest::default()
    };
    let named = |length: usize| CreateRequest {
        display_name: Some("n".repeat(length)),
        ..CreateRequest::default()
    };
    let listed = |length: usize| CreateRequest {
        policies: Some(vec!["p".repeat(length)]),
        ..CreateRequest::default()
    };
    let commits = server.store.commits();
    for (request, field, most) in [
        (meta(64 * KIB + 1), "meta", 64 * KIB),
        (named(4 * KIB + 1), "display_name", 4 * KIB),
        (listed(64 * KIB + 1), "policies", 64 * KIB),
    ] {
        let expected = CreateError::TooLong(too_long(field, most));
        assert_eq!(create(request), Err(expected));
    }
    let mut grant = server.grant("1234", TokenParameters::default());
    grant.display_name = "n".repeat(4 * KIB + 1);
    let refused = server.access.issue_login(&grant).err();
    let expected = LoginError::TooLong(too_long("display_name", 4 * KIB));
    assert_eq!(refused, Some(expected));
    assert_eq!(server.store.commits(), commits);
    for request in [meta(64 * KIB), named(4 * KIB), listed(64 * KIB)] {
        assert_eq!(create(request), Ok(()));
    }
}

#[test]
fn s14_names_of_aliases_policies_of_entities_and_members_of_groups_are_bounded() {
    let server = Server::ready();
    let access = &server.access;
    let alias = |length: usize| AliasRequest {
        name: Some("a".repeat(length)),
        mount_accessor: Some(server.mount("gcp/").accessor),
        ..AliasRequest::default()
    };
    let refused = access.write_entity_alias(&alias(513)).err();
    assert_eq!(refused, Some(IdentityError::TooLong(too_long("name", 512))));
    access.write_entity_alias(&alias(512)).unwrap();
    let changes = EntityChanges {
        policies: Some(vec!["p".repeat(64 * KIB + 1)]),
        ..EntityChanges::default()
    };
    let refused = access.write_entity(&IdentityTarget::New, &changes).err();
    let expected = IdentityError::TooLong(too_long("policies", 64 * KIB));
    assert_eq!(refused, Some(expected));

    let entity = || {
        let changes = EntityChanges::default();
        access
            .write_entity(&IdentityTarget::New, &changes)
            .unwrap()
            .id
    };
    let (first, second) = (entity(), entity());
    let members = |ids: Vec<String>| GroupChanges {
        member_entity_ids: Some(ids),
        ..GroupChanges::default()
    };
    let target = &IdentityTarget::Name("g".into());
    let group = access.write_group(target, &members(vec![first.clone()]));
    let group = group.unwrap().id;
    let owner = value(&server, &format!("group-member/{group}/{first}"));
    let mut ids = vec![first.clone()];
    for number in 1..10_000 {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let member = edited(&owner, &first, &id);
        put(&server, &format!("group-member/{group}/{id}"), member);
        ids.push(id);
    }
    ids.push(second);
    let refused = access.write_group(target, &members(ids.clone())).err();
    assert_eq!(refused, Some(IdentityError::TooManyMembers(10_000)));
    ids.swap_remove(1);
    access.write_group(target, &members(ids)).unwrap();
}
