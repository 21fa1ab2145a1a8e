//! The number of live tokens, as the metrics of the server report it.

use gatehouse_access::{Mounts as _, Revocation as _, System as _};
use gatehouse_ports::StoreError;

use crate::server::batch::batch;
use crate::server::{HOUR, Server, policies};

#[test]
fn live_service_tokens_are_counted_and_others_are_not() {
    let server = Server::ready();
    assert_eq!(
        server.access.count_tokens().unwrap(),
        Some(1),
        "the root token"
    );
    for _ in 0..3 {
        server.log_in(policies(&["dev"]));
    }
    server.log_in(batch());
    let ended = server.log_in(policies(&["dev"])).reference();
    server.access.revoke_token(&ended).unwrap();
    assert_eq!(server.access.count_tokens().unwrap(), Some(4));
    // They stay in the store until they are swept, and count no more.
    server.access.disable_mount("gcp/").unwrap();
    assert_eq!(server.access.count_tokens().unwrap(), Some(1));
    assert_eq!(server.another_instance().count_tokens().unwrap(), Some(1));
}

#[test]
fn a_token_that_has_expired_counts_no_more() {
    let server = Server::ready();
    server.log_in(policies(&["dev"]));
    assert_eq!(server.access.count_tokens().unwrap(), Some(2));
    server.advance(1_000 * HOUR);
    assert_eq!(server.access.count_tokens().unwrap(), Some(1));
}

#[test]
fn many_tokens_are_counted_in_bounded_parts_and_the_last_result_stands_meanwhile() {
    const TOKENS: u64 = 20_500;
    let server = Server::ready();
    assert_eq!(server.access.count_tokens().unwrap(), Some(1));
    for _ in 1..TOKENS {
        server.log_in(policies(&["dev"]));
    }
    assert_eq!(server.access.count_tokens().unwrap(), Some(1));
    let failed = StoreError::Unavailable("disk full".to_owned());
    server.store.fail_next_commit(failed.into());
    assert!(server.access.count_tokens().is_err());
    assert_eq!(server.access.count_tokens().unwrap(), Some(TOKENS));
}

#[test]
fn a_store_without_a_server_has_no_count() {
    assert!(Server::empty().access.count_tokens().is_err());
}
