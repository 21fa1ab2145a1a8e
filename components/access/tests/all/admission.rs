//! One request: authentication, routing to a mount, authorization.

use crate::server::{HOUR, ROOT, Server, lookup_self, policies};
use gatehouse_access::{
    AdmissionError, Capability, CreateRequest, Operation, Policies as _, Request, Requests as _,
    Revocation as _, ServiceError, System as _, TokenLookup as _, TokenParameters, TokenReference,
    WritePermission,
};
use gatehouse_ports::{CommitError, StoreError};

fn without_token(
    server: &Server,
    path: &str,
) -> Result<gatehouse_access::Admission, AdmissionError> {
    server.access.admit(&Request {
        token: None,
        operation: Operation::Update,
        path: path.into(),
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    })
}

#[test]
fn an_empty_store_answers_not_initialized_with_and_without_a_token() {
    let server = Server::empty();
    let not_initialized = Err(AdmissionError::Failure(ServiceError::NotInitialized));
    assert_eq!(without_token(&server, "auth/gcp/login"), not_initialized);
    assert_eq!(
        server.admit("x", Operation::Read, "sys/auth"),
        not_initialized
    );
}

#[test]
fn the_cached_key_does_not_hide_an_initialization_that_comes_later() {
    let server = Server::empty();
    assert!(without_token(&server, "sys/auth").is_err());
    server.access.initialize(Some(ROOT)).ok().unwrap();
    assert!(server.admit(ROOT, Operation::Read, "sys/auth").is_ok());
}

#[test]
fn a_login_needs_no_token_and_ignores_a_bad_one() {
    let server = Server::ready();
    server.enable("a/b/c");
    for path in ["auth/gcp/login", "auth/a/b/c/login"] {
        let admission = without_token(&server, path).unwrap();
        assert_eq!(admission.caller, None);
        assert_eq!(admission.remainder, "login");
        assert_eq!(server.admit("bad", Operation::Update, path), Ok(admission));
    }
}

#[test]
fn other_paths_need_a_token_and_so_does_a_login_without_a_mount() {
    let server = Server::ready();
    for path in [
        "auth/gcp/role/x",
        "auth/other/login",
        "auth/token/login",
        "auth/gcp/login/x",
        "sys/auth",
    ] {
        assert_eq!(
            without_token(&server, path),
            Err(AdmissionError::NoToken),
            "{path}"
        );
        let bad = server.admit("bad", Operation::Update, path);
        assert_eq!(bad, Err(AdmissionError::InvalidToken), "{path}");
    }
}

#[test]
fn root_may_do_everything_and_learns_that_a_mount_is_missing() {
    let server = Server::ready();
    let admission = server
        .admit(ROOT, Operation::CreateOrUpdate, "auth/gcp/role/dev")
        .unwrap();
    assert!(admission.sudo);
    assert_eq!(
        admission.write,
        WritePermission {
            create: true,
            update: true
        }
    );
    assert_eq!(admission.remainder, "role/dev");
    assert_eq!(admission.mount, Some(server.mount("gcp/")));
    let missing = server.admit(ROOT, Operation::Read, "auth/other/config");
    assert_eq!(missing, Err(AdmissionError::NoMount));
    // The mount's own path is inside nothing, and is the mount's all the same.
    let itself = server.admit(ROOT, Operation::Read, "auth/gcp").unwrap();
    assert_eq!(
        (itself.mount, itself.remainder.as_str()),
        (Some(server.mount("gcp/")), "")
    );
    let missing = server.admit(ROOT, Operation::Read, "auth/other");
    assert_eq!(missing, Err(AdmissionError::NoMount));
    let system = server.admit(ROOT, Operation::Read, "sys/auth").unwrap();
    assert_eq!(
        (system.mount, system.remainder.as_str()),
        (None, "sys/auth")
    );
}

#[test]
fn a1_a_token_without_a_rule_is_denied_also_where_nothing_is() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters::default());
    let token = token.client_token.as_str();
    for path in [
        "auth/gcp/config",
        "auth/other/config",
        "sys/auth",
        "organizations/x",
    ] {
        let answer = server.admit(token, Operation::Read, path);
        assert_eq!(answer, Err(AdmissionError::Denied), "{path}");
    }
}

#[test]
fn the_default_policy_allows_get_lookup_self_and_not_post() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters::default());
    let token = token.client_token.as_str();
    let path = "auth/token/lookup-self";
    let caller = server.admit(token, Operation::Read, path).unwrap().caller;
    assert_eq!(caller.unwrap().display_name, "gcp-dev@p1.example");
    assert_eq!(
        server.admit(token, Operation::Update, path),
        Err(AdmissionError::Denied)
    );
    assert!(server.admit(token, Operation::Help, "sys/auth").is_ok());
}

#[test]
fn writes_with_an_existence_check_learn_which_half_is_granted() {
    let server = Server::ready();
    let token = server.log_in_with_policy(
        "path \"organizations/a\" { capabilities = [\"create\"] }
         path \"organizations/b\" { capabilities = [\"update\"] }",
    );
    let token = token.client_token.as_str();
    let write = |path| {
        let admission = server.admit(token, Operation::CreateOrUpdate, path);
        admission.map(|it| (it.write.create, it.write.update))
    };
    assert_eq!(write("organizations/a"), Ok((true, false)));
    assert_eq!(write("organizations/b"), Ok((false, true)));
    assert_eq!(write("organizations/c"), Err(AdmissionError::Denied));
    let update = server.admit(token, Operation::Update, "organizations/a");
    assert_eq!(update, Err(AdmissionError::Denied));
}

#[test]
fn paths_that_need_sudo_need_both() {
    let server = Server::ready();
    let token = server.log_in_with_policy(
        "path \"sys/auth/a\" { capabilities = [\"update\"] }
         path \"sys/auth/b\" { capabilities = [\"update\", \"sudo\"] }
         path \"sys/auth/c\" { capabilities = [\"sudo\"] }",
    );
    let token = token.client_token.as_str();
    let write = |path| {
        server
            .admit(token, Operation::Update, path)
            .map(|it| it.sudo)
    };
    assert_eq!(write("sys/auth/a"), Err(AdmissionError::Denied));
    assert_eq!(write("sys/auth/b"), Ok(true));
    assert_eq!(write("sys/auth/c"), Err(AdmissionError::Denied));
}

#[test]
fn a_policy_counts_from_the_next_request_on() {
    let server = Server::ready();
    let token = server.log_in(policies(&["later"]));
    let token = token.client_token.as_str();
    let read = || server.admit(token, Operation::Read, "sys/auth").is_ok();
    assert!(!read());
    let text = "path \"sys/auth\" { capabilities = [\"read\"] }";
    server.access.write_policy("Later", text).unwrap();
    assert!(read());
    server.access.delete_policy("later").unwrap();
    assert!(!read());
}

#[test]
fn templates_follow_the_caller() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters::default());
    let entity = token.grant.entity_id.clone().unwrap();
    let token = token.client_token.as_str();
    let own = format!("identity/entity/id/{entity}");
    assert!(server.admit(token, Operation::Read, &own).is_ok());
    let other = server.admit(token, Operation::Read, "identity/entity/id/other");
    assert_eq!(other, Err(AdmissionError::Denied));
}

#[test]
fn a2_paths_that_are_not_canonical_are_refused() {
    let server = Server::ready();
    let deep = "a/".repeat(17);
    let long = "a".repeat(1025);
    for path in [
        "",
        "/",
        "/sys",
        "a//b",
        "a/../b",
        "a/./b",
        "..",
        ".",
        "a/..",
        "a\0",
        "a\n",
        deep.as_str(),
        long.as_str(),
        "a//",
    ] {
        let answer = server.admit(ROOT, Operation::Read, path);
        assert_eq!(answer, Err(AdmissionError::MalformedPath), "{path:?}");
    }
}

#[test]
fn t10_unknown_expired_revoked_used_up_and_malformed_tokens_are_refused_alike() {
    let server = Server::ready();
    let mut short = TokenParameters::default();
    short.lifetime.ttl = HOUR;
    let expired = server.log_in(short);
    server.advance(HOUR);
    let revoked = server.log_in(TokenParameters::default());
    let reference = revoked.reference();
    assert_eq!(server.access.revoke_token(&reference), Ok(true));
    let used_up = server.log_in(TokenParameters {
        num_uses: 1,
        ..TokenParameters::default()
    });
    let path = "auth/token/lookup-self";
    let last = server
        .admit(used_up.client_token.as_str(), Operation::Read, path)
        .unwrap();
    assert_eq!(last.caller.unwrap().num_uses, 0);
    assert!(last.limited_uses);
    for token in [
        "hvs.unknown",
        "",
        "\0",
        expired.client_token.as_str(),
        revoked.client_token.as_str(),
        used_up.client_token.as_str(),
    ] {
        let answer = server.admit(token, Operation::Read, path);
        assert_eq!(answer, Err(AdmissionError::InvalidToken));
    }
}

#[test]
fn t9_bound_addresses_hold_at_every_use() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters {
        bound_cidrs: vec!["192.0.2.0/24".to_owned()],
        ..TokenParameters::default()
    });
    let from = |address: Option<&str>| {
        let mut request = lookup_self(token.client_token.as_str());
        request.source_address = address.map(|it| it.parse().unwrap());
        let admitted = server.access.admit(&request);
        admitted.map(|_| ())
    };
    assert_eq!(from(Some("192.0.2.9")), Ok(()));
    assert_eq!(from(Some("::ffff:192.0.2.9")), Ok(()));
    assert_eq!(
        from(Some("198.51.100.1")),
        Err(AdmissionError::AddressDenied)
    );
    assert_eq!(from(None), Err(AdmissionError::AddressDenied));
}

#[test]
fn t4_a_use_is_taken_before_the_policy_is_asked() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters {
        num_uses: 2,
        ..TokenParameters::default()
    });
    let token = token.client_token.as_str();
    assert_eq!(
        server.admit(token, Operation::Read, "sys/auth"),
        Err(AdmissionError::Denied)
    );
    let view = server
        .access
        .lookup_token(&TokenReference::Id(token.into()))
        .unwrap();
    assert_eq!(view.num_uses, 1);
    assert_eq!(
        server.admit(token, Operation::Read, "sys/auth"),
        Err(AdmissionError::Denied)
    );
    assert!(!server.is_valid(token));
}

#[test]
fn t4_a_use_whose_commit_fails_admits_nobody() {
    let server = Server::ready();
    let token = server.log_in(TokenParameters {
        num_uses: 5,
        ..TokenParameters::default()
    });
    server
        .store
        .fail_next_commit(CommitError::Failed(StoreError::Unavailable(
            "full".to_owned(),
        )));
    let path = "auth/token/lookup-self";
    let answer = server.admit(token.client_token.as_str(), Operation::Read, path);
    assert_eq!(
        answer,
        Err(AdmissionError::Failure(ServiceError::Unavailable(
            "full".to_owned()
        )))
    );
}

#[test]
fn t4_of_n_uses_exactly_n_succeed_among_many_clients() {
    for uses in 1..=20 {
        let server = Server::ready();
        let token = server.log_in(TokenParameters {
            num_uses: uses,
            ..TokenParameters::default()
        });
        let token = token.client_token.as_str();
        let successes = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..64)
                .map(|_| {
                    scope.spawn(|| {
                        let instance = server.another_instance();
                        let request = lookup_self(token);
                        let mut admitted = 0;
                        loop {
                            match instance.admit(&request) {
                                Ok(_) => admitted += 1,
                                Err(AdmissionError::Failure(ServiceError::Contended)) => {}
                                Err(AdmissionError::InvalidToken) => return admitted,
                                Err(other) => panic!("{other}"),
                            }
                        }
                    })
                })
                .collect();
            clients
                .into_iter()
                .map(|it| it.join().unwrap())
                .sum::<u64>()
        });
        assert_eq!(successes, uses);
    }
}

#[test]
fn capabilities_are_shown_in_the_contracts_order() {
    let server = Server::ready();
    let token = server.log_in_with_policy(
        "path \"a\" { capabilities = [\"patch\", \"create\", \"read\", \"sudo\", \"list\"] }
         path \"b\" { capabilities = [\"deny\", \"read\"] }",
    );
    let paths = ["a", "/a", "b", "c", "a/"].map(str::to_owned);
    let shown = server
        .access
        .capabilities(&token.reference(), &paths)
        .unwrap();
    use Capability::{Create, Deny, List, Patch, Read, Root, Sudo};
    let all = vec![Sudo, Read, List, Create, Patch];
    assert_eq!(
        shown,
        [all.clone(), all.clone(), vec![Deny], vec![Deny], all]
    );
    let root = server
        .access
        .capabilities(&TokenReference::Id(ROOT.into()), &paths[..1]);
    assert_eq!(root, Ok(vec![vec![Root]]));
}

#[test]
fn a_child_is_admitted_by_its_own_policies_and_its_ancestors_life() {
    let server = Server::ready();
    let request = CreateRequest {
        policies: Some(vec!["default".to_owned()]),
        ..CreateRequest::default()
    };
    let parent = server.child(
        ROOT,
        &CreateRequest {
            ttl: Some(3600),
            ..request.clone()
        },
    );
    let child = server.child(parent.client_token.as_str(), &request);
    let path = "auth/token/lookup-self";
    assert!(
        server
            .admit(child.client_token.as_str(), Operation::Read, path)
            .is_ok()
    );
    server.advance(HOUR);
    let orphaned = server.admit(child.client_token.as_str(), Operation::Read, path);
    assert_eq!(orphaned, Err(AdmissionError::InvalidToken));
}
