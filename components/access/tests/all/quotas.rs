//! How much there may be at once of what callers make (SEC-T12).

use std::num::NonZeroU32;

use crate::server::{HOUR, ROOT, Server};
use gatehouse_access::{
    Issued, LeaseTree as _, Lifetime, LoginError, Logins as _, Renewal as _, Revalidated,
    Revocation as _, Settings, TokenParameters, TokenReference,
};
use gatehouse_ports::{Change, Put, Store as _};

fn with_quotas(per_mount: u32, per_role: u32) -> Server {
    let mut server = Server::ready();
    server.access = server.another_instance().with_settings(Settings {
        live_tokens_per_mount: NonZeroU32::new(per_mount),
        live_tokens_per_role: NonZeroU32::new(per_role),
        ..Settings::DEFAULT
    });
    server
}

fn living(ttl: u64) -> TokenParameters {
    TokenParameters {
        lifetime: Lifetime {
            ttl,
            ..Lifetime::default()
        },
        ..TokenParameters::default()
    }
}

fn log_in(server: &Server, ttl: u64) -> Result<Issued, LoginError> {
    server
        .access
        .issue_login(&server.grant("1234", living(ttl)))
}

fn log_in_under(server: &Server, role: &str) -> Result<Issued, LoginError> {
    let mut grant = server.grant("1234", living(HOUR));
    grant.role = role.to_owned();
    server.access.issue_login(&grant)
}

fn places(server: &Server) -> usize {
    let keys = server.store.keys();
    keys.iter().filter(|key| key.starts_with("quota/")).count()
}

#[test]
fn t12_a_login_over_the_quota_stores_nothing_and_expired_tokens_never_count() {
    let server = with_quotas(3, 0);
    for _ in 0..3 {
        log_in(&server, HOUR).unwrap();
    }
    let (keys, commits) = (server.store.keys(), server.store.commits());
    let refused = log_in(&server, HOUR).err();
    assert_eq!(refused, Some(LoginError::TooManyTokensOfMount(3)));
    assert_eq!(
        (server.store.keys(), server.store.commits()),
        (keys, commits)
    );
    server.advance(HOUR - 1);
    assert!(log_in(&server, HOUR).is_err());
    server.advance(1);
    for _ in 0..3 {
        log_in(&server, HOUR).unwrap();
    }
    assert!(log_in(&server, HOUR).is_err());
}

#[test]
fn t12_a_token_that_ends_gives_its_place_back_however_it_ends() {
    let server = with_quotas(2, 2);
    let access = &server.access;
    let full = || log_in(&server, HOUR).is_err();

    let first = log_in(&server, HOUR).unwrap();
    let second = log_in(&server, HOUR).unwrap();
    assert!(full());
    let reference = &TokenReference::Id(first.client_token.clone());
    assert_eq!(access.revoke_token(reference), Ok(true));
    log_in(&server, HOUR).unwrap();
    assert!(full());
    let reference = &TokenReference::Id(second.client_token.clone());
    assert_eq!(access.revoke_token_alone(reference), Ok(true));
    log_in(&server, HOUR).unwrap();
    assert!(full());

    access.revoke_prefix("auth/gcp").unwrap();
    let once = TokenParameters {
        num_uses: 1,
        ..living(HOUR)
    };
    let used = access.issue_login(&server.grant("1234", once)).unwrap();
    log_in(&server, HOUR).unwrap();
    assert!(full());
    let lookup = server.admit(
        used.client_token.as_str(),
        gatehouse_access::Operation::Read,
        "auth/token/lookup-self",
    );
    assert!(lookup.is_ok());
    log_in(&server, HOUR).unwrap();
    assert!(full());
}

#[test]
fn t12_a_renewed_token_keeps_its_place_for_as_long_as_it_lives() {
    let server = with_quotas(1, 0);
    let token = log_in(&server, HOUR).unwrap();
    server.advance(HOUR / 2);
    let fresh = Revalidated {
        lifetime: living(HOUR).lifetime,
        group_aliases: None,
    };
    let reference = &TokenReference::Id(token.client_token.clone());
    server
        .access
        .renew_token(reference, HOUR, Some(&fresh))
        .unwrap();
    server.advance(HOUR / 2);
    assert!(log_in(&server, HOUR).is_err());
    server.advance(HOUR / 2);
    assert!(log_in(&server, HOUR).is_ok());
}

#[test]
fn t12_mounts_and_roles_are_counted_apart() {
    let server = with_quotas(3, 2);
    server.enable("other");
    for _ in 0..2 {
        log_in_under(&server, "a").unwrap();
    }
    let refused = log_in_under(&server, "a").err();
    assert_eq!(refused, Some(LoginError::TooManyTokensOfRole(2)));
    log_in_under(&server, "b").unwrap();
    let refused = log_in_under(&server, "b").err();
    assert_eq!(refused, Some(LoginError::TooManyTokensOfMount(3)));
    let mut elsewhere = server.grant_at("other/", "1234", living(HOUR));
    elsewhere.role = "a".to_owned();
    server.access.issue_login(&elsewhere).unwrap();
}

#[test]
fn t12_what_is_no_stored_token_of_a_login_takes_no_place() {
    let server = with_quotas(1, 1);
    for _ in 0..3 {
        server.log_in(crate::server::batch::batch());
        server.child(ROOT, &gatehouse_access::CreateRequest::default());
    }
    assert_eq!(places(&server), 0);
    let unlimited = with_quotas(0, 0);
    log_in(&unlimited, HOUR).unwrap();
    assert_eq!(places(&unlimited), 0);
}

#[test]
fn t12_a_great_quota_is_never_exceeded_and_refuses_only_when_it_is_nearly_full() {
    const MOST: u32 = 1_500;
    let server = with_quotas(MOST, 0);
    let mut earned = 0;
    while log_in(&server, HOUR).is_ok() {
        earned += 1;
        assert!(earned <= MOST);
    }
    assert!(earned >= MOST * 98 / 100, "{earned}");
    assert_eq!(places(&server), earned as usize);
}

/// A quota of the default size.
const GREAT: u32 = 1_000_000;
/// More places than one that counts a sample of [`GREAT`] has.
const ALL_PLACES: u32 = 17_000;

/// Takes the places of these numbers in the quota of the one mount, or gives them back.
fn set_places(server: &Server, numbers: impl Iterator<Item = u32>, taken: bool) {
    let mount = server.mount("gcp/").id;
    let numbers: Vec<u32> = numbers.collect();
    for numbers in numbers.chunks(500) {
        let changes = numbers.iter().map(|number| {
            let key = format!("quota/token/{mount}/0/{number}");
            match taken {
                true => Change::Put(Put {
                    key,
                    value: b"\0\x01{}".to_vec(),
                    expires_at: None,
                }),
                false => Change::Delete(key),
            }
        });
        server.store.commit(Vec::new(), changes.collect()).unwrap();
    }
}

#[test]
fn t12_a_great_quota_counts_a_sample_of_the_tokens() {
    let server = with_quotas(GREAT, 0);
    for _ in 0..3_000 {
        log_in(&server, HOUR).unwrap();
    }
    // 49 are expected, with a standard deviation of 7.
    assert!((20..=80).contains(&places(&server)), "{}", places(&server));
    server.advance(HOUR);
    assert_eq!(places(&server), 0);
}

#[test]
fn t12_a_great_quota_that_is_full_refuses_every_login() {
    let server = with_quotas(GREAT, 0);
    set_places(&server, 0..ALL_PLACES, true);
    let keys = server.store.keys();
    for _ in 0..50 {
        let refused = log_in(&server, HOUR).err();
        assert_eq!(refused, Some(LoginError::TooManyTokensOfMount(GREAT)));
    }
    assert_eq!(server.store.keys(), keys);
    set_places(&server, (0..ALL_PLACES).step_by(20), false);
    for _ in 0..50 {
        log_in(&server, HOUR).unwrap();
    }
}
