//! The names of roles are read apart from the roles, and roles are read and deleted in pages: contract 3.1; SEC-S12, S14.

use gatehouse_auth_method::{
    AuthMethod, AuthMethodService, Config, Login, LoginRequest, RoleChanges, RoleNames, Roles,
    Settings, StorageError,
};
use gatehouse_ports::doubles::{CountingStore, ManualClock, MemoryStore, SeededRandom};
use gatehouse_ports::{
    Change, CommitError, MAXIMUM_VALUE_BYTES, NoCache, Put, Store as _, StoreError,
};
use gatehouse_storage::encode;

use crate::google::{self, Fault};
use crate::keys::{self, Token};
use crate::roles::read;
use crate::stage::{Stage, dev_role};

type Counted = CountingStore<&'static MemoryStore<&'static ManualClock>>;

fn counted(stage: &Stage) -> Counted {
    CountingStore::new(stage.store)
}

fn over<'a>(store: &'a Counted, stage: &Stage) -> impl AuthMethod + use<'a> {
    let settings = Settings::default();
    let random = SeededRandom::new(9);
    AuthMethodService::new(store, NoCache, stage.http, stage.clock, random, settings)
}

/// Leaves `count` roles like `dev` in the store as the release before the index of names wrote them, and gives their names.
fn leave_without_index(stage: &Stage, count: usize) -> Vec<String> {
    let value = encode(&read(stage)).unwrap();
    let names: Vec<String> = (0..count).map(|number| format!("r{number:07}")).collect();
    let entries = names.iter().map(|name| (role_key(name), value.clone()));
    stage.put_without_index(entries);
    names
}

fn role_key(name: &str) -> String {
    format!("m1/role/{name}")
}

/// All names, asked for so many at a time.
fn names_in_parts(service: &impl AuthMethod, stage: &Stage, limit: u32) -> Vec<String> {
    let (mut after, mut listed) = (None, Vec::new());
    loop {
        let part = service
            .list_roles_after(&stage.mount, after.as_deref(), limit)
            .unwrap();
        assert!(part.names.len() <= limit as usize);
        listed.extend(part.names);
        after = part.next;
        if after.is_none() {
            return listed;
        }
    }
}

/// Most that a component holds of one answer, of its 64 MiB.
const HELD_AT_ONCE: usize = 16 * MAXIMUM_VALUE_BYTES;

#[test]
fn s14_76_roles_of_nearly_a_mebibyte_are_listed_checked_and_deleted_in_pages() {
    let stage = Stage::ready();
    stage.role(dev_role());
    let mut role = read(&stage);
    role.bound_projects = (0..18_000)
        .map(|number| format!("{:x<50}", format!("project-{number}")))
        .collect();
    assert!((900_000..MAXIMUM_VALUE_BYTES).contains(&encode(&role).unwrap().len()));
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    let names: Vec<String> = (0..76).map(|number| format!("r{number:02}")).collect();
    let value = encode(&role).unwrap();
    stage.put_without_index(names.iter().map(|name| (role_key(name), value.clone())));
    let unseen = Fault::Answer(google::refusal(403, "no", "forbidden"));
    stage
        .google
        .fail("cloudresourcemanager", unseen, usize::MAX);
    let store = counted(&stage);
    let service = over(&store, &stage);
    assert_eq!(service.list_roles(&stage.mount).unwrap(), names);
    assert_eq!(
        service
            .check_config(&stage.mount, &[])
            .unwrap()
            .projects
            .len(),
        20
    );
    service.forget_mount("m1").unwrap();
    assert!(service.list_roles(&stage.mount).unwrap().is_empty());
    let largest = store.take_counts().largest_answer;
    assert!(largest <= HELD_AT_ONCE, "{largest}");
}

#[test]
fn s14_a_list_of_roles_is_read_in_parts() {
    let stage = Stage::bare();
    for number in 0..100 {
        let name = format!("r{number:03}");
        stage.write_role(&name, dev_role()).unwrap();
    }
    let store = counted(&stage);
    let service = over(&store, &stage);
    let part = |after: Option<&str>, limit| {
        let RoleNames { names, next } = service
            .list_roles_after(&stage.mount, after, limit)
            .unwrap();
        (names.len(), names.first().cloned(), next)
    };
    let name = |number: usize| Some(format!("r{number:03}"));
    assert_eq!(part(None, 30), (30, name(0), name(29)));
    assert_eq!(store.take_counts().scans, 1, "no more is read than shown");
    assert_eq!(part(Some("r029"), 30), (30, name(30), name(59)));
    assert_eq!(part(Some("r0295"), 70), (70, name(30), None));
    assert_eq!(part(Some("r098"), 0), (1, name(99), None));
    assert_eq!(part(Some("r099"), 5), (0, None, None));
    assert_eq!(part(None, 99), (99, name(0), name(98)));
    assert_eq!(part(None, 100), (100, name(0), None));
    assert_eq!(part(None, u32::MAX), (100, name(0), None));
    // A text that no name can be is a place in the order all the same.
    assert_eq!(part(Some(&"~".repeat(10_000)), 5), (5, name(0), name(4)));
}

#[test]
fn s14_a_list_of_roles_reads_no_role() {
    let stage = Stage::bare();
    let accounts = (0..500).map(|number| format!("a{number}@x.example"));
    let large = RoleChanges {
        bound_service_accounts: Some(accounts.collect()),
        ..dev_role()
    };
    for number in 0..20 {
        let name = format!("r{number:02}");
        stage.write_role(&name, large.clone()).unwrap();
    }
    let one_role = encode(
        &stage
            .service
            .read_role(&stage.mount, "r00")
            .unwrap()
            .unwrap(),
    );
    let store = counted(&stage);
    let service = over(&store, &stage);
    assert_eq!(service.list_roles(&stage.mount).unwrap().len(), 20);
    let counts = store.take_counts();
    assert!(counts.value_bytes < one_role.unwrap().len(), "{counts:?}");
    assert_eq!(counts.commits, 0, "{counts:?}");
}

#[test]
fn s14_2000_roles_are_listed_in_parts_of_any_size() {
    let stage = Stage::ready();
    let mut names = leave_without_index(&stage, 2_000);
    names.insert(0, "dev".to_owned());
    for limit in [7, 999, 1_000, 1_001, 2_000, 2_001] {
        assert_eq!(names_in_parts(&stage.service, &stage, limit), names);
    }
    assert_eq!(stage.service.list_roles(&stage.mount).unwrap(), names);
}

#[test]
fn s12_roles_of_a_store_without_the_index_are_all_listed_and_entered_once() {
    let stage = Stage::ready();
    let mut names = leave_without_index(&stage, 600);
    names.insert(0, "dev".to_owned());
    // A role that is written before the list is asked for does not make the index complete.
    stage.write_role("zz", dev_role()).unwrap();
    names.push("zz".to_owned());
    let store = counted(&stage);
    let service = over(&store, &stage);
    assert_eq!(service.list_roles(&stage.mount).unwrap(), names);
    assert_eq!(store.take_counts().commits, 2, "512 roles in each commit");
    assert_eq!(service.list_roles(&stage.mount).unwrap(), names);
    let counts = store.take_counts();
    assert_eq!((counts.commits, counts.scans), (0, 1), "{counts:?}");
}

#[test]
fn s12_an_index_that_was_cut_off_is_gone_on_with() {
    let stage = Stage::ready();
    let mut names = leave_without_index(&stage, 600);
    names.insert(0, "dev".to_owned());
    let full = StoreError::Unavailable("disk full".to_owned());
    stage
        .store
        .fail_next_commit(CommitError::Failed(full.clone()));
    let refused = stage.service.list_roles(&stage.mount).unwrap_err();
    assert_eq!(refused, full.into());
    // A role that is deleted in between, and one that another instance deletes while a part is made, are in no list.
    stage
        .service
        .delete_role(&stage.mount, &names.remove(3))
        .unwrap();
    stage
        .store
        .fail_next_commit(CommitError::Conflict(role_key("r0000009")));
    assert_eq!(stage.service.list_roles(&stage.mount).unwrap(), names);
}

#[test]
fn a_role_and_its_name_come_and_go_in_one_commit() {
    let stage = Stage::bare();
    let commits = || stage.store.commits();
    stage.role(dev_role());
    assert_eq!(commits(), 1);
    assert_eq!(stage.service.list_roles(&stage.mount).unwrap(), ["dev"]);
    stage.service.delete_role(&stage.mount, "DEV").unwrap();
    assert_eq!(commits(), 2);
    assert!(stage.service.list_roles(&stage.mount).unwrap().is_empty());
    let failed = || CommitError::Failed(StoreError::Unavailable("disk full".to_owned()));
    stage.store.fail_next_commit(failed());
    stage.write_role("dev", dev_role()).unwrap_err();
    assert!(stage.service.list_roles(&stage.mount).unwrap().is_empty());
    stage.role(dev_role());
    stage.store.fail_next_commit(failed());
    stage.service.delete_role(&stage.mount, "dev").unwrap_err();
    assert_eq!(stage.service.list_roles(&stage.mount).unwrap(), ["dev"]);
}

#[test]
fn a_list_of_a_mount_without_roles_stores_nothing() {
    let stage = Stage::bare();
    assert!(stage.service.list_roles(&stage.mount).unwrap().is_empty());
    assert!(stage.store.keys().is_empty());
}

#[test]
fn first_roles_that_are_written_at_once_are_all_listed() {
    let stage = Stage::bare();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let stage = &stage;
            scope.spawn(move || stage.write_role(&format!("r{number}"), dev_role()).unwrap());
        }
    });
    let names = stage.service.list_roles(&stage.mount).unwrap();
    assert_eq!(names, ["r0", "r1", "r2", "r3"]);
}

#[test]
fn s14_what_is_left_of_a_mount_is_deleted_in_bounded_calls() {
    const RECORDS: usize = 6_000;
    let stage = Stage::bare();
    let fill = |prefix: &str| {
        for chunk in 0..RECORDS / 1000 {
            let changes = (0..1000).map(|number| {
                Change::Put(Put {
                    key: format!("{prefix}{chunk}-{number}"),
                    value: b"x".to_vec(),
                    expires_at: None,
                })
            });
            stage.store.commit(Vec::new(), changes.collect()).unwrap();
        }
    };
    fill("m1/role/");
    fill("m1/role-name/");
    fill("m1/used-token/");
    fill("m2/used-token/");
    let store = counted(&stage);
    let service = over(&store, &stage);
    let unfinished = service.forget_mount("m1");
    let goes_on = |error: &StorageError| matches!(error, StorageError::Unavailable(_));
    assert!(unfinished.as_ref().is_err_and(goes_on), "{unfinished:?}");
    let commits = store.take_counts().commits;
    assert!(commits <= 256, "{commits}");
    service.forget_mount("m1").unwrap();
    assert_eq!(stage.store.keys().len(), RECORDS, "of the other mount");
}

/// As many as CI has time for. The rule asks for a million: `GATEHOUSE_ROLES=1000000`.
const ROLES: usize = 10_000;
/// Names that are asked for at a time.
const NAMES_OF_A_PART: u32 = 1000;

fn roles_to_list() -> usize {
    let given = std::env::var("GATEHOUSE_ROLES");
    given.map_or(ROLES, |given| {
        given.parse().expect("GATEHOUSE_ROLES is a number")
    })
}

#[test]
fn s14_many_roles_are_listed_used_and_deleted_with_as_much_in_memory_as_few() {
    let among_few = most_held_among(100);
    assert_eq!(most_held_among(roles_to_list()), among_few);
}

/// Bytes of the largest answer that is read while so many roles are entered in the index and listed in parts, one logs in, and all of
/// them are deleted.
fn most_held_among(roles: usize) -> usize {
    let stage = Stage::ready();
    leave_without_index(&stage, roles);
    let store = counted(&stage);
    let service = over(&store, &stage);
    let mut calls = 0;
    while let Err(error) = service.list_roles_after(&stage.mount, None, 1) {
        assert!(matches!(error, StorageError::Unavailable(_)), "{error}");
        calls += 1;
        assert!(calls <= roles / 10_000, "it comes to an end");
    }
    let mut largest = store.take_counts().largest_answer;
    // `dev` is one of them.
    let listed = names_in_parts(&service, &stage, NAMES_OF_A_PART).len();
    assert_eq!(listed, roles + 1);
    let counts = store.take_counts();
    assert_eq!(counts.scans, listed.div_ceil(NAMES_OF_A_PART as usize));
    largest = largest.max(counts.largest_answer);

    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: Token::of_account().signed_by(keys::of_account()),
        source_address: None,
    };
    service.login(&stage.mount, &request).unwrap();
    assert_eq!(store.take_counts().scans, 0, "a login lists nothing");

    let mut calls = 0;
    while service.forget_mount("m1").is_err() {
        calls += 1;
        assert!(calls <= roles, "it comes to an end");
    }
    let left = stage.store.keys();
    assert!(!left.iter().any(|key| key.starts_with("m1/")));
    largest.max(store.take_counts().largest_answer)
}
