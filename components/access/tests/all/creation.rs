//! Tokens that token holders make (contract 5.4).

use crate::server::{HOUR, ROOT, Server, plain, policies, sudo};
use gatehouse_access::{
    CreateError, CreateRequest, Operation, Parent, Policies as _, Revocation as _, ServiceField,
    TokenCreation as _, TokenLookup as _, TokenParameters, TokenReference, TokenWarning,
};

fn named(names: &[&str]) -> CreateRequest {
    CreateRequest {
        policies: Some(names.iter().map(|&name| name.to_owned()).collect()),
        ..CreateRequest::default()
    }
}

fn refused(server: &Server, parent: &Parent, request: &CreateRequest) -> CreateError {
    let before = server.store.keys();
    let error = server.access.create_token(parent, request).err().unwrap();
    assert_eq!(
        server.store.keys(),
        before,
        "a refused creation stored something"
    );
    error
}

#[test]
fn a_root_child_without_policies_is_root_and_never_expires() {
    let server = Server::ready();
    let child = server.child(ROOT, &CreateRequest::default());
    assert_eq!(child.grant.policies, ["root"]);
    assert_eq!(
        (child.grant.lease_duration, child.grant.renewable),
        (0, false)
    );
    assert!(!child.grant.orphan);
    assert_eq!(child.grant.metadata, None);
    let view = server.access.lookup_token(&child.reference()).unwrap();
    assert_eq!((view.expire_time, view.ttl), (None, 0));
    assert_eq!(
        (view.display_name.as_str(), view.path.as_str()),
        ("token", "auth/token/create")
    );
}

#[test]
fn fields_reach_the_token() {
    let server = Server::ready();
    let metadata = Vec::from([("team".to_owned(), "a".to_owned())]);
    let child = server.child(
        ROOT,
        &CreateRequest {
            metadata: Some(metadata.clone()),
            ttl: Some(3600),
            explicit_max_ttl: Some(7200),
            num_uses: Some(5),
            display_name: Some("ci/1".to_owned()),
            renewable: Some(false),
            ..named(&["dev"])
        },
    );
    let view = server.access.lookup_token(&child.reference()).unwrap();
    assert_eq!(view.policies, ["default", "dev"]);
    assert_eq!(view.metadata, Some(metadata));
    assert_eq!(
        (view.creation_ttl, view.explicit_max_ttl, view.num_uses),
        (HOUR, 2 * HOUR, 5)
    );
    assert_eq!(view.display_name, "token-ci-1");
    assert!(!view.renewable);
    let unknown = TokenWarning::UnknownPolicy("dev".to_owned());
    assert_eq!(child.grant.warnings, [unknown]);
}

#[test]
fn without_sudo_policies_are_the_parents_or_fewer() {
    let server = Server::ready();
    let parent = server.log_in(policies(&["a", "b"]));
    let token = parent.client_token.as_str();
    let create = |request: &CreateRequest| {
        let issued = server.access.create_token(&plain(token), request);
        issued.map(|it| it.grant.token_policies)
    };
    let inherited = create(&CreateRequest::default());
    assert_eq!(
        inherited,
        Ok(["a", "b", "default"].map(str::to_owned).to_vec())
    );
    assert_eq!(
        create(&named(&["a"])),
        Ok(["a", "default"].map(str::to_owned).to_vec())
    );
    let without = CreateRequest {
        no_default_policy: true,
        ..named(&["a"])
    };
    assert_eq!(create(&without), Ok(vec!["a".to_owned()]));
    let without = CreateRequest {
        no_default_policy: true,
        ..CreateRequest::default()
    };
    assert_eq!(create(&without), Ok(["a", "b"].map(str::to_owned).to_vec()));
    assert_eq!(
        create(&named(&["a,b"])),
        Err(CreateError::PoliciesNotSubset)
    );
    assert_eq!(create(&named(&["c"])), Err(CreateError::PoliciesNotSubset));
    assert_eq!(
        create(&named(&["root"])),
        Err(CreateError::PoliciesNotSubset)
    );
}

#[test]
fn a4_root_comes_from_root_only() {
    let server = Server::ready();
    let parent = server.log_in(policies(&["a"]));
    let parent = sudo(parent.client_token.as_str());
    for spelling in ["root", " ROOT", "Root "] {
        let error = refused(&server, &parent, &named(&[spelling, "a"]));
        assert_eq!(error, CreateError::RootFromNonRoot);
    }
}

#[test]
fn every_refusal_of_the_table_stores_nothing() {
    let server = Server::ready();
    let parent = server.log_in(policies(&["a"]));
    let token = parent.client_token.as_str();
    let default = CreateRequest::default;
    let rows = [
        (
            CreateRequest {
                no_parent: true,
                ..default()
            },
            CreateError::OrphanNeedsSudo,
        ),
        (
            CreateRequest {
                period: Some(60),
                ..default()
            },
            CreateError::PeriodNeedsSudo,
        ),
        (
            CreateRequest {
                id: Some("x".to_owned()),
                ..default()
            },
            CreateError::IdNeedsSudo,
        ),
        (
            CreateRequest {
                ttl: Some(-1),
                ..default()
            },
            CreateError::NegativeTtl,
        ),
        (
            CreateRequest {
                period: Some(-1),
                ..default()
            },
            CreateError::NegativePeriod,
        ),
        (
            CreateRequest {
                explicit_max_ttl: Some(-1),
                ..default()
            },
            CreateError::NegativeExplicitMaxTtl,
        ),
        (
            CreateRequest {
                num_uses: Some(-1),
                ..default()
            },
            CreateError::NegativeNumUses,
        ),
        (
            CreateRequest {
                token_type: Some("other".to_owned()),
                ..default()
            },
            CreateError::InvalidTokenType,
        ),
        (
            CreateRequest {
                entity_alias: Some("x".to_owned()),
                ..default()
            },
            CreateError::EntityAliasWithoutRole,
        ),
    ];
    for (request, expected) in rows {
        assert_eq!(refused(&server, &plain(token), &request), expected);
    }
    let chosen = |id: &str| CreateRequest {
        id: Some(id.to_owned()),
        ..default()
    };
    let rows = [
        (chosen("hvs.x"), CreateError::IdWithReservedPrefix),
        (chosen("s.x"), CreateError::IdWithReservedPrefix),
        (chosen("a.b"), CreateError::UnusableId),
        (chosen("a b"), CreateError::UnusableId),
        (chosen(ROOT), CreateError::DuplicateId),
        (
            named(&["control-group"]),
            CreateError::UnassignablePolicy("control-group".to_owned()),
        ),
    ];
    for (request, expected) in rows {
        assert_eq!(refused(&server, &sudo(token), &request), expected);
    }
    let batch = CreateRequest {
        token_type: Some("batch".to_owned()),
        ..default()
    };
    let rows = [
        (
            CreateRequest {
                num_uses: Some(1),
                ..batch.clone()
            },
            ServiceField::NumUses,
        ),
        (
            CreateRequest {
                period: Some(1),
                ..batch.clone()
            },
            ServiceField::Period,
        ),
        (
            CreateRequest {
                explicit_max_ttl: Some(1),
                ..batch.clone()
            },
            ServiceField::ExplicitMaxTtl,
        ),
    ];
    for (request, field) in rows {
        assert_eq!(
            refused(&server, &sudo(token), &request),
            CreateError::BatchWith(field)
        );
    }
    assert_eq!(
        refused(&server, &plain("hvs.no"), &default()),
        CreateError::InvalidToken
    );
}

#[test]
fn t8_a_token_with_limited_uses_has_no_children_even_at_its_last_use() {
    let server = Server::ready();
    server
        .access
        .write_policy(
            "create",
            "path \"auth/token/create\" { capabilities = [\"update\"] }",
        )
        .unwrap();
    for uses in [1, 2] {
        let limited = server.log_in(TokenParameters {
            num_uses: uses,
            ..policies(&["create"])
        });
        let token = limited.client_token.as_str();
        let admission = server
            .admit(token, Operation::Update, "auth/token/create")
            .unwrap();
        let parent = Parent {
            token: token.into(),
            sudo: admission.sudo,
            limited_uses: admission.limited_uses,
            orphan_path: false,
        };
        let error = refused(&server, &parent, &CreateRequest::default());
        assert_eq!(error, CreateError::RestrictedUseParent);
        let mut parent = plain(ROOT);
        parent.limited_uses = true;
        let error = refused(&server, &parent, &CreateRequest::default());
        assert_eq!(error, CreateError::RestrictedUseParent);
    }
}

#[test]
fn a_chosen_identifier_works_and_warns() {
    let server = Server::ready();
    let request = CreateRequest {
        id: Some("mine".to_owned()),
        ..CreateRequest::default()
    };
    let child = server.child(ROOT, &request);
    assert_eq!(child.client_token.as_str(), "mine");
    assert_eq!(child.grant.warnings, [TokenWarning::ChosenId]);
    assert!(server.is_valid("mine"));
}

#[test]
fn orphans_have_neither_parent_nor_entity() {
    let server = Server::ready();
    let parent = server.log_in(policies(&["a"]));
    let token = parent.client_token.as_str();
    let child = server.child(token, &CreateRequest::default());
    assert_eq!(child.grant.entity_id, parent.grant.entity_id);
    let by_field = server.child(
        token,
        &CreateRequest {
            no_parent: true,
            ..CreateRequest::default()
        },
    );
    let mut by_path = plain(token);
    by_path.orphan_path = true;
    let by_path = server
        .access
        .create_token(&by_path, &CreateRequest::default())
        .ok()
        .unwrap();
    server
        .access
        .revoke_token(&TokenReference::Id(token.into()))
        .unwrap();
    assert!(!server.is_valid(child.client_token.as_str()));
    for orphan in [by_field, by_path] {
        assert!(orphan.grant.orphan);
        assert_eq!(orphan.grant.entity_id, None);
        assert!(server.is_valid(orphan.client_token.as_str()));
    }
}

#[test]
fn an_expiring_root_token_makes_no_endless_one() {
    let server = Server::ready();
    let expiring = server.child(
        ROOT,
        &CreateRequest {
            ttl: Some(60),
            ..CreateRequest::default()
        },
    );
    let parent = sudo(expiring.client_token.as_str());
    let error = refused(
        &server,
        &parent,
        &CreateRequest {
            no_parent: true,
            ..CreateRequest::default()
        },
    );
    assert_eq!(error, CreateError::EndlessRootFromExpiring);
}

#[test]
fn a_token_bound_to_addresses_makes_bound_tokens() {
    let server = Server::ready();
    let ranges = vec!["192.0.2.0/24".to_owned()];
    let parent = server.log_in(TokenParameters {
        bound_cidrs: ranges.clone(),
        ..policies(&["a"])
    });
    let child = server.child(parent.client_token.as_str(), &CreateRequest::default());
    let view = server.access.lookup_token(&child.reference()).unwrap();
    assert_eq!(view.bound_cidrs, ranges);
}

#[test]
fn the_line_of_ancestors_is_bounded() {
    let server = Server::ready();
    let mut token = ROOT.to_owned();
    for _ in 0..128 {
        token = server
            .child(&token, &CreateRequest::default())
            .client_token
            .clone();
    }
    let error = refused(&server, &sudo(&token), &CreateRequest::default());
    assert_eq!(error, CreateError::TooManyAncestors(128));
}

#[test]
fn a4_a_list_of_blanks_was_given_and_inherits_nothing() {
    let server = Server::ready();
    let parent = server.log_in(policies(&["a"]));
    let parent = parent.client_token.as_str();
    for blanks in [&[""][..], &[" ", "\t"], &["", ""]] {
        for (caller, orphan_path) in [(ROOT, false), (ROOT, true), (parent, false), (parent, true)]
        {
            for mut creator in [sudo(caller), plain(caller)] {
                creator.orphan_path = orphan_path;
                let child = server
                    .access
                    .create_token(&creator, &named(blanks))
                    .unwrap();
                assert_eq!(child.grant.token_policies, ["default"], "{blanks:?}");
                assert!(child.grant.lease_duration > 0, "it ends");
                let without = CreateRequest {
                    no_default_policy: true,
                    ..named(blanks)
                };
                let child = server.access.create_token(&creator, &without).unwrap();
                assert!(child.grant.token_policies.is_empty(), "{blanks:?}");
            }
        }
    }
    let inherited = server.child(ROOT, &named(&[]));
    assert_eq!(inherited.grant.token_policies, ["root"]);
}

#[test]
fn contract_5_4_what_is_inherited_gets_no_default_that_the_parent_lacks() {
    let server = Server::ready();
    let bare = CreateRequest {
        no_default_policy: true,
        ..named(&["a"])
    };
    let parent = server.child(ROOT, &bare);
    let parent = parent.client_token.as_str();
    for creator in [sudo(parent), plain(parent)] {
        for request in [CreateRequest::default(), named(&[])] {
            let child = server.access.create_token(&creator, &request).unwrap();
            assert_eq!(child.grant.token_policies, ["a"]);
        }
    }
    let given = server.access.create_token(&plain(parent), &named(&[" "]));
    assert!(given.unwrap().grant.token_policies.is_empty());
    let given = server.access.create_token(&sudo(parent), &named(&["a"]));
    assert_eq!(given.unwrap().grant.token_policies, ["a", "default"]);
}
