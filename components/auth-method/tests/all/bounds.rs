//! How much a role may hold: contract 3.1, 3.2; SEC-S14.

use gatehouse_auth_method::{EditError, ListEdit, Role, RoleBound, RoleChanges, RoleError, Roles};
use gatehouse_storage::encode;

use crate::google::EMAIL;
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
    // An account that stands twice counts once.
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
    role.options.bound_audiences = vec!["a".repeat(ENTRY_BYTES + 1)];
    let value = encode(&role).unwrap();
    stage.put_without_index([(format!("m1/role/{name}"), value)]);
    role
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
    assert_eq!(
        shrunk.options.bound_audiences,
        larger.options.bound_audiences
    );
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    let gone = stage.service.read_role(&stage.mount, "dev").unwrap();
    assert_eq!(gone, None);
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
