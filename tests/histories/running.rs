//! Histories while nothing goes wrong (SEC-V5).

use gatehouse_histories::{
    CountedToken, FamilyOutcome, TokenFamily, UseOf, UsesLeft, WithFamily, WithWrapped,
    WrappedResponse, all_at_once, drive,
};
use gatehouse_tests::Installation;

use crate::HOST;
use crate::connection::{Connection, further_servers, rounds};

const CLIENTS: usize = 16;
/// Many more than the server has instances at first.
const CROWD: usize = 64;
const ROUNDS: usize = 6;

/// Runs `history` against a server with each kind of store, and against three servers on one database (SEC-S7).
fn over_every_store(history: impl Fn(&Connection, u64)) {
    for &storage in crate::STORAGES {
        let installation = Installation::start_program(HOST.program(), storage, "").unwrap();
        let further = further_servers(&installation, storage);
        let server = Connection::to_each(&installation, &further);
        rounds(ROUNDS).for_each(|round| history(&server, round));
    }
}

#[test]
fn t4_uses_renewals_and_revocations_of_a_counted_token_are_linearizable() {
    over_every_store(|server, round| {
        let token = CountedToken::create(server, 1 + round * round, 60);
        drive(&token, server, CLIENTS, 8, round);
        token.settle(server).unwrap();
    });
}

#[test]
fn t4_of_many_last_uses_one_wins() {
    over_every_store(|server, _| {
        let token = CountedToken::create(server, 1, 0);
        let use_it = || token.perform(server, UseOf::Use);
        let outcomes = all_at_once(CROWD, |_| use_it());
        let won = outcomes.iter().filter(|it| **it == Some(UsesLeft::Left(0)));
        assert_eq!(won.count(), 1, "{outcomes:?}");
        token.settle(server).unwrap();
        assert_eq!(token.used(), (1, 0));
    });
}

#[test]
fn t5_uses_renewals_and_revocations_in_a_family_of_tokens_are_linearizable() {
    over_every_store(|server, round| {
        let family = TokenFamily::create(server);
        drive(&family, server, CLIENTS, 8, round);
        family.settle(server).unwrap();
    });
}

#[test]
fn t5_of_many_renewals_and_revocations_of_a_token_one_revocation_wins() {
    over_every_store(|server, _| {
        let family = TokenFamily::create(server);
        assert_eq!(
            family.perform(server, WithFamily::Create),
            Some(FamilyOutcome::Made(0))
        );
        let outcomes = all_at_once(CROWD, |number| {
            let revokes = number % 4 == 0;
            let operation = if revokes {
                WithFamily::Revoke(0)
            } else {
                WithFamily::Renew(0)
            };
            let done = family.perform(server, operation) == Some(FamilyOutcome::Done);
            revokes && done
        });
        assert_eq!(outcomes.iter().filter(|won| **won).count(), 1);
        let used = family.perform(server, WithFamily::Use(0));
        assert_eq!(used, Some(FamilyOutcome::Gone));
        family.settle(server).unwrap();
    });
}

#[test]
fn t5_of_many_revocations_of_a_parent_one_wins_whichever_they_are() {
    over_every_store(|server, _| {
        let family = TokenFamily::create(server);
        family.perform(server, WithFamily::Create);
        let outcomes = all_at_once(CROWD, |number| {
            let alone = number % 2 == 0;
            let operation = if alone {
                WithFamily::RevokeParentAlone
            } else {
                WithFamily::RevokeParent
            };
            family.perform(server, operation)
        });
        let won = outcomes
            .iter()
            .filter(|it| **it == Some(FamilyOutcome::Done));
        assert_eq!(won.count(), 1, "{outcomes:?}");
        family.settle(server).unwrap();
    });
}

#[test]
fn contract_1_8_a_wrapped_response_is_given_out_once_whoever_moves_it() {
    over_every_store(|server, round| {
        let response = WrappedResponse::create(server);
        drive(&response, server, CLIENTS, 8, round);
        response.settle(server).unwrap();
    });
}

#[test]
fn contract_1_8_of_many_who_unwrap_one_wins() {
    over_every_store(|server, _| {
        let response = WrappedResponse::create(server);
        all_at_once(CROWD, |_| response.perform(server, WithWrapped::Unwrap(0)));
        assert_eq!(response.unwrapped(), 1);
        response.settle(server).unwrap();
    });
}
