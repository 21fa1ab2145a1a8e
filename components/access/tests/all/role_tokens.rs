//! Tokens that are created under a token-store role (contract 5.4).

use crate::server::{HOUR, ROOT, Server, policies, sudo};
use crate::under_role::{
    asking, create, holder, listed, text, texts, under, view, with_role, write,
};
use gatehouse_access::{
    CreateError, CreateRequest, PoliciesOfRole, RenewError, Renewal as _, Revocation as _,
    ServiceField, TokenCreation as _, TokenReference, TokenRoleChanges, TokenRoles as _, TokenType,
    TokenWarning,
};

#[test]
fn contract_5_4_a_role_must_exist() {
    let server = Server::ready();
    let before = server.store.keys();
    let refused = create(&server, ROOT, CreateRequest::default());
    assert_eq!(
        refused.err(),
        Some(CreateError::UnknownRole("ci".to_owned()))
    );
    assert_eq!(server.store.keys(), before);
}

/// The policies that a role makes of those of a caller with policy `own`, and with `default` unless `bare`.
struct Row {
    role: TokenRoleChanges,
    bare: bool,
    asked: &'static [&'static str],
    no_default: bool,
    expected: Result<&'static [&'static str], CreateError>,
}

fn not_of_role(names: &[&str], allowed: &[&str], allowed_glob: &[&str]) -> CreateError {
    CreateError::PoliciesNotOfRole(PoliciesOfRole {
        policies: texts(names),
        allowed: texts(allowed),
        allowed_glob: texts(allowed_glob),
    })
}

fn check(rows: Vec<Row>) {
    let server = Server::ready();
    let (own, bare) = (
        holder(&server, &["own"], false),
        holder(&server, &["own"], true),
    );
    for row in rows {
        server.access.delete_token_role("ci").unwrap();
        write(&server, &row.role);
        let request = CreateRequest {
            no_default_policy: row.no_default,
            ..asking(row.asked)
        };
        let parent = if row.bare { &bare } else { &own };
        let made = create(&server, parent, request).map(|issued| issued.grant.token_policies);
        assert_eq!(
            made,
            row.expected.map(texts),
            "{:?} {:?}",
            row.role,
            row.asked
        );
    }
}

#[test]
fn contract_5_4_a_role_without_lists_leaves_the_policies_to_the_parent() {
    let row = |bare, asked, no_default, expected| Row {
        role: TokenRoleChanges {
            no_default_policy: Some(true),
            ..TokenRoleChanges::default()
        },
        bare,
        asked,
        no_default,
        expected,
    };
    check(vec![
        row(false, &[], false, Ok(&["default", "own"])),
        row(true, &[], false, Ok(&["own"])),
        row(false, &["own"], false, Ok(&["default", "own"])),
        row(false, &["own"], true, Ok(&["own"])),
        row(false, &["p2"], false, Err(CreateError::PoliciesNotSubset)),
    ]);
}

#[test]
fn contract_5_4_allowed_policies_take_the_place_of_the_parents() {
    let allowing = |asked, no_default, expected| Row {
        role: TokenRoleChanges {
            allowed_policies: listed(&["p2", "p3"]),
            ..TokenRoleChanges::default()
        },
        bare: true,
        asked,
        no_default,
        expected,
    };
    let without_default = |asked, expected| Row {
        role: TokenRoleChanges {
            allowed_policies: listed(&["p2"]),
            no_default_policy: Some(true),
            ..TokenRoleChanges::default()
        },
        ..allowing(asked, false, expected)
    };
    check(vec![
        allowing(&[], false, Ok(&["default", "p2", "p3"])),
        allowing(&["P2"], false, Ok(&["default", "p2"])),
        allowing(&[], true, Ok(&["p2", "p3"])),
        allowing(
            &["own"],
            false,
            Err(not_of_role(
                &["default", "own"],
                &["default", "p2", "p3"],
                &[],
            )),
        ),
        allowing(
            &["default", "p2"],
            true,
            Err(not_of_role(&["default", "p2"], &["p2", "p3"], &[])),
        ),
        without_default(&[], Ok(&["p2"])),
        without_default(&["default"], Err(not_of_role(&["default"], &["p2"], &[]))),
    ]);
}

#[test]
fn contract_5_4_disallowed_policies_come_before_all_else() {
    let disallowing = |bare, asked, expected| Row {
        role: TokenRoleChanges {
            disallowed_policies: listed(&["p2", "default"]),
            ..TokenRoleChanges::default()
        },
        bare,
        asked,
        no_default: false,
        expected,
    };
    let both = |asked, expected| Row {
        role: TokenRoleChanges {
            allowed_policies_glob: listed(&["p*"]),
            disallowed_policies_glob: listed(&["*3"]),
            ..TokenRoleChanges::default()
        },
        ..disallowing(false, asked, expected)
    };
    let disallowed = |name: &str| Err(CreateError::PolicyDisallowedByRole(name.to_owned()));
    check(vec![
        disallowing(false, &[], disallowed("default")),
        disallowing(true, &[], Ok(&["own"])),
        disallowing(false, &["p2"], disallowed("p2")),
        disallowing(false, &["p3"], Ok(&["p3"])),
        disallowing(false, &["root", "p3"], Err(CreateError::RootFromNonRoot)),
        both(&[], Ok(&["default"])),
        both(&["p2"], Ok(&["default", "p2"])),
        both(&["p3"], disallowed("p3")),
        both(
            &["x"],
            Err(not_of_role(&["default", "x"], &["default"], &["p*"])),
        ),
    ]);
}

#[test]
fn no_role_hands_out_root_or_what_cannot_be_assigned() {
    let allowing = |name| Row {
        role: TokenRoleChanges {
            allowed_policies: listed(&[name]),
            ..TokenRoleChanges::default()
        },
        bare: false,
        asked: &[],
        no_default: false,
        expected: Err(match name {
            "root" => CreateError::RootFromNonRoot,
            name => CreateError::UnassignablePolicy(name.to_owned()),
        }),
    };
    check(vec![allowing("root"), allowing("response-wrapping")]);
}

#[test]
fn contract_5_4_the_role_decides_parent_path_addresses_and_renewal() {
    let server = with_role(&TokenRoleChanges {
        orphan: Some(true),
        renewable: Some(false),
        path_suffix: Some("v-1".to_owned()),
        bound_cidrs: listed(&["198.51.100.0/24"]),
        ..TokenRoleChanges::default()
    });
    let parent = server.log_in(gatehouse_access::TokenParameters {
        bound_cidrs: texts(&["192.0.2.0/24"]),
        ..policies(&[])
    });
    let parent = text(&parent);
    let request = CreateRequest {
        renewable: Some(true),
        ..CreateRequest::default()
    };
    let token = text(&create(&server, &parent, request).ok().unwrap());
    let shown = view(&server, &token);
    assert!(shown.orphan && !shown.renewable);
    assert_eq!(shown.path, "auth/token/create/ci/v-1");
    assert_eq!(shown.role.as_deref(), Some("ci"));
    assert_eq!(shown.bound_cidrs, texts(&["198.51.100.0/24"]));
    assert_eq!(shown.entity_id, None);
    server
        .access
        .revoke_token(&TokenReference::Id(parent.clone()))
        .unwrap();
    assert!(server.is_valid(&token));

    write(
        &server,
        &TokenRoleChanges {
            orphan: Some(false),
            ..TokenRoleChanges::default()
        },
    );
    let request = CreateRequest {
        no_parent: true,
        ..CreateRequest::default()
    };
    let child = create(&server, ROOT, request).ok().unwrap();
    assert!(!child.grant.orphan);
}

#[test]
fn contract_5_4_of_two_limits_the_lesser_counts() {
    let server = with_role(&TokenRoleChanges {
        period: Some(HOUR),
        explicit_max_ttl: Some(2 * HOUR),
        num_uses: Some(10),
        ..TokenRoleChanges::default()
    });
    let parent = holder(&server, &["own"], false);
    let by_role = create(&server, &parent, CreateRequest::default())
        .ok()
        .unwrap();
    assert_eq!(
        (by_role.grant.lease_duration, by_role.grant.num_uses),
        (HOUR, 10)
    );
    let shown = view(&server, &text(&by_role));
    assert_eq!((shown.period, shown.explicit_max_ttl), (HOUR, 2 * HOUR));
    assert!(!by_role.grant.warnings.iter().any(|it| matches!(
        it,
        TokenWarning::LesserPeriod(_) | TokenWarning::LesserExplicitMaxTtl(_)
    )));

    let limits = |period, explicit_max_ttl, num_uses| CreateRequest {
        period: Some(period),
        explicit_max_ttl: Some(explicit_max_ttl),
        num_uses: Some(num_uses),
        ..CreateRequest::default()
    };
    let with_sudo = |request| {
        let request = under("ci", request);
        let made = server.access.create_token(&sudo(&parent), &request);
        made.ok().unwrap().grant
    };
    let less = with_sudo(limits(60, 90, 3));
    assert_eq!((less.lease_duration, less.num_uses), (60, 3));
    let warnings = [
        TokenWarning::LesserExplicitMaxTtl(90),
        TokenWarning::LesserPeriod(60),
    ];
    assert_eq!(less.warnings[..2], warnings);
    let more = with_sudo(limits(9_000, 9_000, 30));
    assert_eq!((more.lease_duration, more.num_uses), (HOUR, 10));
    let refused = create(&server, &parent, limits(60, 0, 0));
    assert_eq!(refused.err(), Some(CreateError::PeriodNeedsSudo));
    let refused = create(&server, &parent, limits(0, 0, -1));
    assert_eq!(refused.err(), Some(CreateError::NegativeNumUses));
}

#[test]
fn contract_5_4_the_role_decides_the_type() {
    let rows = [
        ("service", "batch", TokenType::Service),
        ("service", "x", TokenType::Service),
        ("default-service", "", TokenType::Service),
        ("default-service", "batch", TokenType::Batch),
        ("default-batch", "", TokenType::Batch),
        ("default-batch", "service", TokenType::Service),
        ("batch", "service", TokenType::Batch),
    ];
    let server = Server::ready();
    let parent = holder(&server, &["own"], false);
    for (of_role, asked, expected) in rows {
        write(
            &server,
            &TokenRoleChanges {
                token_type: Some(of_role.to_owned()),
                orphan: Some(true),
                renewable: Some(false),
                ..TokenRoleChanges::default()
            },
        );
        let request = CreateRequest {
            token_type: Some(asked.to_owned()),
            ..CreateRequest::default()
        };
        let made = create(&server, &parent, request).ok().unwrap();
        assert_eq!(made.grant.token_type, expected, "{of_role} {asked}");
        let shown = view(&server, &text(&made));
        assert_eq!(shown.role.as_deref(), Some("ci"));
    }
    let refused = |request| create(&server, &parent, request).err();
    let uses = CreateRequest {
        num_uses: Some(2),
        ..CreateRequest::default()
    };
    assert_eq!(
        refused(uses),
        Some(CreateError::BatchWith(ServiceField::NumUses))
    );
    assert_eq!(
        create(&server, ROOT, CreateRequest::default()).err(),
        Some(CreateError::BatchRoot)
    );
    write(
        &server,
        &TokenRoleChanges {
            token_type: Some("default-batch".to_owned()),
            explicit_max_ttl: Some(60),
            ..TokenRoleChanges::default()
        },
    );
    assert_eq!(
        refused(CreateRequest::default()),
        Some(CreateError::BatchWith(ServiceField::ExplicitMaxTtl))
    );
}

fn renew(server: &Server, token: &str) -> Result<u64, RenewError> {
    let reference = &TokenReference::Id(token.into());
    server.access.renewal(reference, None)?;
    let grant = server.access.renew_token(reference, 0, None)?;
    Ok(grant.lease_duration)
}

#[test]
fn t7_a_renewal_takes_the_role_as_it_is_now() {
    let periodic = |seconds| TokenRoleChanges {
        period: Some(seconds),
        ..TokenRoleChanges::default()
    };
    let server = with_role(&periodic(HOUR));
    let parent = holder(&server, &["own"], false);
    let explicit = CreateRequest {
        explicit_max_ttl: Some(4 * HOUR as i64),
        ..CreateRequest::default()
    };
    let token = text(&create(&server, &parent, explicit).ok().unwrap());
    assert_eq!(renew(&server, &token), Ok(HOUR));
    write(&server, &periodic(2 * HOUR));
    assert_eq!(renew(&server, &token), Ok(2 * HOUR));
    // No role moves what was fixed at its creation.
    server.advance(HOUR);
    write(
        &server,
        &TokenRoleChanges {
            explicit_max_ttl: Some(100 * HOUR),
            ..periodic(50 * HOUR)
        },
    );
    assert_eq!(renew(&server, &token), Ok(3 * HOUR));
    server.access.delete_token_role("ci").unwrap();
    let before = view(&server, &token);
    assert_eq!(
        renew(&server, &token),
        Err(RenewError::RoleGone("ci".to_owned()))
    );
    assert_eq!(view(&server, &token), before);
    server.advance(3 * HOUR);
    assert!(!server.is_valid(&token));
}
#[test]
fn a4_blanks_are_no_wish_for_the_policies_that_a_role_allows_or_a_parent_has() {
    for role in [
        TokenRoleChanges {
            allowed_policies: listed(&["strong"]),
            ..TokenRoleChanges::default()
        },
        TokenRoleChanges {
            disallowed_policies: listed(&["weak"]),
            ..TokenRoleChanges::default()
        },
        TokenRoleChanges::default(),
    ] {
        let server = with_role(&role);
        for caller in [ROOT.to_owned(), holder(&server, &["own"], false)] {
            let issued = create(&server, &caller, asking(&[" ", ""])).unwrap();
            assert_eq!(issued.grant.token_policies, ["default"], "{role:?}");
        }
    }
}
