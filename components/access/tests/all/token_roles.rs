//! Token-store roles as they are kept (contract 5.4).

use crate::server::{HOUR, Server};
use gatehouse_access::{
    ExcessiveLife, InvalidRange, KeyPage, LeaseTree as _, MountTokenType, MountTuning, Mounts as _,
    RenamedField, ServiceField, TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning,
    TokenRoles as _, WritePermission,
};

const BOTH: WritePermission = WritePermission {
    create: true,
    update: true,
};

fn texts(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

fn write(
    server: &Server,
    name: &str,
    changes: &TokenRoleChanges,
) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
    server.access.write_token_role(name, changes, BOTH)
}

fn read(server: &Server, name: &str) -> TokenRole {
    server.access.read_token_role(name).unwrap().unwrap()
}

#[test]
fn contract_5_4_a_new_role_makes_renewable_service_tokens_and_nothing_else() {
    let server = Server::ready();
    assert_eq!(
        write(&server, "ci", &TokenRoleChanges::default()),
        Ok(Vec::new())
    );
    let role = read(&server, "ci");
    assert!(role.renewable && !role.orphan && !role.no_default_policy);
    assert_eq!(role.token_type, MountTokenType::DefaultService);
    assert_eq!(role.allowed_entity_aliases, None);
    assert_eq!(
        (role.period, role.explicit_max_ttl, role.num_uses),
        (0, 0, 0)
    );
    assert!(role.allowed_policies.is_empty() && role.bound_cidrs.is_empty());
    assert_eq!(server.access.read_token_role("CI"), Ok(None));
}

#[test]
fn names_of_policies_and_aliases_are_kept_in_one_spelling() {
    let server = Server::ready();
    let changes = TokenRoleChanges {
        allowed_policies: texts(&[" B", "a", "b", ""]),
        allowed_policies_glob: texts(&["T*", "*"]),
        disallowed_policies: texts(&["root", "X"]),
        disallowed_policies_glob: texts(&["*Y"]),
        allowed_entity_aliases: texts(&["Bob", "svc-*", "bob"]),
        bound_cidrs: texts(&[" 192.0.2.0/24", "2001:db8::1"]),
        ..TokenRoleChanges::default()
    };
    write(&server, "ci", &changes).unwrap();
    let role = read(&server, "ci");
    assert_eq!(Some(role.allowed_policies), texts(&["a", "b"]));
    assert_eq!(Some(role.allowed_policies_glob), texts(&["*", "t*"]));
    assert_eq!(Some(role.disallowed_policies), texts(&["root", "x"]));
    assert_eq!(Some(role.disallowed_policies_glob), texts(&["*y"]));
    assert_eq!(role.allowed_entity_aliases, texts(&["bob", "svc-*"]));
    assert_eq!(
        Some(role.bound_cidrs),
        texts(&["192.0.2.0/24", "2001:db8::1"])
    );
}

#[test]
fn a_write_changes_what_it_names_and_leaves_the_rest() {
    let server = Server::ready();
    let first = TokenRoleChanges {
        orphan: Some(true),
        path_suffix: Some("v.1".to_owned()),
        period: Some(60),
        num_uses: Some(4),
        ..TokenRoleChanges::default()
    };
    write(&server, "ci", &first).unwrap();
    let second = TokenRoleChanges {
        num_uses: Some(0),
        path_suffix: Some(String::new()),
        ..TokenRoleChanges::default()
    };
    write(&server, "ci", &second).unwrap();
    let role = read(&server, "ci");
    assert_eq!((role.orphan, role.period, role.num_uses), (true, 60, 0));
    assert_eq!(role.path_suffix, "");
}

#[test]
fn old_names_count_where_new_ones_say_nothing_and_are_shown_until_they_do() {
    let server = Server::ready();
    let old = TokenRoleChanges {
        old_period: Some(5),
        old_explicit_max_ttl: Some(6),
        old_bound_cidrs: texts(&["192.0.2.1"]),
        ..TokenRoleChanges::default()
    };
    assert_eq!(write(&server, "ci", &old), Ok(Vec::new()));
    let role = read(&server, "ci");
    assert_eq!((role.period, role.old_spellings.period), (5, 5));
    assert_eq!(
        (role.explicit_max_ttl, role.old_spellings.explicit_max_ttl),
        (6, 6)
    );
    assert_eq!(role.bound_cidrs, role.old_spellings.bound_cidrs);
    let both = TokenRoleChanges {
        period: Some(50),
        explicit_max_ttl: Some(60),
        bound_cidrs: texts(&["192.0.2.2"]),
        ..old
    };
    let ignored = [
        RenamedField::Period,
        RenamedField::BoundCidrs,
        RenamedField::ExplicitMaxTtl,
    ];
    let ignored = ignored.map(TokenRoleWarning::OldSpellingIgnored);
    assert_eq!(write(&server, "ci", &both).unwrap(), ignored);
    let role = read(&server, "ci");
    assert_eq!((role.period, role.explicit_max_ttl), (50, 60));
    assert_eq!(Some(role.bound_cidrs), texts(&["192.0.2.2"]));
    assert_eq!(
        role.old_spellings,
        gatehouse_access::OldSpellings::default()
    );
}

#[test]
fn a_life_beyond_what_the_mount_allows_is_warned_of() {
    let server = Server::ready();
    let tuning = MountTuning {
        max_lease_ttl: Some(HOUR),
        default_lease_ttl: Some(60),
        ..MountTuning::default()
    };
    server.access.tune_mount("token/", &tuning).unwrap();
    let changes = |seconds| TokenRoleChanges {
        explicit_max_ttl: Some(seconds),
        ..TokenRoleChanges::default()
    };
    assert_eq!(write(&server, "ci", &changes(HOUR)), Ok(Vec::new()));
    let above = TokenRoleWarning::ExplicitMaxTtlAboveMount(ExcessiveLife {
        explicit_max_ttl: HOUR + 1,
        mount_max: HOUR,
    });
    assert_eq!(write(&server, "ci", &changes(HOUR + 1)), Ok(vec![above]));
}

#[test]
fn what_could_make_no_token_is_refused_and_not_stored() {
    let server = Server::ready();
    let before = server.store.keys();
    let of_type = |name: &str| TokenRoleChanges {
        token_type: Some(name.to_owned()),
        orphan: Some(true),
        renewable: Some(false),
        ..TokenRoleChanges::default()
    };
    let suffix = |text: &str| TokenRoleChanges {
        path_suffix: Some(text.to_owned()),
        ..TokenRoleChanges::default()
    };
    let rows = [
        (suffix("ab"), TokenRoleError::InvalidPathSuffix),
        (suffix("abc/def"), TokenRoleError::InvalidPathSuffix),
        (suffix("-ab"), TokenRoleError::InvalidPathSuffix),
        (suffix("ab."), TokenRoleError::InvalidPathSuffix),
        (suffix("a..b"), TokenRoleError::PathSuffixWithParent),
        (
            TokenRoleChanges {
                num_uses: Some(-1),
                ..TokenRoleChanges::default()
            },
            TokenRoleError::NegativeNumUses,
        ),
        (
            TokenRoleChanges {
                bound_cidrs: texts(&["192.0.2.1", "192.0.2.0/33"]),
                ..TokenRoleChanges::default()
            },
            TokenRoleError::InvalidBoundCidr(InvalidRange {
                range: "192.0.2.0/33".to_owned(),
                old_spelling: false,
            }),
        ),
        (
            of_type("default"),
            TokenRoleError::InvalidTokenType("default".to_owned()),
        ),
        (
            TokenRoleChanges {
                orphan: None,
                ..of_type("batch")
            },
            TokenRoleError::BatchWithParent,
        ),
        (
            TokenRoleChanges {
                renewable: None,
                ..of_type("batch")
            },
            TokenRoleError::RenewableBatch,
        ),
        (
            TokenRoleChanges {
                period: Some(1),
                ..of_type("batch")
            },
            TokenRoleError::BatchWith(ServiceField::Period),
        ),
        (
            TokenRoleChanges {
                old_explicit_max_ttl: Some(1),
                ..of_type("batch")
            },
            TokenRoleError::BatchWith(ServiceField::ExplicitMaxTtl),
        ),
        (
            TokenRoleChanges {
                num_uses: Some(1),
                ..of_type("batch")
            },
            TokenRoleError::BatchWith(ServiceField::NumUses),
        ),
        (
            TokenRoleChanges {
                allowed_policies: Some((0..40_000).map(|it| format!("policy-{it}")).collect()),
                ..TokenRoleChanges::default()
            },
            TokenRoleError::TooLarge(262_144),
        ),
    ];
    for (changes, error) in rows {
        assert_eq!(write(&server, "ci", &changes), Err(error));
    }
    for name in ["", "a/b", "a b", "ä", &"x".repeat(129)] {
        let refused = write(&server, name, &TokenRoleChanges::default());
        assert_eq!(refused, Err(TokenRoleError::InvalidName));
        assert_eq!(server.access.read_token_role(name), Ok(None));
        assert_eq!(server.access.delete_token_role(name), Ok(()));
    }
    assert_eq!(server.store.keys(), before);
    for name in ["batch", "default-batch", "service", "default-service"] {
        assert_eq!(write(&server, "ci", &of_type(name)), Ok(Vec::new()));
    }
}

#[test]
fn a3_who_may_only_create_cannot_change_and_the_other_way_round() {
    let server = Server::ready();
    let write = |create, update| {
        let permission = WritePermission { create, update };
        let changes = TokenRoleChanges::default();
        server.access.write_token_role("ci", &changes, permission)
    };
    assert_eq!(write(false, true), Err(TokenRoleError::Denied));
    assert_eq!(server.access.read_token_role("ci"), Ok(None));
    assert_eq!(write(true, false), Ok(Vec::new()));
    assert_eq!(write(true, false), Err(TokenRoleError::Denied));
    assert_eq!(write(false, true), Ok(Vec::new()));
}

#[test]
fn s14_roles_are_listed_page_by_page_in_the_order_of_their_names() {
    let server = Server::ready();
    for number in (0..1_200).rev() {
        write(
            &server,
            &format!("r{number:04}"),
            &TokenRoleChanges::default(),
        )
        .unwrap();
    }
    let page = |after: Option<&str>, limit| server.access.list_token_roles(after, limit).unwrap();
    let whole = page(None, 10_000);
    assert_eq!((whole.keys.len(), whole.next), (1_200, None));
    assert!(whole.keys.is_sorted());
    let first = page(None, 700);
    assert_eq!(first.next.as_deref(), Some("r0699"));
    assert_eq!(page(Some("r0699"), 700).keys, whole.keys[700..]);
    assert_eq!(page(Some("r06995"), 1).keys, ["r0700"]);
    assert_eq!(page(Some("r1199"), 1), KeyPage::default());
    server.access.delete_token_role("r0000").unwrap();
    assert_eq!(page(None, 1).keys, ["r0001"]);
}

#[test]
fn a_list_goes_on_after_any_text() {
    let server = Server::ready();
    write(&server, "ci", &TokenRoleChanges::default()).unwrap();
    for (after, expected) in [("b", 1), ("ci", 0), ("z", 0)] {
        for after in [after.to_owned(), format!("{after}{}", "~".repeat(600))] {
            let page = server.access.list_token_roles(Some(&after), 10).unwrap();
            assert_eq!(page.keys.len(), expected, "{after}");
            let after = format!("h{after}");
            let leases = server
                .access
                .list_leases("auth/token/create", Some(&after), 10);
            assert!(leases.is_ok());
        }
    }
}

#[test]
fn a4_a_list_that_binds_is_never_one_of_blanks() {
    let server = Server::ready();
    let blanks = || texts(&["", " ", "\t"]);
    let bound = TokenRoleChanges {
        allowed_policies: texts(&["dev"]),
        bound_cidrs: texts(&["192.0.2.0/24"]),
        ..TokenRoleChanges::default()
    };
    write(&server, "ci", &bound).unwrap();
    let before = read(&server, "ci");
    type Field = fn(&mut TokenRoleChanges) -> &mut Option<Vec<String>>;
    let fields: [Field; 7] = [
        |changes| &mut changes.allowed_policies,
        |changes| &mut changes.allowed_policies_glob,
        |changes| &mut changes.disallowed_policies,
        |changes| &mut changes.disallowed_policies_glob,
        |changes| &mut changes.allowed_entity_aliases,
        |changes| &mut changes.bound_cidrs,
        |changes| &mut changes.old_bound_cidrs,
    ];
    for field in fields {
        let mut changes = TokenRoleChanges::default();
        *field(&mut changes) = blanks();
        for name in ["ci", "new"] {
            let refused = write(&server, name, &changes);
            assert_eq!(refused, Err(TokenRoleError::OnlyBlanks));
        }
        assert_eq!(read(&server, "ci"), before);
        assert_eq!(server.access.read_token_role("new"), Ok(None));
        // An empty list says that there is to be none.
        *field(&mut changes) = Some(Vec::new());
        write(&server, "empty", &changes).unwrap();
    }
}
