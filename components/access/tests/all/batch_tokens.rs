//! Tokens that carry themselves (contract 5.1, SEC-T8).

use crate::server::batch::{batch, bytes_of, living};
use crate::server::{HOUR, ROOT, START, Server, plain, policies, sudo};
use gatehouse_access::{
    AdmissionError, CreateError, CreateRequest, Entities as _, EntityChanges, IdentityTarget,
    Issued, LeaseTree as _, Lifetime, LoginError, Logins as _, MountTuning, Mounts as _, Operation,
    Policies as _, RenewError, Renewal as _, Request, Requests as _, Revocation as _, RevokeError,
    System as _, TokenCreation as _, TokenLookup as _, TokenParameters, TokenReference, TokenType,
    TokenView, TokenWarning,
};

const LOOKUP: &str = "auth/token/lookup-self";

fn request() -> CreateRequest {
    CreateRequest {
        token_type: Some("batch".to_owned()),
        policies: Some(vec!["dev".to_owned()]),
        ..CreateRequest::default()
    }
}

fn use_of(server: &Server, token: &str) -> Option<AdmissionError> {
    server.admit(token, Operation::Read, LOOKUP).err()
}

fn view(server: &Server, token: &Issued) -> TokenView {
    let reference = token.reference();
    server.access.lookup_token(&reference).unwrap()
}

#[test]
fn contract_5_1_a_batch_login_stores_its_identity_and_nothing_of_the_token() {
    let server = Server::ready();
    let before = server.store.keys();
    let issued = server.log_in(batch());
    let mut made = server.store.keys();
    made.retain(|key| !before.contains(key));
    let mut kinds: Vec<&str> = made
        .iter()
        .map(|key| key.split('/').next().unwrap())
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            "alias",
            "alias-id",
            "alias-metadata",
            "batch-key",
            "batch-key-in-use",
            "entity",
            "entity-name"
        ]
    );
    let commits = server.store.commits();
    let again = server.log_in(batch());
    assert_eq!(server.store.commits(), commits);
    assert_eq!(again.grant.entity_id, issued.grant.entity_id);
    assert_ne!(again.client_token.as_str(), issued.client_token.as_str());
    let text = issued.client_token.as_bytes();
    let bytes = bytes_of(issued.client_token.as_str());
    for value in server.store.values() {
        assert!(!value.windows(40).any(|part| text[4..44] == *part));
        assert!(!value.windows(32).any(|part| bytes[4..36] == *part));
    }
}

#[test]
fn contract_5_5_grant_and_lookup_agree() {
    let server = Server::ready();
    let issued = server.log_in(TokenParameters {
        lifetime: Lifetime {
            ttl: 2 * HOUR,
            explicit_max_ttl: 3 * HOUR,
            ..Lifetime::default()
        },
        bound_cidrs: vec!["192.0.2.1".to_owned()],
        ..batch()
    });
    let grant = &issued.grant;
    assert_eq!(grant.token_type, TokenType::Batch);
    assert_eq!((grant.accessor.as_str(), grant.num_uses), ("", 0));
    assert_eq!((grant.renewable, grant.orphan), (false, true));
    assert_eq!(grant.lease_duration, 2 * HOUR);
    assert_eq!(grant.token_policies, ["default", "dev"]);

    server.advance(60);
    let shown = view(&server, &issued);
    let expected = TokenView {
        accessor: String::new(),
        creation_time: START,
        creation_ttl: 2 * HOUR,
        display_name: "gcp-dev@p1.example".to_owned(),
        entity_id: grant.entity_id.clone(),
        expire_time: Some(START + 2 * HOUR),
        explicit_max_ttl: 0,
        last_renewal_time: None,
        metadata: Some(Vec::from([("role".to_owned(), "dev".to_owned())])),
        num_uses: 0,
        orphan: true,
        path: "auth/gcp/login".to_owned(),
        role: None,
        period: 0,
        policies: vec!["default".to_owned(), "dev".to_owned()],
        identity_policies: Vec::new(),
        bound_cidrs: vec!["192.0.2.1".to_owned()],
        renewable: false,
        ttl: 2 * HOUR - 60,
        token_type: TokenType::Batch,
    };
    assert_eq!(shown, expected);
    let admitted = server.admit(issued.client_token.as_str(), Operation::Read, LOOKUP);
    assert_eq!(admitted.unwrap().caller, Some(expected));
}

#[test]
fn contract_5_1_mount_and_role_choose_how_the_token_is_kept() {
    let server = Server::ready();
    let (service, batch) = (TokenType::Service, TokenType::Batch);
    for (mount, expected) in [
        ("default-service", [service, service, batch]),
        ("default-batch", [batch, service, batch]),
        ("service", [service, service, service]),
        ("batch", [batch, batch, batch]),
    ] {
        let tuning = MountTuning {
            token_type: Some(mount.to_owned()),
            ..MountTuning::default()
        };
        server.access.tune_mount("gcp", &tuning).unwrap();
        for (role, expected) in [None, Some(service), Some(batch)].into_iter().zip(expected) {
            let issued = server.log_in(TokenParameters {
                token_type: role,
                ..policies(&[])
            });
            let prefix = match expected {
                TokenType::Service => "hvs.",
                TokenType::Batch => "hvb.",
            };
            assert_eq!(issued.grant.token_type, expected, "{mount} {role:?}");
            assert!(issued.client_token.starts_with(prefix));
            assert_eq!(view(&server, &issued).token_type, expected);
        }
    }
}

#[test]
fn contract_5_3_ttl_arithmetic_is_that_of_service_tokens() {
    let server = Server::ready();
    let lifetime = |ttl, max_ttl, explicit_max_ttl| Lifetime {
        ttl,
        max_ttl,
        explicit_max_ttl,
        period: 0,
    };
    for lifetime in [
        lifetime(0, 0, 0),
        lifetime(HOUR, 0, 0),
        lifetime(9999 * HOUR, 0, 0),
        lifetime(5 * HOUR, 2 * HOUR, 0),
        lifetime(5 * HOUR, 0, 3 * HOUR),
        lifetime(0, 2 * HOUR, HOUR),
    ] {
        let of = |token_type| {
            let issued = server.log_in(TokenParameters {
                lifetime,
                token_type: Some(token_type),
                ..policies(&[])
            });
            (issued.grant.lease_duration, issued.grant.warnings)
        };
        assert_eq!(of(TokenType::Batch), of(TokenType::Service), "{lifetime:?}");
    }
}

#[test]
fn a_token_ends_with_its_time_its_mount_and_its_entity() {
    let server = Server::ready();
    let short = server.log_in(living(60));
    let token = short.client_token.as_str();
    assert_eq!(use_of(&server, token), None);
    server.advance(59);
    assert_eq!(use_of(&server, token), None);
    server.advance(1);
    assert_eq!(use_of(&server, token), Some(AdmissionError::InvalidToken));

    let issued = server.log_in(batch());
    let token = issued.client_token.as_str();
    let id = issued.grant.entity_id.clone().unwrap();
    let disabled = |disabled| {
        let changes = EntityChanges {
            disabled: Some(disabled),
            ..EntityChanges::default()
        };
        let target = &IdentityTarget::Id(id.clone());
        server.access.write_entity(target, &changes).unwrap();
    };
    disabled(true);
    assert_eq!(use_of(&server, token), Some(AdmissionError::EntityUnusable));
    disabled(false);
    assert_eq!(use_of(&server, token), None);

    server.access.disable_mount("gcp").unwrap();
    assert_eq!(use_of(&server, token), Some(AdmissionError::InvalidToken));
    server.enable("gcp");
    assert_eq!(use_of(&server, token), Some(AdmissionError::InvalidToken));
}

#[test]
fn a_prefix_that_is_cut_off_ends_batch_tokens_too() {
    let server = Server::ready();
    let issued = server.log_in(batch());
    let token = issued.client_token.as_str();
    server.access.revoke_prefix("auth/gcp/login").unwrap();
    assert_eq!(use_of(&server, token), Some(AdmissionError::InvalidToken));
    let later = server.log_in(batch());
    assert_eq!(use_of(&server, later.client_token.as_str()), None);
}

#[test]
fn t9_bound_ranges_count_at_every_use() {
    let server = Server::ready();
    let issued = server.log_in(TokenParameters {
        bound_cidrs: vec!["192.0.2.0/24".to_owned()],
        ..batch()
    });
    let from = |address: Option<&str>| {
        let request = Request {
            token: Some(issued.client_token.clone()),
            operation: Operation::Read,
            path: LOOKUP.into(),
            parameters: None,
            wrap_ttl: None,
            source_address: address.map(|it| it.parse().unwrap()),
        };
        server.access.admit(&request).err()
    };
    for address in ["192.0.2.7", "::ffff:192.0.2.7"] {
        assert_eq!(from(Some(address)), None);
    }
    for address in [Some("198.51.100.1"), Some("::1"), None] {
        assert_eq!(from(address), Some(AdmissionError::AddressDenied));
    }
}

#[test]
fn policies_of_the_entity_count_as_they_are_now() {
    let server = Server::ready();
    let text = "path \"auth/gcp/role/*\" { capabilities = [\"read\"] }";
    server.access.write_policy("reader", text).unwrap();
    let issued = server.log_in(batch());
    let read = || {
        let token = issued.client_token.as_str();
        server
            .admit(token, Operation::Read, "auth/gcp/role/dev")
            .err()
    };
    assert_eq!(read(), Some(AdmissionError::Denied));
    let id = issued.grant.entity_id.clone().unwrap();
    let changes = EntityChanges {
        policies: Some(vec!["reader".to_owned()]),
        ..EntityChanges::default()
    };
    let target = &IdentityTarget::Id(id.clone());
    server.access.write_entity(target, &changes).unwrap();
    assert_eq!(read(), None);
    assert_eq!(view(&server, &issued).identity_policies, ["reader"]);
}

#[test]
fn t8_a_batch_token_is_neither_renewed_nor_revoked_nor_a_parent() {
    let server = Server::ready();
    let issued = server.log_in(batch());
    let reference = issued.reference();
    let access = &server.access;
    let commits = server.store.commits();
    assert_eq!(
        access.renewal(&reference, None).err(),
        Some(RenewError::BatchToken)
    );
    let renewed = access.renew_token(&reference, 0, None);
    assert_eq!(renewed.err(), Some(RenewError::BatchToken));
    assert_eq!(
        access.revoke_token(&reference),
        Err(RevokeError::BatchToken)
    );
    let token = issued.client_token.as_str();
    for token_type in [None, Some("service"), Some("batch"), Some("unknown")] {
        let request = CreateRequest {
            token_type: token_type.map(str::to_owned),
            ..request()
        };
        for parent in [sudo(token), plain(token)] {
            let error = access.create_token(&parent, &request).err();
            assert_eq!(error, Some(CreateError::BatchParent));
        }
    }
    assert!(server.is_valid(token));

    // A text that is no token is treated as any unknown one.
    for text in ["hvb.x", &format!("{token}A")] {
        let unknown = &TokenReference::Id(text.into());
        assert_eq!(
            access.renewal(unknown, None).err(),
            Some(RenewError::UnknownToken)
        );
        assert_eq!(access.revoke_token(unknown), Ok(false));
    }
    let none = &TokenReference::Accessor("".into());
    assert!(access.lookup_token(none).is_err());
    assert_eq!(access.revoke_token(none), Ok(false));
    assert_eq!(server.store.commits(), commits);
}

#[test]
fn contract_5_4_a_created_batch_token_lives_and_dies_with_its_parent() {
    let server = Server::ready();
    let parent = server.child(
        ROOT,
        &CreateRequest {
            ttl: Some(60),
            policies: Some(vec!["dev".to_owned()]),
            ..CreateRequest::default()
        },
    );
    server.child(ROOT, &request());
    let commits = server.store.commits();
    let asked = CreateRequest {
        ttl: Some(7200),
        display_name: Some("job".to_owned()),
        renewable: Some(true),
        ..request()
    };
    let parent_token = parent.client_token.as_str();
    let child = server.child(parent_token, &asked);
    let mut orphan_path = sudo(parent_token);
    orphan_path.orphan_path = true;
    let orphan = server.access.create_token(&orphan_path, &request());
    let orphan = orphan.ok().unwrap();
    assert_eq!(server.store.commits(), commits, "a batch token was stored");
    // A child may be promised more time than its parent has; it does not get it.
    assert_eq!(child.grant.lease_duration, 7200);
    assert_eq!((child.grant.renewable, child.grant.orphan), (false, false));
    let shown = view(&server, &child);
    assert_eq!(shown.display_name, "token-job");
    assert_eq!(
        (shown.path.as_str(), shown.orphan),
        ("auth/token/create", false)
    );
    assert!(orphan.grant.orphan && view(&server, &orphan).orphan);

    let (child, orphan) = (child.client_token.as_str(), orphan.client_token.as_str());
    let reference = parent.reference();
    let twin = server.child(parent_token, &asked);
    server.advance(59);
    assert_eq!(use_of(&server, child), None);
    assert_eq!(server.access.revoke_token(&reference), Ok(true));
    assert_eq!(use_of(&server, child), Some(AdmissionError::InvalidToken));
    assert!(!server.is_valid(twin.client_token.as_str()));
    assert_eq!(use_of(&server, orphan), None);

    // By expiry as well.
    let parent = server.child(
        ROOT,
        &CreateRequest {
            ttl: Some(60),
            ..CreateRequest::default()
        },
    );
    let child = server.child(parent.client_token.as_str(), &asked);
    server.advance(60);
    assert!(!server.is_valid(child.client_token.as_str()));
}

#[test]
fn t5_a_batch_token_does_not_descend_from_a_second_token_of_the_same_identifier() {
    let server = Server::ready();
    let chosen = CreateRequest {
        id: Some("chosen".to_owned()),
        ..CreateRequest::default()
    };
    server.child(ROOT, &chosen);
    let child = server.child("chosen", &request());
    let child = child.client_token.as_str();
    assert!(server.is_valid(child));
    let first = &TokenReference::Id("chosen".into());
    assert_eq!(server.access.revoke_token(first), Ok(true));
    server.advance(1);
    server.child(ROOT, &chosen);
    assert_eq!(use_of(&server, child), Some(AdmissionError::InvalidToken));
    let second = server.child("chosen", &request());
    assert!(server.is_valid(second.client_token.as_str()));
}

#[test]
fn contract_5_4_what_a_batch_token_cannot_have_is_refused_and_stores_nothing() {
    let server = Server::ready();
    server.log_in(batch());
    let before = server.store.commits();
    let refused = |request: CreateRequest| {
        let error = server.access.create_token(&sudo(ROOT), &request).err();
        error.unwrap().to_string()
    };
    let text = |field| format!("batch tokens cannot have {field:?} set");
    for number in [1, -1] {
        let number = Some(number);
        let explicit_max_ttl = CreateRequest {
            explicit_max_ttl: number,
            num_uses: number,
            period: number,
            ..request()
        };
        assert_eq!(refused(explicit_max_ttl), text("explicit_max_ttl"));
        let num_uses = CreateRequest {
            num_uses: number,
            period: number,
            ..request()
        };
        assert_eq!(refused(num_uses), text("num_uses"));
        let period = CreateRequest {
            period: number,
            ..request()
        };
        assert_eq!(refused(period), text("period"));
    }
    for policies in [None, Some(vec!["Root".to_owned()])] {
        let root = CreateRequest {
            policies,
            ..request()
        };
        assert_eq!(refused(root), "batch tokens cannot be root tokens");
    }
    assert_eq!(server.store.commits(), before);
}

#[test]
fn a_chosen_identifier_is_ignored_with_a_warning_and_still_needs_sudo() {
    let server = Server::ready();
    let asked = CreateRequest {
        id: Some("mine".to_owned()),
        ..request()
    };
    let issued = server.child(ROOT, &asked);
    assert!(issued.client_token.starts_with("hvb."));
    assert_eq!(
        issued.grant.warnings.first(),
        Some(&TokenWarning::IgnoredId)
    );
    assert!(!server.is_valid("mine"));
    let parent = server.child(
        ROOT,
        &CreateRequest {
            policies: Some(vec!["dev".to_owned()]),
            ..CreateRequest::default()
        },
    );
    let refused = server
        .access
        .create_token(&plain(parent.client_token.as_str()), &asked);
    assert_eq!(refused.err(), Some(CreateError::IdNeedsSudo));
}

#[test]
fn a_token_that_would_not_fit_a_request_is_refused_and_stores_nothing() {
    let server = Server::ready();
    let metadata = |length: usize| Vec::from([("note".to_owned(), "x".repeat(length))]);
    let before = server.store.keys();
    let create = |length| {
        let request = CreateRequest {
            metadata: Some(metadata(length)),
            ..request()
        };
        server.access.create_token(&sudo(ROOT), &request)
    };
    assert_eq!(create(8192).err(), Some(CreateError::BatchTooLarge(8192)));
    let mut grant = server.grant("1234", batch());
    grant.metadata = metadata(8192);
    let refused = server.access.issue_login(&grant).err();
    assert_eq!(refused, Some(LoginError::BatchTooLarge(8192)));
    assert_eq!(server.store.keys(), before);

    let large = create(7000).ok().unwrap();
    let text = large.client_token.as_str();
    assert!(text.len() <= 11_000, "{}", text.len());
    assert_eq!(view(&server, &large).metadata, Some(metadata(7000)));
}

#[test]
fn no_token_that_a_person_chooses_passes_for_a_batch_token() {
    let server = Server::empty();
    assert!(server.access.initialize(Some("hvb.chosen")).is_err());
    assert!(server.store.keys().is_empty());
    server.access.initialize(Some(ROOT)).ok().unwrap();
    let chosen = CreateRequest {
        id: Some("hvb.chosen".to_owned()),
        ..CreateRequest::default()
    };
    let refused = server.access.create_token(&sudo(ROOT), &chosen).err();
    assert_eq!(refused, Some(CreateError::UnusableId));
}
