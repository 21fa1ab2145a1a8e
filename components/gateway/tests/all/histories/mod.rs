//! Histories of concurrent callers of the gateway, checked for linearizability (SEC-V5). They are the histories with which the release server is
//! checked, here with the real capabilities in this process, and with a store that lets other threads run before each of its steps.

// Helpers of tests may do all that clippy allows in test functions.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod eager;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use gatehouse_histories::{
    CountedToken, TokenFamily, UseOf, UsesLeft, Violation, WrappedResponse, drive,
};

use eager::Failing;
use world::World;

const CLIENTS: usize = 8;
const ROUNDS: u64 = 30;

fn count_uses(world: &World, round: u64) -> Result<(), Violation> {
    let token = CountedToken::create(world, 1 + round * round % 23, 40);
    drive(&token, world, CLIENTS, 10, round);
    token.settle(world)
}

fn disturb_a_family(world: &World, round: u64) -> Result<(), Violation> {
    let family = TokenFamily::create(world);
    drive(&family, world, CLIENTS, 12, round);
    family.settle(world)
}

fn pass_on_a_response(world: &World, round: u64) -> Result<(), Violation> {
    let response = WrappedResponse::create(world);
    drive(&response, world, CLIENTS, 8, round);
    response.settle(world)
}

#[track_caller]
fn assert_linearizable(history: fn(&World, u64) -> Result<(), Violation>) {
    let world = World::new(Failing::Nothing);
    for round in 0..ROUNDS {
        let checked = history(&world, round);
        checked.unwrap_or_else(|violation| panic!("round {round}: {violation}"));
    }
}

#[test]
fn t4_uses_renewals_and_revocations_of_a_counted_token_are_linearizable() {
    assert_linearizable(count_uses);
}

#[test]
fn t5_uses_renewals_and_revocations_in_a_family_of_tokens_are_linearizable() {
    assert_linearizable(disturb_a_family);
}

#[test]
fn contract_1_8_a_wrapped_response_is_given_out_once_whoever_moves_it() {
    assert_linearizable(pass_on_a_response);
}

#[test]
fn t4_of_many_last_uses_one_wins() {
    let world = World::new(Failing::Nothing);
    for round in 0..ROUNDS {
        let token = CountedToken::create(&world, 1, 0);
        drive(&token, &world, CLIENTS, 4, round);
        let used = token.perform(&world, UseOf::Use);
        token.settle(&world).unwrap();
        assert_eq!((token.used(), used), ((1, 0), Some(UsesLeft::Gone)));
    }
}

/// True if one of many rounds reveals a fault.
fn is_found_out(failing: Failing, history: fn(&World, u64) -> Result<(), Violation>) -> bool {
    let world = World::new(failing);
    (0..ROUNDS).any(|round| {
        // A faulty store also causes answers that no server gives, on which the history panics.
        let checked = catch_unwind(AssertUnwindSafe(|| history(&world, round)));
        !matches!(checked, Ok(Ok(())))
    })
}

#[test]
fn v5_a_store_that_does_not_check_versions_is_found_out() {
    assert!(is_found_out(Failing::Checks, count_uses));
    assert!(is_found_out(Failing::Checks, pass_on_a_response));
}

#[test]
fn v5_a_store_that_forgets_acknowledged_changes_is_found_out() {
    for history in [count_uses, disturb_a_family, pass_on_a_response] {
        assert!(is_found_out(Failing::Changes, history));
    }
}
