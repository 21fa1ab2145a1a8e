//! Secrets that belong to one token, and end with it (contract 6.1).

use crate::server::batch::batch;
use crate::server::{HOUR, ROOT, Server, policies};
use base64::Engine as _;
use gatehouse_access::{
    AdmissionError, CreateRequest, Cubbyhole as _, CubbyholeError, Mounts as _, Operation,
    Policies as _, Renewal as _, Revalidated, Revocation as _, ServiceError, TokenParameters,
    TokenReference, WritePermission,
};
use gatehouse_ports::{CommitError, StoreError};

const CONTENT: &[u8] = br#"{"inner":"hvs.inner"}"#;
const ANY: WritePermission = WritePermission {
    create: true,
    update: true,
};

fn write(server: &Server, token: &str, path: &str) {
    let written = server.access.write_cubbyhole(token, path, CONTENT, ANY);
    assert_eq!(written, Ok(()), "{path}");
}

fn read(server: &Server, token: &str, path: &str) -> Option<Vec<u8>> {
    server.access.read_cubbyhole(token, path).unwrap()
}

/// A child of the root token, with policy `default`.
fn token(server: &Server, changes: CreateRequest) -> String {
    let request = CreateRequest {
        policies: Some(vec!["default".to_owned()]),
        ..changes
    };
    let issued = server.child(ROOT, &request);
    issued.client_token.clone()
}

fn holds_secrets(server: &Server) -> bool {
    let keys = server.store.keys();
    keys.iter().any(|key| key.starts_with("cubbyhole/"))
}

#[test]
fn each_token_sees_what_it_keeps_and_nothing_of_another() {
    let server = Server::ready();
    let (mine, other) = (
        token(&server, CreateRequest::default()),
        token(&server, CreateRequest::default()),
    );
    write(&server, &mine, "a/b");
    assert_eq!(read(&server, &mine, "a/b").as_deref(), Some(CONTENT));
    assert_eq!(read(&server, &mine, "a"), None);
    assert_eq!(read(&server, &other, "a/b"), None);
    assert_eq!(read(&server, ROOT, "a/b"), None);
    assert_eq!(server.access.list_cubbyhole(&other, ""), Ok(Vec::new()));

    let instance = server.another_instance();
    assert_eq!(instance.delete_cubbyhole(&other, "a/b"), Ok(()));
    assert_eq!(read(&server, &mine, "a/b").as_deref(), Some(CONTENT));
    assert_eq!(instance.delete_cubbyhole(&mine, "a/b"), Ok(()));
    assert_eq!(instance.delete_cubbyhole(&mine, "a/b"), Ok(()));
    assert_eq!(read(&server, &mine, "a/b"), None);
    assert!(!holds_secrets(&server));
}

#[test]
fn a_list_shows_one_folder_and_further_folders_with_a_slash() {
    let server = Server::ready();
    for path in ["b", "a/x", "a/y/1", "a/y/2", "a", "a-c"] {
        write(&server, ROOT, path);
    }
    for (folder, keys) in [
        ("", &["a", "a-c", "a/", "b"][..]),
        ("a", &["x", "y/"]),
        ("a/", &["x", "y/"]),
        ("a/y", &["1", "2"]),
        ("b", &[]),
        ("none", &[]),
    ] {
        let listed = server.access.list_cubbyhole(ROOT, folder).unwrap();
        assert_eq!(listed, keys, "{folder}");
    }
}

#[test]
fn t2_what_a_token_keeps_is_stored_under_its_hash_and_not_in_clear() {
    let server = Server::ready();
    write(&server, ROOT, "the-name");
    let stored = server.store.values().concat();
    let stored = String::from_utf8_lossy(&stored);
    let encoded = base64::engine::general_purpose::STANDARD_NO_PAD.encode(CONTENT);
    for secret in [ROOT, "hvs.inner", "the-name", encoded.as_str()] {
        assert!(!stored.contains(secret), "{secret}");
        assert!(!server.store.keys().concat().contains(secret), "{secret}");
    }
}

#[test]
fn a_write_does_what_is_permitted_and_nothing_else() {
    let server = Server::ready();
    let to = |create, update| WritePermission { create, update };
    let put = |path, permission| {
        let access = &server.access;
        access.write_cubbyhole(ROOT, path, CONTENT, permission)
    };
    assert_eq!(put("a", to(false, true)), Err(CubbyholeError::Denied));
    assert!(!holds_secrets(&server));
    assert_eq!(put("a", to(true, false)), Ok(()));
    let before = server.store.commits();
    assert_eq!(put("a", to(true, false)), Err(CubbyholeError::Denied));
    assert_eq!(server.store.commits(), before);
    assert_eq!(put("a", to(false, true)), Ok(()));
}

#[test]
fn t5_secrets_end_with_their_token_however_that_ends() {
    let server = Server::ready();
    let before = server.store.keys();
    let make = |ttl: u64, num_uses| {
        let changes = CreateRequest {
            ttl: Some(ttl as i64),
            num_uses: Some(num_uses),
            ..CreateRequest::default()
        };
        let made = token(&server, changes);
        write(&server, &made, "a");
        write(&server, &made, "b");
        assert!(holds_secrets(&server));
        made
    };
    let gone = |token: &str, how: &str| {
        assert!(!holds_secrets(&server), "{how}");
        assert_eq!(server.store.keys(), before, "{how}");
        let invalid = CubbyholeError::InvalidToken;
        let access = &server.access;
        assert_eq!(access.read_cubbyhole(token, "a"), Err(invalid.clone()));
        assert_eq!(access.list_cubbyhole(token, ""), Err(invalid.clone()));
        assert_eq!(access.delete_cubbyhole(token, "a"), Err(invalid.clone()));
        let written = access.write_cubbyhole(token, "a", CONTENT, ANY);
        assert_eq!(written, Err(invalid));
        assert_eq!(server.store.keys(), before, "{how}");
    };

    let revoked = make(HOUR, 0);
    let reference = &TokenReference::Id(revoked.clone());
    assert_eq!(server.access.revoke_token(reference), Ok(true));
    gone(&revoked, "revocation");

    let left = make(HOUR, 0);
    let reference = &TokenReference::Id(left.clone());
    assert_eq!(server.access.revoke_token_alone(reference), Ok(true));
    gone(&left, "revocation alone");

    let used = make(HOUR, 1);
    let last = server.admit(&used, Operation::Read, "auth/token/lookup-self");
    assert!(last.is_ok());
    gone(&used, "its last use");

    let expired = make(60, 0);
    server.advance(60);
    gone(&expired, "its time");
}

#[test]
fn t5_secrets_of_descendants_and_of_a_disabled_mounts_tokens_go_with_the_sweep() {
    let server = Server::ready();
    let before = server.store.keys();
    let parent = token(&server, CreateRequest::default());
    let child = server.child(&parent, &CreateRequest::default());
    write(&server, child.client_token.as_str(), "a");
    let reference = &TokenReference::Id(parent.clone());
    assert_eq!(server.access.revoke_token(reference), Ok(true));
    assert_eq!(server.store.keys(), before);

    let login = server.log_in(policies(&["dev"]));
    write(&server, login.client_token.as_str(), "a");
    server.access.disable_mount("gcp").unwrap();
    server.tidy();
    assert!(!holds_secrets(&server));
}

#[test]
fn a_renewal_moves_the_end_of_the_secrets_along() {
    let server = Server::ready();
    let login = server.log_in(TokenParameters::default());
    let token = login.client_token.as_str();
    write(&server, token, "a");
    let fresh = Revalidated::default();
    for _ in 0..3 {
        server.advance(700 * HOUR / 3);
        let reference = &TokenReference::Id(token.into());
        let renewed = server.access.renew_token(reference, 0, Some(&fresh));
        assert!(renewed.is_ok());
        assert_eq!(read(&server, token, "a").as_deref(), Some(CONTENT));
    }
    server.advance(68 * HOUR);
    assert!(!server.is_valid(token) && !holds_secrets(&server));
}

#[test]
fn t4_the_last_use_of_a_token_may_be_to_read_what_it_keeps() {
    let server = Server::ready();
    let changes = || CreateRequest {
        num_uses: Some(2),
        ..CreateRequest::default()
    };
    let before = server.store.keys();
    let token_of_two = token(&server, changes());
    let admit = |token: &str, operation, path| server.admit(token, operation, path);
    admit(&token_of_two, Operation::CreateOrUpdate, "cubbyhole/a").unwrap();
    write(&server, &token_of_two, "a");
    let last = admit(&token_of_two, Operation::Read, "cubbyhole/a").unwrap();
    assert_eq!(last.caller.unwrap().num_uses, 0);
    assert!(!server.is_valid(&token_of_two));
    let again = admit(&token_of_two, Operation::Read, "cubbyhole/a");
    assert_eq!(again, Err(AdmissionError::InvalidToken));
    assert_eq!(read(&server, &token_of_two, "a").as_deref(), Some(CONTENT));
    assert_eq!(server.store.keys(), before);

    // Without the answer they go by themselves.
    let unanswered = token(&server, changes());
    admit(&unanswered, Operation::CreateOrUpdate, "cubbyhole/a").unwrap();
    write(&server, &unanswered, "a");
    admit(&unanswered, Operation::List, "cubbyhole").unwrap();
    assert!(holds_secrets(&server));
    server.advance(60);
    assert_eq!(server.store.keys(), before);

    // A policy that refuses takes the use all the same, and the answer is none.
    let refused = token(
        &server,
        CreateRequest {
            num_uses: Some(1),
            no_default_policy: true,
            ..CreateRequest::default()
        },
    );
    write(&server, &refused, "a");
    let text = "path \"x\" { capabilities = [\"read\"] }";
    server.access.write_policy("default", text).unwrap();
    let denied = admit(&refused, Operation::Read, "cubbyhole/a");
    assert_eq!(denied, Err(AdmissionError::Denied));
    assert!(!server.is_valid(&refused));
    assert!(!holds_secrets(&server));
}

#[test]
fn t4_a_last_use_that_shows_no_secret_ends_them_at_once() {
    let server = Server::ready();
    for (operation, path) in [
        (Operation::CreateOrUpdate, "cubbyhole/a"),
        (Operation::Delete, "cubbyhole/a"),
        (Operation::Read, "auth/token/lookup-self"),
        (Operation::Read, "cubbyhole//a"),
    ] {
        let changes = CreateRequest {
            num_uses: Some(1),
            ..CreateRequest::default()
        };
        let token = token(&server, changes);
        write(&server, &token, "a");
        assert!(holds_secrets(&server));
        let _ = server.admit(&token, operation, path);
        assert!(!server.is_valid(&token), "{path}");
        assert!(!holds_secrets(&server), "{operation:?} {path}");
    }
}

#[test]
fn a_token_with_a_chosen_identifier_finds_nothing_of_an_earlier_one() {
    let server = Server::ready();
    let chosen = || CreateRequest {
        id: Some("chosen".to_owned()),
        num_uses: Some(1),
        ..CreateRequest::default()
    };
    let first = token(&server, chosen());
    write(&server, &first, "a");
    server
        .admit(&first, Operation::Read, "cubbyhole/a")
        .unwrap();
    assert!(holds_secrets(&server));
    let second = token(&server, chosen());
    assert!(!holds_secrets(&server));
    assert_eq!(
        (first.as_str(), read(&server, &second, "a")),
        ("chosen", None)
    );
    // Its last use shows nothing of the first either.
    server
        .admit(&second, Operation::Read, "cubbyhole/a")
        .unwrap();
    let at_last = server.access.read_cubbyhole(&second, "a");
    assert_eq!(at_last, Err(CubbyholeError::InvalidToken));
    let second = token(&server, chosen());
    write(&server, &second, "b");
    assert_eq!(
        server.access.list_cubbyhole(&second, ""),
        Ok(vec!["b".to_owned()])
    );
}

#[test]
fn batch_tokens_keep_nothing() {
    let server = Server::ready();
    let login = server.log_in(batch());
    let token = login.client_token.as_str();
    let access = &server.access;
    let refused = CubbyholeError::BatchToken;
    assert_eq!(access.read_cubbyhole(token, "a"), Err(refused.clone()));
    assert_eq!(access.list_cubbyhole(token, ""), Err(refused.clone()));
    assert_eq!(access.delete_cubbyhole(token, "a"), Err(refused.clone()));
    let written = access.write_cubbyhole(token, "a", CONTENT, ANY);
    assert_eq!(written, Err(refused));
    assert!(!holds_secrets(&server));
}

#[test]
fn s14_what_a_token_keeps_is_bounded_and_full_at_the_bound() {
    let server = Server::ready();
    let put = |path: &str, length: usize| {
        let content = vec![b'"'; length];
        server.access.write_cubbyhole(ROOT, path, &content, ANY)
    };
    let too_large = || Err(CubbyholeError::TooLarge(524_288));
    let longest = "p".repeat(512);
    assert_eq!(put(&longest, 524_288 - 512), Ok(()));
    let before = server.store.commits();
    assert_eq!(put(&longest, 524_289 - 512), too_large());
    assert_eq!(put("a", 0), too_large());
    let longer = "p".repeat(513);
    assert_eq!(put(&longer, 1), Err(CubbyholeError::PathTooLong(512)));
    assert_eq!(server.store.commits(), before);
    let kept = read(&server, ROOT, &longest).unwrap();
    assert_eq!(kept.len(), 524_288 - 512);

    server.access.delete_cubbyhole(ROOT, &longest).unwrap();
    for number in 0..1024 {
        assert_eq!(put(&format!("s{number}"), 1), Ok(()));
    }
    let before = server.store.commits();
    assert_eq!(
        put("one-more", 1),
        Err(CubbyholeError::TooManySecrets(1024))
    );
    assert_eq!(server.store.commits(), before);
    assert_eq!(put("s7", 2), Ok(()));
    assert_eq!(server.access.list_cubbyhole(ROOT, "").unwrap().len(), 1024);
}

#[test]
fn of_many_writes_at_once_none_is_lost() {
    let server = Server::ready();
    let token = token(&server, CreateRequest::default());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (server, token) = (&server, &token);
            scope.spawn(move || {
                let instance = server.another_instance();
                let path = format!("w{writer}");
                let written = instance.write_cubbyhole(token, &path, CONTENT, ANY);
                assert_eq!(written, Ok(()));
            });
        }
    });
    let listed = server.access.list_cubbyhole(&token, "").unwrap();
    assert_eq!(listed, ["w0", "w1", "w2", "w3"]);
}

#[test]
fn a_failed_commit_keeps_nothing_and_says_so() {
    let server = Server::ready();
    let before = server.store.keys();
    let full = || StoreError::Unavailable("full".to_owned());
    server.store.fail_next_commit(CommitError::Failed(full()));
    let written = server.access.write_cubbyhole(ROOT, "a", CONTENT, ANY);
    let failure = ServiceError::Unavailable("full".to_owned());
    assert_eq!(written, Err(CubbyholeError::Failure(failure)));
    assert_eq!(server.store.keys(), before);
    assert_eq!(read(&server, ROOT, "a"), None);
}

#[test]
fn a_token_of_an_earlier_version_keeps_nothing_and_may_begin_to() {
    let server = Server::ready();
    let made = token(&server, CreateRequest::default());
    let is_named = |value: &Vec<u8>| String::from_utf8_lossy(value).contains("keeps_secrets");
    assert!(!server.store.values().iter().any(is_named));
    assert_eq!(read(&server, &made, "a"), None);
    write(&server, &made, "a");
    assert!(server.store.values().iter().any(is_named));
    assert_eq!(read(&server, &made, "a").as_deref(), Some(CONTENT));
}
