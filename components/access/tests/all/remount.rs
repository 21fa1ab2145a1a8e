//! Moving a mount (contract 6.3).

use crate::server::{HOUR, ROOT, Server, policies};
use gatehouse_access::{
    AdmissionError, CreateRequest, EntityAliases as _, Logins as _, Migration, Migrations as _,
    Mounts as _, Operation, RemountError, TokenLookup as _,
};
use gatehouse_ports::CommitError;

fn login(server: &Server, path: &str) -> Result<String, String> {
    let grant = server.grant_at(path, "1234", policies(&["dev"]));
    let issued = server.access.issue_login(&grant);
    issued
        .map(|it| it.client_token.clone())
        .map_err(|error| error.to_string())
}

#[test]
fn contract_6_3_a_moved_mount_keeps_its_identity_and_ends_its_tokens() {
    let server = Server::ready();
    let token = login(&server, "gcp/").unwrap();
    let child = server.child(&token, &CreateRequest::default());
    let before = server.access.read_mount("gcp").unwrap().unwrap();
    let alias = server
        .access
        .list_entity_aliases(None, 1)
        .unwrap()
        .aliases
        .remove(0);
    let commits = server.store.commits();

    let id = server.access.move_mount("gcp", "cloud/prod").unwrap();
    assert_eq!(server.store.commits() - commits, 1);
    let after = server.access.read_mount("cloud/prod").unwrap().unwrap();
    assert_eq!(server.access.read_mount("gcp"), Ok(None));
    assert_eq!((&after.id, &after.accessor), (&before.id, &before.accessor));
    assert_eq!(after.path, "cloud/prod/");
    assert!(!server.is_valid(&token) && !server.is_valid(child.client_token.as_str()));
    let old = server.admit(ROOT, Operation::Read, "auth/gcp/config");
    assert_eq!(old.err(), Some(AdmissionError::NoMount));

    let moved = server.access.read_entity_alias(&alias.id).unwrap().unwrap();
    assert_eq!(moved.mount_path, "auth/cloud/prod/");
    assert_eq!(moved.canonical_id, alias.canonical_id);
    let again = login(&server, "cloud/prod/").unwrap();
    let reference = gatehouse_access::TokenReference::Id(again.clone());
    let view = server.access.lookup_token(&reference).unwrap();
    assert_eq!(view.entity_id, Some(alias.canonical_id));
    assert_eq!(view.path, "auth/cloud/prod/login");

    let migration = Migration {
        source: "gcp/".to_owned(),
        target: "cloud/prod/".to_owned(),
    };
    assert_eq!(server.access.read_migration(&id), Ok(Some(migration)));
    server.advance(24 * HOUR);
    assert_eq!(server.access.read_migration(&id), Ok(None));
    assert_eq!(server.access.read_migration("x"), Ok(None));
    assert_eq!(server.access.read_migration(&"/".repeat(9999)), Ok(None));
}

#[test]
fn t5_tokens_stay_dead_when_the_mount_comes_back() {
    let server = Server::ready();
    let token = login(&server, "gcp/").unwrap();
    server.access.move_mount("gcp/", "other/").unwrap();
    let of_other = login(&server, "other/").unwrap();
    server.access.move_mount("other", "gcp").unwrap();
    assert!(!server.is_valid(&token) && !server.is_valid(&of_other));
    assert!(server.is_valid(&login(&server, "gcp/").unwrap()));
}

#[test]
fn a_login_that_began_at_the_old_path_earns_nothing() {
    let server = Server::ready();
    let grant = server.grant("1234", policies(&["dev"]));
    server.access.move_mount("gcp", "other").unwrap();
    assert!(server.access.issue_login(&grant).is_err());
}

#[test]
fn refused_moves_change_nothing() {
    let server = Server::ready();
    server.enable("team/a");
    let before = server.store.commits();
    let taken = |path: &str| RemountError::PathInUse(path.to_owned());
    for (from, to, error) in [
        ("none", "x", RemountError::NoMount),
        ("", "x", RemountError::NoMount),
        ("token", "x", RemountError::TokenMount),
        ("gcp", "token", RemountError::ReservedTarget),
        ("gcp", "token/x", RemountError::ReservedTarget),
        ("gcp", "team/a", taken("team/a/")),
        ("gcp", "team/a/b", taken("team/a/")),
        ("gcp", "team", taken("team/a/")),
        ("gcp", "gcp", taken("gcp/")),
        ("gcp", "gcp/x", taken("gcp/")),
        ("gcp", "", RemountError::InvalidTarget),
        ("gcp", "a//b", RemountError::InvalidTarget),
        ("gcp", "a/../b", RemountError::InvalidTarget),
        ("gcp", "a b", RemountError::InvalidTarget),
    ] {
        assert_eq!(
            server.access.move_mount(from, to),
            Err(error),
            "{from} {to}"
        );
    }
    assert_eq!(server.store.commits(), before);
}

#[test]
fn s5_a_move_that_meets_another_writer_is_tried_again() {
    let server = Server::ready();
    server
        .store
        .fail_next_commit(CommitError::Conflict("mount-table".to_owned()));
    server.access.move_mount("gcp", "other").unwrap();
    assert!(server.access.read_mount("other").unwrap().is_some());
    assert_eq!(server.access.list_mounts().unwrap().len(), 2);
}

#[test]
fn of_concurrent_moves_to_one_path_one_wins() {
    let server = Server::ready();
    for number in 0..6 {
        server.enable(&format!("from/{number}"));
    }
    let moved: Vec<bool> = std::thread::scope(|threads| {
        let movers: Vec<_> = (0..6)
            .map(|number| {
                let access = server.another_instance();
                threads.spawn(move || access.move_mount(&format!("from/{number}"), "to").is_ok())
            })
            .collect();
        movers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(moved.iter().filter(|moved| **moved).count(), 1);
    assert_eq!(server.access.list_mounts().unwrap().len(), 8);
}
