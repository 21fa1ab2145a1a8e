//! Deliberate differences from the reference (contract 11) that tokens show.

use crate::server::{Server, policies};
use gatehouse_access::{LoginError, Logins as _, TokenLookup as _, TokenParameters, TokenType};

#[test]
fn d26_token_policies_are_always_a_list_and_uses_never_negative() {
    let server = Server::ready();
    let issued = server.log_in(TokenParameters {
        no_default_policy: true,
        ..policies(&[])
    });
    assert!(issued.grant.token_policies.is_empty());
    assert_eq!(issued.grant.num_uses, 0);
    let view = server.access.lookup_token(&issued.reference());
    assert_eq!(view.unwrap().num_uses, 0);
}

#[test]
fn d27_a_batch_token_with_a_limit_of_uses_is_refused() {
    let server = Server::ready();
    let grant = server.grant(
        "1234",
        TokenParameters {
            token_type: Some(TokenType::Batch),
            num_uses: 3,
            ..policies(&["dev"])
        },
    );
    let before = server.store.keys();
    let refused = server.access.issue_login(&grant).err();
    assert_eq!(refused, Some(LoginError::BatchWithNumUses));
    assert_eq!(server.store.keys(), before);
}
