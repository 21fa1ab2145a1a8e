//! Tokens by their leases: finding them, ending one, ending all below a prefix.

use std::sync::Barrier;
use std::thread;

use crate::server::{HOUR, ROOT, Server, policies};
use gatehouse_access::{
    CreateRequest, KeyPage, LeaseTree as _, Lifetime, Logins as _, LookupError, MountTuning,
    Mounts as _, Operation, Renewal as _, Revalidated, Revocation as _, TokenCreation as _,
    TokenLookup as _, TokenParameters, TokenReference, TokenRoleChanges, TokenRoles as _,
    WrapRequest, Wrapping as _, WritePermission,
};
use gatehouse_ports::{Change, Put, Store};

const LOGIN: &str = "auth/gcp/login";
const CREATE: &str = "auth/token/create";

impl Server {
    fn leases(&self, prefix: &str) -> Vec<String> {
        let page = self.access.list_leases(prefix, None, 1000).unwrap();
        assert_eq!(page.next, None);
        page.keys
    }

    /// The only lease at `path`.
    fn lease(&self, path: &str) -> String {
        let [key] = self.leases(path).try_into().unwrap();
        let key: String = key;
        format!("{path}/{key}")
    }

    fn login(&self, mount_path: &str, alias: &str) -> String {
        let grant = self.grant_at(mount_path, alias, policies(&["dev"]));
        let issued = self.access.issue_login(&grant).ok().unwrap();
        issued.client_token.clone()
    }

    fn child_of(&self, parent: &str) -> String {
        let request = CreateRequest {
            ttl: Some(3600),
            policies: Some(vec!["dev".to_owned()]),
            ..CreateRequest::default()
        };
        self.child(parent, &request).client_token.clone()
    }
}

#[test]
fn contract_6_5_a_lease_leads_to_its_token_and_nothing_else_does() {
    let server = Server::ready();
    let token = server.login("gcp/", "1");
    let lease = server.lease(LOGIN);
    let by_id = server
        .access
        .lookup_token(&TokenReference::Id(token.clone()));
    let by_lease = server
        .access
        .lookup_token(&TokenReference::Lease(lease.clone()));
    assert_eq!(by_id, by_lease);
    let hash = lease.strip_prefix("auth/gcp/login/h").unwrap();
    for other in [
        format!("auth/gcp/login/{hash}"),
        format!("auth/gcp/h{hash}"),
        format!("auth/gcp/login/h{}", hash.to_uppercase()),
        format!("auth/gcp/login/h{}", &hash[1..]),
        format!("/{lease}"),
        format!("{lease}/"),
        hash.to_owned(),
        String::new(),
    ] {
        let found = server
            .access
            .lookup_token(&TokenReference::Lease(other.clone()));
        assert_eq!(found, Err(LookupError::UnknownToken), "{other}");
        assert_eq!(
            server
                .access
                .revoke_token(&TokenReference::Lease(other.clone())),
            Ok(false)
        );
    }
    // A caller who knows the lease does not have the token.
    for text in [lease.as_str(), hash, &format!("hvs.{hash}")] {
        assert!(!server.is_valid(text));
    }
    assert!(server.is_valid(&token));
}

#[test]
fn t5_revoking_a_lease_ends_the_token_and_what_descends_from_it() {
    let server = Server::ready();
    let before = server.store.keys();
    let child = server.child_of(ROOT);
    let lease = server.lease(CREATE);
    let grandchild = server.child_of(&child);
    assert_eq!(
        server
            .access
            .revoke_token(&TokenReference::Lease(lease.clone())),
        Ok(true)
    );
    assert!(!server.is_valid(&child) && !server.is_valid(&grandchild));
    assert_eq!(server.store.keys(), before);
}

#[test]
fn the_tree_of_leases_has_a_branch_for_each_mount() {
    let server = Server::ready();
    server.enable("team/a");
    server.enable("team/b");
    for (prefix, keys) in [
        ("", &["auth/"] as &[&str]),
        ("auth", &["gcp/", "team/", "token/"]),
        ("auth/", &["gcp/", "team/", "token/"]),
        ("auth/team", &["a/", "b/"]),
        ("auth/tea", &[]),
        ("auth/team/a", &["login/"]),
        ("auth/token", &["create-orphan/", "create/"]),
        ("auth/gcp/login", &[]),
        ("auth/none", &[]),
        ("sys", &[]),
        ("authority", &[]),
    ] {
        assert_eq!(server.leases(prefix), keys, "{prefix}");
    }
    let page = server.access.list_leases("auth", Some("gcp/"), 1).unwrap();
    assert_eq!(page.keys, ["team/"]);
    assert_eq!(page.next.as_deref(), Some("team/"));
}

#[test]
fn leases_are_listed_in_pages_without_those_that_do_not_count() {
    let server = Server::ready();
    for number in 0..30 {
        server.login("gcp/", &number.to_string());
        server.child_of(ROOT);
    }
    let short = TokenParameters {
        lifetime: Lifetime {
            ttl: 1,
            ..Lifetime::default()
        },
        ..policies(&["dev"])
    };
    server.log_in(short);
    server.advance(1);
    // An answer that was wrapped at the path is no login.
    let wrapping = WrapRequest {
        content: b"x".to_vec(),
        creation_path: LOGIN.to_owned(),
        ttl: 60,
        wrapped_accessor: None,
    };
    server.access.wrap(&wrapping).ok().unwrap();
    let all = server.leases(LOGIN);
    assert_eq!(all.len(), 30);
    assert!(all.is_sorted());
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let KeyPage { keys, next } = server
            .access
            .list_leases(LOGIN, after.as_deref(), 7)
            .unwrap();
        assert!(keys.len() <= 7);
        paged.extend(keys);
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
}

#[test]
fn a_listing_looks_at_a_bounded_number_of_tokens_and_says_where_it_stopped() {
    let server = Server::ready();
    let template = server.login("gcp/", "1");
    let key = format!("token/{}", &server.lease(LOGIN)["auth/gcp/login/h".len()..]);
    let value = server.store.get(&[&key]).unwrap().remove(0).unwrap().value;
    let numbers: Vec<u32> = (0..12_000).collect();
    for numbers in numbers.chunks(1_000) {
        let changes = numbers.iter().map(|number| {
            Change::Put(Put {
                key: format!("token/{number:064x}"),
                value: value.clone(),
                expires_at: None,
            })
        });
        server.store.commit(Vec::new(), changes.collect()).unwrap();
    }
    let page = server.access.list_leases(CREATE, None, 1000).unwrap();
    assert_eq!(page.keys, Vec::<String>::new());
    assert_eq!(page.next, Some(format!("h{:064x}", 9_999)));
    let rest = server
        .access
        .list_leases(CREATE, page.next.as_deref(), 1000)
        .unwrap();
    assert_eq!(rest, KeyPage::default());
    assert!(server.is_valid(&template));
}

#[test]
fn contract_6_5_a_prefix_ends_exactly_the_tokens_below_it() {
    for (prefix, dead) in [
        ("auth/gcp/login", [true, false, false, false]),
        ("auth/gcp", [true, false, false, false]),
        ("auth/gcp/", [true, false, false, false]),
        ("auth/team", [false, true, false, false]),
        ("auth/team/a/login", [false, true, false, false]),
        ("auth/token/create", [false, false, true, false]),
        ("auth/token", [false, false, true, true]),
        ("auth/token/create-orphan", [false, false, false, true]),
        ("auth", [true; 4]),
        ("auth/", [true; 4]),
        ("auth/gc", [false; 4]),
        ("auth/gcp/config", [false; 4]),
        ("auth/gcp/login/x", [false; 4]),
        ("auth/token/creat", [false; 4]),
        ("authority", [false; 4]),
        ("sys", [false; 4]),
        ("", [false; 4]),
        ("/", [false; 4]),
    ] {
        let server = Server::ready();
        server.enable("team/a");
        let mut orphan = crate::server::sudo(ROOT);
        orphan.orphan_path = true;
        let orphan = server
            .access
            .create_token(&orphan, &CreateRequest::default())
            .ok()
            .unwrap();
        let tokens = [
            server.login("gcp/", "1"),
            server.login("team/a/", "1"),
            server.child_of(ROOT),
            orphan.client_token.clone(),
        ];
        let commits = server.store.commits();
        server.access.revoke_prefix(prefix).unwrap();
        let any = dead.contains(&true);
        assert_eq!(server.store.commits() - commits, u64::from(any), "{prefix}");
        let is_dead = tokens.each_ref().map(|token| !server.is_valid(token));
        assert_eq!(is_dead, dead, "{prefix}");
        assert!(server.is_valid(ROOT), "{prefix}");
        assert!(server.is_valid(&server.login("gcp/", "2")), "{prefix}");
        assert!(server.is_valid(&server.child_of(ROOT)), "{prefix}");
    }
}

#[test]
fn contract_6_5_the_suffix_of_a_token_role_is_a_prefix_of_its_own() {
    for (prefix, dead) in [
        ("auth/token/create/ci/one", [true, false, false]),
        ("auth/token/create/ci", [true, true, false]),
        ("auth/token/create/ci/on", [false; 3]),
        ("auth/token/create/ci/one/x", [false; 3]),
        ("auth/token/create/other", [false; 3]),
        ("auth/token/create", [true; 3]),
    ] {
        let server = Server::ready();
        let tokens = ["one", "two", ""].map(|suffix| {
            let role = TokenRoleChanges {
                path_suffix: Some(suffix.to_owned()),
                ..TokenRoleChanges::default()
            };
            let name = if suffix.is_empty() { "cd" } else { "ci" };
            let all = WritePermission {
                create: true,
                update: true,
            };
            server.access.write_token_role(name, &role, all).unwrap();
            let request = CreateRequest {
                role: Some(name.to_owned()),
                ..CreateRequest::default()
            };
            let issued = server.child(ROOT, &request);
            issued.client_token.clone()
        });
        let leases = server.leases("auth/token/create/ci/one");
        assert_eq!(leases.len(), 1);
        server.access.revoke_prefix(prefix).unwrap();
        let is_dead = tokens.each_ref().map(|token| !server.is_valid(token));
        assert_eq!(is_dead, dead, "{prefix}");
    }
}

#[test]
fn t5_what_descends_from_a_cut_off_token_ends_with_it() {
    let server = Server::ready();
    let login = server.login("gcp/", "1");
    let child = server.child_of(&login);
    let grandchild = server.child_of(&child);
    let other = server.child_of(ROOT);
    server.access.revoke_prefix(LOGIN).unwrap();
    for token in [&login, &child, &grandchild] {
        assert!(!server.is_valid(token));
        assert!(
            server
                .admit(token, Operation::Read, "auth/token/lookup-self")
                .is_err()
        );
    }
    assert!(server.is_valid(&other));
    assert_eq!(server.leases(LOGIN), Vec::<String>::new());
    assert_eq!(server.leases(CREATE).len(), 1);
}

#[test]
fn t5_what_descends_from_a_login_ends_with_its_mount() {
    let server = Server::ready();
    let child = server.child_of(&server.login("gcp/", "1"));
    server.access.disable_mount("gcp").unwrap();
    assert!(!server.is_valid(&child));
    server.enable("gcp");
    assert!(!server.is_valid(&child));
}

#[test]
fn a_root_token_that_a_token_made_ends_with_its_prefix_and_the_first_one_has_no_lease() {
    let server = Server::ready();
    let endless = server.child(ROOT, &CreateRequest::default());
    let view = server.access.lookup_token(&endless.reference());
    assert_eq!(view.unwrap().expire_time, None);
    assert_eq!(server.leases("auth/token/create").len(), 1);
    server.access.revoke_prefix("auth/token").unwrap();
    assert!(!server.is_valid(endless.client_token.as_str()));
    assert!(server.is_valid(ROOT));
}

#[test]
fn a_prefix_that_is_one_lease_ends_that_one() {
    let server = Server::ready();
    let token = server.login("gcp/", "1");
    let lease = server.lease(LOGIN);
    let other = server.login("gcp/", "2");
    server.access.revoke_prefix(&lease).unwrap();
    assert!(!server.is_valid(&token) && server.is_valid(&other));
}

#[test]
fn tuning_a_mount_does_not_bring_back_what_was_cut_off() {
    let server = Server::ready();
    let token = server.login("gcp/", "1");
    server.access.revoke_prefix(LOGIN).unwrap();
    let tuning = MountTuning {
        description: Some("new".to_owned()),
        ..MountTuning::default()
    };
    server.access.tune_mount("gcp", &tuning).unwrap();
    assert!(!server.is_valid(&token));
}

#[test]
fn nothing_is_written_into_the_records_of_a_mount_that_was_never_cut_off() {
    let server = Server::ready();
    server.login("gcp/", "1");
    let records = |server: &Server| {
        let keys = server.store.keys();
        let shown = |key: &String| {
            let entry = server.store.get(&[key]).unwrap().remove(0).unwrap();
            String::from_utf8_lossy(&entry.value).into_owned()
        };
        keys.iter().map(shown).collect::<String>()
    };
    assert!(!records(&server).contains("generation"));
    server.access.revoke_prefix(LOGIN).unwrap();
    assert!(records(&server).contains("generations"));
}

#[test]
fn t5_of_a_renewal_and_a_revocation_at_once_no_token_comes_back() {
    for round in 0..50 {
        let server = Server::ready();
        let token = server.login("gcp/", "1");
        let lease = server.lease(LOGIN);
        let fresh = Revalidated {
            lifetime: Lifetime {
                ttl: HOUR,
                ..Lifetime::default()
            },
            group_aliases: None,
        };
        let (renewing, revoking) = (server.another_instance(), server.another_instance());
        let start = Barrier::new(2);
        thread::scope(|threads| {
            threads.spawn(|| {
                start.wait();
                let reference = &TokenReference::Lease(lease.clone());
                let _ = renewing.renew_token(reference, round, Some(&fresh));
            });
            threads.spawn(|| {
                start.wait();
                revoking
                    .revoke_token(&TokenReference::Lease(lease.clone()))
                    .unwrap();
                assert!(
                    revoking
                        .lookup_token(&TokenReference::Id(token.clone()))
                        .is_err()
                );
            });
        });
        assert!(!server.is_valid(&token));
        assert_eq!(server.leases(LOGIN), Vec::<String>::new());
    }
}

#[test]
fn a_login_before_a_cut_is_dead_and_one_after_it_lives() {
    let server = Server::ready();
    let (logging_in, cutting) = (server.another_instance(), server.another_instance());
    let grant = server.grant("1", policies(&["dev"]));
    let start = Barrier::new(2);
    let mut before = vec![server.login("gcp/", "1")];
    thread::scope(|threads| {
        let logins = threads.spawn(|| {
            start.wait();
            let log_in = |_| logging_in.issue_login(&grant).ok().unwrap();
            (0..200).map(log_in).collect::<Vec<_>>()
        });
        start.wait();
        for _ in 0..20 {
            cutting.revoke_prefix(LOGIN).unwrap();
        }
        let meanwhile = logins.join().unwrap();
        before.extend(meanwhile.iter().map(|it| it.client_token.clone()));
    });
    server.access.revoke_prefix(LOGIN).unwrap();
    let after = server.login("gcp/", "1");
    assert!(before.iter().all(|token| !server.is_valid(token)));
    assert!(server.is_valid(&after));
}

#[test]
fn concurrent_cuts_at_related_paths_all_hold() {
    let server = Server::ready();
    server.enable("team/a");
    let tokens = [
        server.login("gcp/", "1"),
        server.login("team/a/", "1"),
        server.child_of(ROOT),
    ];
    let start = Barrier::new(4);
    thread::scope(|threads| {
        for prefix in [
            "auth/gcp/login",
            "auth/team",
            "auth/token/create",
            "auth/gcp",
        ] {
            let (access, start) = (server.another_instance(), &start);
            threads.spawn(move || {
                start.wait();
                access.revoke_prefix(prefix).unwrap();
            });
        }
    });
    assert!(tokens.iter().all(|token| !server.is_valid(token)));
}
