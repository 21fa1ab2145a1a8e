//! Initialization, mounts and policies.

use crate::server::{HOUR, ROOT, Server};
use base64::Engine as _;
use gatehouse_access::{
    InitializeError, ListingVisibility, MountError, MountRequest, MountTokenType, Mounts as _,
    Policies as _, Policy, PolicyError, ServiceError, System as _,
};
use gatehouse_ports::{CommitError, StoreError};

#[test]
fn a8_initialization_works_once_and_is_seen_by_every_instance() {
    let server = Server::empty();
    assert_eq!(server.access.current_cluster(), Ok(None));
    let initialized = server.access.initialize(None).ok().unwrap();
    let token = initialized.root_token.as_str();
    assert!(token.starts_with("hvs.") && token.len() == gatehouse_access::ROOT_TOKEN_CHARACTERS);
    let cluster = server.access.current_cluster().unwrap().unwrap();
    assert!(cluster.name.starts_with("gatehouse-cluster-"));
    assert_eq!(
        server.another_instance().current_cluster(),
        Ok(Some(cluster.clone()))
    );
    let again = server.another_instance().initialize(Some("other"));
    assert_eq!(again.err(), Some(InitializeError::AlreadyInitialized));
    assert_eq!(server.access.current_cluster(), Ok(Some(cluster)));
    assert!(server.is_valid(token) && !server.is_valid("other"));
}

#[test]
fn k2_another_root_token_is_like_the_first_one_and_takes_an_initialized_server() {
    let server = Server::empty();
    let early = server.access.generate_root().err();
    assert_eq!(early, Some(ServiceError::NotInitialized));
    let first = server.access.initialize(None).ok().unwrap().root_token;
    let made = server.access.generate_root().ok().unwrap();
    assert_ne!(made.expose(), first);
    assert_eq!(made.expose().len(), gatehouse_access::ROOT_TOKEN_CHARACTERS);
    assert!(server.is_valid(made.expose()) && server.is_valid(&first));
}

#[test]
fn a8_of_racing_initializations_one_wins() {
    for _ in 0..20 {
        let server = Server::empty();
        let winners: Vec<String> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| server.another_instance().initialize(None).ok()))
                .collect();
            let outcomes = racers.into_iter().filter_map(|it| it.join().unwrap());
            outcomes.map(|it| it.root_token).collect()
        });
        assert_eq!(winners.len(), 1);
        assert!(server.is_valid(&winners[0]));
        let roots = server
            .store
            .keys()
            .iter()
            .filter(|it| it.starts_with("token/"))
            .count();
        assert_eq!(roots, 1);
    }
}

#[test]
fn an_unusable_root_token_is_refused() {
    let server = Server::empty();
    for text in ["", "a b", "\n", "é", &"x".repeat(257)] {
        let refused = server.access.initialize(Some(text));
        assert_eq!(refused.err(), Some(InitializeError::UnusableRootToken));
    }
    assert!(server.store.keys().is_empty());
}

fn gcp() -> MountRequest {
    MountRequest {
        mount_type: "gcp".to_owned(),
        ..MountRequest::default()
    }
}

#[test]
fn a_new_server_has_the_token_mount() {
    let server = Server::ready();
    let mounts = server.access.list_mounts().unwrap();
    let paths: Vec<&str> = mounts.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["gcp/", "token/"]);
    assert!(mounts[0].accessor.starts_with("auth_gcp_") && mounts[0].accessor.len() == 17);
    assert!(mounts[1].accessor.starts_with("auth_token_"));
    assert_ne!(mounts[0].id, mounts[1].id);
}

#[test]
fn a_mount_is_shown_as_it_was_asked_for() {
    let server = Server::ready();
    let request = MountRequest {
        description: "d".to_owned(),
        default_lease_ttl: HOUR,
        max_lease_ttl: 2 * HOUR,
        token_type: Some("default-batch".to_owned()),
        listing_visibility: Some("unauth".to_owned()),
        options: vec![
            ("b".to_owned(), "1".to_owned()),
            ("a".to_owned(), "2".to_owned()),
        ],
        local: true,
        ..gcp()
    };
    server.access.enable_mount("a/b/c", &request).unwrap();
    let view = server.access.read_mount("a/b/c/").unwrap().unwrap();
    assert_eq!(server.access.read_mount("a/b/c"), Ok(Some(view.clone())));
    assert_eq!(
        (view.path.as_str(), view.description.as_str()),
        ("a/b/c/", "d")
    );
    assert_eq!(view.configuration.token_type, MountTokenType::DefaultBatch);
    assert_eq!(
        view.configuration.listing_visibility,
        Some(ListingVisibility::Unauthenticated)
    );
    assert_eq!(view.options[0].0, "a");
    assert!(view.local && !view.seal_wrap);
    let in_force = server.mount("a/b/c/");
    assert_eq!(
        (in_force.default_lease_ttl, in_force.max_lease_ttl),
        (HOUR, 2 * HOUR)
    );
    let standard = server.mount("gcp/");
    assert_eq!(
        (standard.default_lease_ttl, standard.max_lease_ttl),
        (768 * HOUR, 768 * HOUR)
    );
    assert_eq!(server.access.read_mount("none"), Ok(None));
}

#[test]
fn contract_6_3_refused_mounts_store_nothing() {
    let server = Server::ready();
    server.enable("a/b");
    let before = server.store.keys();
    let in_use = |path: &str| MountError::PathInUse(path.to_owned());
    for (path, expected) in [
        ("gcp", in_use("gcp/")),
        ("gcp/", in_use("gcp/")),
        ("gcp/below", in_use("gcp/")),
        ("a", in_use("a/b/")),
        ("token", in_use("token/")),
        ("token/x", in_use("token/")),
        ("", MountError::InvalidPath),
        ("/", MountError::InvalidPath),
        ("a//b", MountError::InvalidPath),
        ("../x", MountError::InvalidPath),
        ("x y", MountError::InvalidPath),
        ("é", MountError::InvalidPath),
        (&"x".repeat(257), MountError::InvalidPath),
        (&"x/".repeat(13), MountError::InvalidPath),
    ] {
        assert_eq!(
            server.access.enable_mount(path, &gcp()),
            Err(expected),
            "{path}"
        );
    }
    let other = |change: fn(&mut MountRequest)| {
        let mut request = gcp();
        change(&mut request);
        server.access.enable_mount("new", &request).unwrap_err()
    };
    assert_eq!(other(|it| it.mount_type.clear()), MountError::MissingType);
    let unknown = other(|it| it.mount_type = "ldap".to_owned());
    assert_eq!(unknown, MountError::UnknownType("ldap".to_owned()));
    let leases = other(|it| (it.default_lease_ttl, it.max_lease_ttl) = (2, 1));
    assert_eq!(leases, MountError::DefaultAboveMaximum);
    assert_eq!(
        other(|it| it.default_lease_ttl = 769 * HOUR),
        MountError::DefaultAboveMaximum
    );
    let token_type = other(|it| it.token_type = Some("x".to_owned()));
    assert_eq!(token_type, MountError::InvalidTokenType);
    let visibility = other(|it| it.listing_visibility = Some("x".to_owned()));
    assert_eq!(visibility, MountError::InvalidListingVisibility);
    assert_eq!(server.store.keys(), before);
}

#[test]
fn a_neighbour_with_a_longer_name_is_no_descendant() {
    let server = Server::ready();
    server.enable("gcp-2");
    server.enable("gc");
    server.enable("gcp2/x");
}

#[test]
fn disabling_gives_the_identifier_once_and_spares_the_token_mount() {
    let server = Server::ready();
    let id = server.mount("gcp/").id;
    assert_eq!(server.access.disable_mount("gcp"), Ok(Some(id.clone())));
    assert_eq!(server.access.disable_mount("gcp"), Ok(None));
    assert_eq!(
        server.access.disable_mount("token/"),
        Err(MountError::TokenMount)
    );
    server.enable("gcp");
    assert_ne!(server.mount("gcp/").id, id);
}

#[test]
fn a_disabled_mount_is_listed_from_the_same_commit_on_until_it_is_forgotten() {
    let server = Server::ready();
    let id = server.mount("gcp/").id;
    assert_eq!(server.access.list_disabled_mounts(9), Ok(Vec::new()));

    let conflict = CommitError::Conflict("mount-table".to_owned());
    server.store.fail_next_commit(conflict);
    let before = server.store.commits();
    server.access.disable_mount("gcp").unwrap();
    assert_eq!(server.store.commits(), before + 1);
    let listed = || server.another_instance().list_disabled_mounts(9);
    assert_eq!(listed(), Ok(vec![id.clone()]));
    server.access.disable_mount("gcp").unwrap();
    server.enable("gcp");
    assert_eq!(listed(), Ok(vec![id.clone()]));

    let full = StoreError::Unavailable("full".to_owned());
    server.store.fail_next_commit(full.clone().into());
    assert_eq!(
        server.access.forget_disabled_mount(&id),
        Err(full.clone().into())
    );
    assert_eq!(listed(), Ok(vec![id.clone()]));
    for _ in 0..2 {
        server.access.forget_disabled_mount(&id).unwrap();
        assert_eq!(listed(), Ok(Vec::new()));
    }

    server.store.fail_next_commit(full.clone().into());
    assert_eq!(
        server.access.disable_mount("gcp"),
        Err(MountError::Failure(full.into()))
    );
    assert_eq!(listed(), Ok(Vec::new()));
    server.mount("gcp/");
}

#[test]
fn disabled_mounts_are_listed_in_order_and_no_more_than_asked_for() {
    let server = Server::ready();
    let mut ids: Vec<String> = (0..1001)
        .map(|_| {
            server.enable("other");
            server.access.disable_mount("other").unwrap().unwrap()
        })
        .collect();
    ids.sort_unstable();
    for (limit, shown) in [(0, 1), (1, 1), (7, 7), (1000, 1000), (u32::MAX, 1000)] {
        let listed = server.access.list_disabled_mounts(limit).unwrap();
        assert_eq!(listed, ids[..shown]);
    }
    let mount = server.mount("gcp/");
    let before = server.store.keys();
    for id in [mount.id.as_str(), "", "gcp/", &"x".repeat(1000)] {
        server.access.forget_disabled_mount(id).unwrap();
    }
    assert_eq!(server.store.keys(), before);
    server.access.forget_disabled_mount(&ids[3]).unwrap();
    ids.remove(3);
    assert_eq!(server.access.list_disabled_mounts(1000).unwrap(), ids);
}

#[test]
fn of_racing_mounts_at_related_paths_one_is_enabled() {
    for _ in 0..20 {
        let server = Server::ready();
        std::thread::scope(|scope| {
            for path in ["r", "r/a", "r/a/b", "r"] {
                let server = &server;
                scope.spawn(move || {
                    let outcome = server.another_instance().enable_mount(path, &gcp());
                    assert!(matches!(outcome, Ok(()) | Err(MountError::PathInUse(_))));
                });
            }
        });
        let mounts = server.access.list_mounts().unwrap();
        let related: Vec<_> = mounts
            .iter()
            .filter(|it| it.path.starts_with("r/"))
            .collect();
        assert_eq!(related.len(), 1, "{related:?}");
    }
}

const TEXT: &str = "# kept\npath \"a\" {\n  capabilities = [\"read\"]\n}\n";

#[test]
fn policies_are_read_byte_for_byte_also_from_base64() {
    let server = Server::ready();
    server.access.write_policy("Dev", TEXT).unwrap();
    let encoded = base64::engine::general_purpose::STANDARD.encode(TEXT);
    server.access.write_policy("coded", &encoded).unwrap();
    for name in ["dev", "coded", "DEV"] {
        let expected = Policy {
            name: name.to_lowercase(),
            text: TEXT.to_owned(),
        };
        assert_eq!(server.access.read_policy(name), Ok(Some(expected)));
    }
    let names = ["coded", "default", "dev", "root"].map(str::to_owned);
    assert_eq!(server.access.list_policies(), Ok(names.to_vec()));
    let root = Policy {
        name: "root".to_owned(),
        text: String::new(),
    };
    assert_eq!(server.access.read_policy("root"), Ok(Some(root)));
    assert_eq!(server.access.read_policy("none"), Ok(None));
}

#[test]
fn built_in_policies_are_protected() {
    let server = Server::ready();
    for name in ["root", " Root", "response-wrapping", "control-group"] {
        let expected = name.trim().to_lowercase();
        let written = server.access.write_policy(name, TEXT);
        assert_eq!(written, Err(PolicyError::CannotUpdate(expected.clone())));
        assert_eq!(
            server.access.delete_policy(name),
            Err(PolicyError::CannotDelete(expected))
        );
    }
    assert_eq!(
        server.access.delete_policy("default"),
        Err(PolicyError::CannotDeleteDefault)
    );
    assert_eq!(server.access.write_policy("default", TEXT), Ok(()));
}

#[test]
fn a_policy_that_is_refused_leaves_the_old_one() {
    let server = Server::ready();
    server.access.write_policy("dev", TEXT).unwrap();
    let long = format!("# {}", "x".repeat(262_144));
    for (text, expected) in [
        ("", PolicyError::Empty),
        (" \n", PolicyError::Empty),
        (long.as_str(), PolicyError::TooLong),
        (
            "path \"a\" { capabilities = [\"all\"] }",
            PolicyError::InvalidCapability("all".to_owned()),
        ),
    ] {
        assert_eq!(server.access.write_policy("dev", text), Err(expected));
    }
    assert_eq!(
        server.access.read_policy("dev").unwrap().unwrap().text,
        TEXT
    );
    for name in ["", " ", "a//b", "a/", "a/../b", "a\nb", &"x".repeat(129)] {
        assert_eq!(
            server.access.write_policy(name, TEXT),
            Err(PolicyError::InvalidName)
        );
    }
    server.access.delete_policy("dev").unwrap();
    assert_eq!(server.access.read_policy("dev"), Ok(None));
    server.access.delete_policy("dev").unwrap();
}

#[test]
fn an_empty_store_takes_neither_policies_nor_mounts() {
    let server = Server::empty();
    let not_initialized = ServiceError::NotInitialized;
    let policy = server.access.write_policy("dev", TEXT);
    assert_eq!(policy, Err(PolicyError::Failure(not_initialized.clone())));
    let mount = server.access.enable_mount("gcp", &gcp());
    assert_eq!(mount, Err(MountError::Failure(not_initialized)));
    assert!(server.store.keys().is_empty());
    assert!(!server.is_valid(ROOT));
}
