//! How much a role may hold, and that what there is much of is read and deleted in pages: contract 3.1, 3.2; SEC-S14.

use std::cell::Cell;

use gatehouse_auth_method::{
    AuthMethod, AuthMethodService, EditError, ListEdit, LoginRequest, Role, RoleBound, RoleChanges,
    RoleError, RoleNames, Settings, StorageError,
};
use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};
use gatehouse_ports::{
    Change, Check, CommitError, Entry, MAXIMUM_VALUE_BYTES, NoCache, Page, Store, StoreError,
};
use gatehouse_storage::encode;

use crate::google::{self, EMAIL, Fault};
use crate::instances::gce;
use crate::keys::{self, Token};
use crate::roles::read;
use crate::stage::{Stage, dev_role};

const ACCOUNTS: usize = 10_000;
const OTHERS: usize = 1_000;
const ENTRY_BYTES: usize = 512;

fn numbered(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("a{number}@x.example"))
        .collect()
}

fn too_many(field: &'static str, maximum: usize) -> RoleError {
    let (field, maximum) = (field.into(), maximum as u64);
    RoleError::TooMany(RoleBound { field, maximum })
}

fn accounts(accounts: Vec<String>) -> RoleChanges {
    RoleChanges {
        bound_service_accounts: Some(accounts),
        ..dev_role()
    }
}

type Write = (&'static str, usize, fn(Vec<String>) -> RoleChanges);

/// Every list beside the accounts, its bound, and a write of it.
const LISTS: [Write; 10] = [
    ("bound_projects", ACCOUNTS, |list| RoleChanges {
        bound_projects: Some(list),
        ..dev_role()
    }),
    ("bound_folders", OTHERS, |list| RoleChanges {
        bound_folders: Some(list),
        ..dev_role()
    }),
    ("bound_organizations", OTHERS, |list| RoleChanges {
        bound_organizations: Some(list),
        ..dev_role()
    }),
    ("bound_audiences", OTHERS, |list| RoleChanges {
        bound_audiences: Some(list),
        ..dev_role()
    }),
    ("token_policies", OTHERS, |list| RoleChanges {
        token_policies: Some(list),
        ..dev_role()
    }),
    ("token_bound_cidrs", OTHERS, |list| RoleChanges {
        token_bound_cidrs: Some(list),
        ..dev_role()
    }),
    ("bound_zones", OTHERS, |list| RoleChanges {
        bound_zones: Some(list),
        ..gce()
    }),
    ("bound_regions", OTHERS, |list| RoleChanges {
        bound_regions: Some(list),
        ..gce()
    }),
    ("bound_instance_groups", OTHERS, |list| RoleChanges {
        bound_zones: Some(vec!["z".to_owned()]),
        bound_instance_groups: Some(list),
        ..gce()
    }),
    ("bound_labels", OTHERS, |list| RoleChanges {
        bound_labels: Some(list),
        ..gce()
    }),
];

/// The n-th entry of a list, as the list wants it.
fn entry(field: &str, number: usize) -> String {
    match field {
        "bound_folders" | "bound_organizations" => number.to_string(),
        "token_bound_cidrs" => format!("10.0.{}.{}", number / 250, number % 250 + 1),
        "bound_labels" => format!("k{number}:v"),
        _ => format!("e{number}"),
    }
}

#[test]
fn s14_a_role_holds_10000_accounts_and_not_one_more() {
    let stage = Stage::bare();
    stage.role(accounts(numbered(ACCOUNTS)));
    let before = read(&stage);
    assert_eq!(before.bound_service_accounts.len(), ACCOUNTS);
    let refusal = too_many("bound_service_accounts", ACCOUNTS);
    let refused = stage.write_role("dev", accounts(numbered(ACCOUNTS + 1)));
    assert_eq!(refused, Err(refusal.clone()));
    let one_more = ListEdit {
        add: vec!["one-more@x.example".to_owned()],
        remove: Vec::new(),
    };
    let refused = stage
        .service
        .edit_service_accounts(&stage.mount, "dev", &one_more);
    assert_eq!(refused, Err(EditError::Role(refusal)));
    assert_eq!(read(&stage), before);
    // What stands twice counts once.
    let mut twice = numbered(ACCOUNTS);
    twice.extend(numbered(10));
    stage.role(accounts(twice));
}

#[test]
fn s14_every_other_list_of_a_role_is_bounded_too() {
    for (field, maximum, write) in LISTS {
        let stage = Stage::bare();
        let list = |count: usize| (0..count).map(|number| entry(field, number)).collect();
        stage.role(write(list(maximum)));
        let before = read(&stage);
        let refused = stage.write_role("dev", write(list(maximum + 1)));
        assert_eq!(refused, Err(too_many(field, maximum)));
        assert_eq!(read(&stage), before, "{field}");
    }
}

#[test]
fn s14_the_entries_of_a_role_are_bounded_in_length() {
    let plain = |bytes: usize| "e".repeat(bytes);
    for (field, _, write) in LISTS {
        let of = |bytes: usize| match field {
            "bound_folders" | "bound_organizations" => "7".repeat(bytes),
            // The colon is none of the two.
            "bound_labels" => format!("k:{}", plain(bytes - 1)),
            _ => plain(bytes),
        };
        if field == "token_bound_cidrs" {
            // An address in its one form cannot be long.
            continue;
        }
        let stage = Stage::bare();
        stage.role(write(vec![of(ENTRY_BYTES)]));
        let refused = stage.write_role("dev", write(vec![of(ENTRY_BYTES + 1)]));
        let (field, maximum) = (field.into(), ENTRY_BYTES as u64);
        assert_eq!(
            refused,
            Err(RoleError::TooLong(RoleBound { field, maximum }))
        );
    }
    let stage = Stage::bare();
    stage.role(accounts(vec![plain(ENTRY_BYTES)]));
    let refused = stage.write_role("dev", accounts(vec![plain(ENTRY_BYTES + 1)]));
    assert!(matches!(refused, Err(RoleError::TooLong(_))));
}

/// Puts into the store what an earlier release let a role be: `count` accounts, the caller of the tests among them.
fn larger_role(stage: &Stage, name: &str, count: usize) -> Role {
    stage.role(dev_role());
    let mut role = read(stage);
    role.bound_service_accounts = numbered(count);
    role.bound_service_accounts.push(EMAIL.to_owned());
    role.bound_audiences = vec!["a".repeat(ENTRY_BYTES + 1)];
    put(stage.store, &format!("m1/role/{name}"), &role);
    role
}

fn put(store: &MemoryStore<&'static ManualClock>, key: &str, role: &Role) {
    let value = encode(role).unwrap();
    let put = Change::Put {
        key: key.to_owned(),
        value,
        expires_at: None,
    };
    store.commit(Vec::new(), vec![put]).unwrap();
}

#[test]
fn s14_a_larger_role_of_an_older_store_is_read_used_shrunk_and_deleted() {
    let stage = Stage::ready();
    let larger = larger_role(&stage, "dev", ACCOUNTS + 5);
    assert_eq!(read(&stage), larger);
    let jwt = Token::of_account().signed_by(keys::of_account());
    stage.log_in(&jwt).unwrap();
    // Writes of something else leave the list, and it may become shorter, but not longer.
    stage.role(RoleChanges {
        token_ttl: Some(60),
        ..RoleChanges::default()
    });
    let edit = |add: &[&str], remove: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (add, remove) = (owned(add), owned(remove));
        let edit = ListEdit { add, remove };
        stage
            .service
            .edit_service_accounts(&stage.mount, "dev", &edit)
    };
    let refusal = too_many("bound_service_accounts", ACCOUNTS);
    assert_eq!(edit(&["new@x"], &[]), Err(EditError::Role(refusal)));
    edit(&[], &["a1@x.example"]).unwrap();
    let shrunk = read(&stage);
    assert_eq!(shrunk.bound_service_accounts.len(), ACCOUNTS + 5);
    assert_eq!(shrunk.bound_audiences, larger.bound_audiences);
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    let gone = stage.service.read_role(&stage.mount, "dev").unwrap();
    assert_eq!(gone, None);
}

/// A store that keeps count of what is asked of it.
struct Counted<'a> {
    store: &'a MemoryStore<&'static ManualClock>,
    /// Most bytes in the values of one answer.
    largest: Cell<usize>,
    scans: Cell<usize>,
    commits: Cell<usize>,
}

impl Store for Counted<'_> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        let page = self.store.scan(prefix, after, limit)?;
        let bytes = page.items.iter().map(|item| item.entry.value.len()).sum();
        self.largest.set(self.largest.get().max(bytes));
        self.scans.set(self.scans.get() + 1);
        Ok(page)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.commits.set(self.commits.get() + 1);
        self.store.commit(checks, changes)
    }
}

fn counted(stage: &Stage) -> Counted<'_> {
    Counted {
        store: stage.store,
        largest: Cell::new(0),
        scans: Cell::new(0),
        commits: Cell::new(0),
    }
}

fn over<'a>(store: &'a Counted<'a>, stage: &Stage) -> impl AuthMethod + use<'a> {
    let settings = Settings::default();
    let random = SeededRandom::new(9);
    AuthMethodService::new(store, NoCache, stage.http, stage.clock, random, settings)
}

/// What a component can hold of one answer, of its 64 MiB.
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
    for name in &names {
        put(stage.store, &format!("m1/role/{name}"), &role);
    }
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
    let largest = store.largest.get();
    assert!(largest <= HELD_AT_ONCE, "{largest}");
}

#[test]
fn s14_a_list_of_roles_is_read_in_parts() {
    let stage = Stage::bare();
    stage.role(dev_role());
    let role = read(&stage);
    for number in 0..100 {
        put(stage.store, &format!("m1/role/r{number:03}"), &role);
    }
    stage.service.delete_role(&stage.mount, "dev").unwrap();
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
    assert!(store.scans.get() <= 3, "no more is read than is shown");
    assert_eq!(part(Some("r029"), 30), (30, name(30), name(59)));
    assert_eq!(part(Some("r0295"), 70), (70, name(30), None));
    assert_eq!(part(Some("r098"), 0), (1, name(99), None));
    assert_eq!(part(Some("r099"), 5), (0, None, None));
    assert_eq!(part(None, u32::MAX), (100, name(0), None));
    // What no name can be is a place in the order all the same.
    assert_eq!(part(Some(&"~".repeat(10_000)), 5), (5, name(0), name(4)));
}

#[test]
fn s14_what_is_left_of_a_mount_is_deleted_in_bounded_calls() {
    const RECORDS: usize = 6_000;
    let stage = Stage::bare();
    let fill = |prefix: &str| {
        for chunk in 0..RECORDS / 1000 {
            let changes = (0..1000).map(|number| Change::Put {
                key: format!("{prefix}{chunk}-{number}"),
                value: b"x".to_vec(),
                expires_at: None,
            });
            stage.store.commit(Vec::new(), changes.collect()).unwrap();
        }
    };
    fill("m1/role/");
    fill("m1/used-token/");
    fill("m2/used-token/");
    let store = counted(&stage);
    let service = over(&store, &stage);
    let unfinished = service.forget_mount("m1");
    let goes_on = |error: &StorageError| matches!(error, StorageError::Unavailable(_));
    assert!(unfinished.as_ref().is_err_and(goes_on), "{unfinished:?}");
    assert!(store.commits.get() <= 256, "{}", store.commits.get());
    service.forget_mount("m1").unwrap();
    assert_eq!(stage.store.keys().len(), RECORDS, "of the other mount");
}

#[test]
fn a_list_of_blanks_is_not_taken_for_a_list_that_lets_everybody_in() {
    type Write = (&'static str, fn(Vec<String>) -> RoleChanges);
    let lists: [Write; 9] = [
        ("bound_service_accounts", |list| RoleChanges {
            bound_service_accounts: Some(list),
            ..gce()
        }),
        ("service_accounts", |list| RoleChanges {
            service_accounts: Some(list),
            ..gce()
        }),
        ("bound_projects", |list| RoleChanges {
            bound_projects: Some(list),
            ..dev_role()
        }),
        ("bound_folders", |list| RoleChanges {
            bound_folders: Some(list),
            ..dev_role()
        }),
        ("bound_organizations", |list| RoleChanges {
            bound_organizations: Some(list),
            ..dev_role()
        }),
        ("bound_zones", |list| RoleChanges {
            bound_zones: Some(list),
            ..gce()
        }),
        ("bound_regions", |list| RoleChanges {
            bound_regions: Some(list),
            ..gce()
        }),
        ("bound_instance_groups", |list| RoleChanges {
            bound_instance_groups: Some(list),
            ..gce()
        }),
        ("token_bound_cidrs", |list| RoleChanges {
            token_bound_cidrs: Some(list),
            ..dev_role()
        }),
    ];
    for (field, write) in lists {
        let stage = Stage::bare();
        let list = |blanks: &[&str]| blanks.iter().map(|blank| (*blank).to_owned()).collect();
        for blanks in [&[""][..], &[" "], &["", " \t"]] {
            let refused = stage.write_role("dev", write(list(blanks)));
            assert_eq!(refused, Err(RoleError::BlankList(field.into())));
        }
        assert!(!stage.store.keys().iter().any(|key| key.starts_with("m1/")));
        // An operator who says that nothing binds the role means it.
        stage.role(write(Vec::new()));
    }
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

/// Bytes of the largest page that is read while so many roles are listed in parts, one logs in, and all of them are deleted.
fn most_held_among(roles: usize) -> usize {
    let stage = Stage::ready();
    let value = encode(&read(&stage)).unwrap();
    let name = |number: usize| format!("r{number:07}");
    for first in (0..roles).step_by(1000) {
        let changes = (first..roles.min(first + 1000)).map(|number| Change::Put {
            key: format!("m1/role/{}", name(number)),
            value: value.clone(),
            expires_at: None,
        });
        stage.store.commit(Vec::new(), changes.collect()).unwrap();
    }
    let store = counted(&stage);
    let service = over(&store, &stage);
    let (mut after, mut listed) = (None, 0);
    loop {
        let part = service
            .list_roles_after(&stage.mount, after.as_deref(), NAMES_OF_A_PART)
            .unwrap();
        listed += part.names.len();
        after = part.next;
        if after.is_none() {
            break;
        }
    }
    // `dev` is one of them.
    assert_eq!(listed, roles + 1);
    let scans = store.scans.get();
    let parts = (roles + 1).div_ceil(NAMES_OF_A_PART as usize);
    assert!(
        scans <= parts * (NAMES_OF_A_PART as usize / 16 + 2),
        "{scans} scans"
    );

    store.scans.set(0);
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: Token::of_account().signed_by(keys::of_account()),
        source_address: None,
    };
    service.login(&stage.mount, &request).unwrap();
    assert_eq!(store.scans.get(), 0, "a login lists nothing");

    let mut calls = 0;
    while service.forget_mount("m1").is_err() {
        calls += 1;
        assert!(calls <= roles, "it comes to an end");
    }
    let left = stage.store.keys();
    assert!(!left.iter().any(|key| key.starts_with("m1/")));
    store.largest.get()
}
