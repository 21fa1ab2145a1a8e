//! Batch tokens are opened by the key that sealed them, unaltered, and while that key exists (SEC-T8).

use crate::server::batch::{batch, bytes_of, key_number, living, text_of};
use crate::server::{HOUR, Server};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use gatehouse_access::{
    AdmissionError, Issued, Logins as _, MountTuning, Mounts as _, Operation, System as _,
    TokenLookup as _,
};
use gatehouse_ports::{CommitError, Random as _};
use proptest::prelude::*;

const WEEK: u64 = 7 * 24 * HOUR;

#[test]
fn t8_a_token_of_which_anything_was_changed_is_no_token() {
    let server = Server::ready();
    let issued = server.log_in(batch());
    let token = issued.client_token.as_str();
    assert!(server.is_valid(token));
    let bytes = bytes_of(token);
    for at in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut altered = bytes.clone();
            altered[at] ^= bit;
            assert!(!server.is_valid(&text_of(&altered)), "byte {at}");
        }
        assert!(!server.is_valid(&text_of(&bytes[..at])), "cut to {at}");
    }
    for at in 4..token.len() {
        let mut altered = token.to_owned();
        let other = if &token[at..=at] == "A" { "B" } else { "A" };
        altered.replace_range(at..=at, other);
        assert!(!server.is_valid(&altered), "character {at}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(!server.is_valid(&text_of(&longer)));
}

#[test]
fn t8_a_token_has_one_spelling() {
    let server = Server::ready();
    let issued = server.log_in(batch());
    let token = issued.client_token.as_str();
    let padded = |extra: usize| format!("{token}{}", "=".repeat(extra));
    for spelling in [
        padded(1),
        padded(2),
        format!(
            "hvb.{}",
            URL_SAFE.encode([bytes_of(token), vec![0]].concat())
        ),
        format!("HVB.{}", &token[4..]),
        format!("b.{}", &token[4..]),
        format!("hvs.{}", &token[4..]),
        format!(" {token}"),
        format!("{token}\n"),
        token[4..].to_owned(),
        format!("hvb.{token}"),
    ] {
        assert!(!server.is_valid(&spelling), "{spelling}");
        let refusal = server.admit(&spelling, Operation::Read, "sys/auth");
        assert_eq!(refusal, Err(AdmissionError::InvalidToken));
    }
}

#[test]
fn t8_a_key_opens_the_tokens_of_its_number_and_server_only() {
    let server = Server::ready();
    let old = server.log_in(batch());
    server.advance(WEEK);
    let new = server.log_in(batch());
    assert_eq!((key_number(&old), key_number(&new)), (1, 2));
    for (token, number) in [
        (&old, 2_u32),
        (&new, 1),
        (&old, 0),
        (&old, 3),
        (&old, u32::MAX),
    ] {
        let mut bytes = bytes_of(token.client_token.as_str());
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        assert!(!server.is_valid(&text_of(&bytes)), "{number}");
    }

    let others = Server::ready();
    others.random.fill(&mut [0; 8]).unwrap();
    let foreign = others.log_in(batch());
    assert_eq!(key_number(&foreign), 1);
    assert!(others.is_valid(foreign.client_token.as_str()));
    assert!(!server.is_valid(foreign.client_token.as_str()));
}

proptest! {
    #[test]
    fn t8_no_text_that_was_not_issued_is_a_token(text in "[A-Za-z0-9_=.-]{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let server = Server::ready();
        server.log_in(batch());
        let text = format!("hvb.{text}");
        prop_assert!(!server.is_valid(&text));
        let under_the_key = [&1_u32.to_be_bytes(), bytes.as_slice()].concat();
        prop_assert!(!server.is_valid(&text_of(&under_the_key)));
    }
}

#[test]
fn t8_keys_rotate_and_old_tokens_stay_valid_until_their_end() {
    let server = Server::ready();
    server.access.maintain().unwrap();
    assert!(
        !server
            .store
            .keys()
            .iter()
            .any(|key| key.starts_with("batch-key"))
    );

    let old = server.log_in(living(30 * 24 * HOUR));
    let commits = server.store.commits();
    server.advance(WEEK - 1);
    server.access.maintain().unwrap();
    assert_eq!(server.store.commits(), commits, "rotated before it was due");
    let last = server.log_in(living(30 * 24 * HOUR));
    assert_eq!((key_number(&old), key_number(&last)), (1, 1));

    server.advance(1);
    server.access.maintain().unwrap();
    assert_eq!(server.store.commits(), commits + 1);
    server.another_instance().maintain().unwrap();
    assert_eq!(server.store.commits(), commits + 1, "rotated twice");
    assert_eq!(key_number(&server.log_in(batch())), 2);
    assert!(server.is_valid(old.client_token.as_str()));

    // To the last second of the last token under the first key, and not beyond.
    server.advance(30 * 24 * HOUR - 2);
    assert!(server.is_valid(last.client_token.as_str()));
    assert!(!server.is_valid(old.client_token.as_str()));
    server.advance(1);
    assert!(!server.is_valid(last.client_token.as_str()));
}

#[test]
fn t8_a_key_is_removed_when_no_token_under_it_can_be_alive() {
    let server = Server::ready();
    let key = || server.store.keys().contains(&"batch-key/1".to_owned());
    server.log_in(living(HOUR));
    server.advance(WEEK + 768 * HOUR - 1);
    assert!(key());
    server.advance(1);
    assert!(!key());

    // A longer lease than usual keeps its key for as long as it needs it.
    let server = Server::ready();
    let key = || server.store.keys().contains(&"batch-key/1".to_owned());
    server.log_in(living(HOUR));
    let year = 365 * 24 * HOUR;
    let tuning = MountTuning {
        max_lease_ttl: Some(year),
        ..MountTuning::default()
    };
    server.access.tune_mount("gcp", &tuning).unwrap();
    server.advance(HOUR);
    let long = server.log_in(living(year));
    let commits = server.store.commits();
    server.log_in(living(year));
    assert_eq!(server.store.commits(), commits, "raised twice");
    server.advance(year - 1);
    server.access.maintain().unwrap();
    assert!(key());
    assert!(server.is_valid(long.client_token.as_str()));
    server.advance(WEEK);
    assert!(!key());
}

#[test]
fn several_hosts_share_one_key() {
    let server = Server::ready();
    let other = server.another_instance();
    let grant = server.grant("1234", batch());
    let first = server.access.issue_login(&grant).ok().unwrap();
    let second = other.issue_login(&grant).ok().unwrap();
    assert_eq!((key_number(&first), key_number(&second)), (1, 1));
    for token in [&first, &second] {
        assert!(server.is_valid(token.client_token.as_str()));
        assert!(other.lookup_token(&token.reference()).is_ok());
    }
    let conflict = CommitError::Conflict("batch-key-in-use".to_owned());
    server.store.fail_next_commit(conflict);
    server.advance(WEEK);
    let third = other.issue_login(&grant).ok().unwrap();
    assert_eq!(key_number(&third), 2);
    assert!(server.is_valid(third.client_token.as_str()));
}

#[test]
fn hosts_that_make_their_first_token_at_once_make_one_key() {
    let server = Server::ready();
    let made: Vec<Issued> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|host| {
                let access = server.another_instance();
                let grant = server.grant(&format!("host-{host}"), batch());
                scope.spawn(move || access.issue_login(&grant).ok().unwrap())
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for token in &made {
        assert_eq!(key_number(token), 1);
        assert!(server.is_valid(token.client_token.as_str()));
    }
    let mut keys = server.store.keys();
    keys.retain(|key| key.starts_with("batch-key/"));
    assert_eq!(keys, ["batch-key/1"]);
}
