//! Seeded simulations: operations on tokens by two instances over one store that fails, under a clock that jumps, held against a
//! plain model (SEC-V3).
//!
//! `GATEHOUSE_SEED=<n>` runs one seed and prints its steps; `GATEHOUSE_SEEDS=<n>` runs that many.

mod model;
mod operations;
mod ports;
mod world;

use std::env;

use self::ports::Bug;
use self::world::{STEPS, Trace, simulate};

/// Seeds of one run in CI.
const SEEDS: u64 = 1_000;
/// The seed that the others follow.
const FIRST_SEED: u64 = 1;

fn number(variable: &str) -> Option<u64> {
    Some(env::var(variable).ok()?.parse().unwrap())
}

fn expect_holding(seed: u64) -> Trace {
    match simulate(seed, Bug::None) {
        Ok(trace) => trace,
        Err(violation) => panic!(
            "GATEHOUSE_SEED={seed}: {}\n{}",
            violation.why,
            violation.trace.join("\n")
        ),
    }
}

#[test]
fn v3_every_seed_keeps_what_the_model_says() {
    if let Some(seed) = number("GATEHOUSE_SEED") {
        eprintln!("{}", expect_holding(seed).join("\n"));
        return;
    }
    let seeds = number("GATEHOUSE_SEEDS").unwrap_or(SEEDS);
    for seed in FIRST_SEED..FIRST_SEED + seeds {
        expect_holding(seed);
    }
    eprintln!("{seeds} seeds of {STEPS} steps");
}

#[test]
fn v3_a_seed_replays_byte_for_byte() {
    for seed in 1..=20 {
        let (first, second) = (expect_holding(seed), expect_holding(seed));
        assert_eq!(first.join("\n"), second.join("\n"), "seed {seed}");
    }
    assert_ne!(expect_holding(1), expect_holding(2));
}

#[test]
fn v3_a_planted_bug_is_found() {
    for bug in [Bug::DroppedWrite, Bug::StaleRead, Bug::StaleClock] {
        let mut seeds = FIRST_SEED..FIRST_SEED + SEEDS;
        let found = seeds.find(|seed| simulate(*seed, bug).is_err());
        let found = found.unwrap_or_else(|| panic!("{bug:?} is not found"));
        let (first, second) = (simulate(found, bug), simulate(found, bug));
        let (first, second) = (first.err().unwrap(), second.err().unwrap());
        eprintln!("{bug:?}: seed {found}: {}", first.why);
        assert_eq!(first, second, "{bug:?} replays");
    }
}

/// The kinds of outcomes that the seeds of CI have to reach, so that a simulation of nothing but refusals is noticed.
#[test]
fn v3_the_seeds_reach_what_they_are_for() {
    let traces: Vec<String> = (1..=50)
        .map(|seed| expect_holding(seed).join("\n"))
        .collect();
    let all = traces.join("\n");
    for kind in [
        "login: made",
        "login: failed",
        "child: made",
        "child: refused",
        "child: failed",
        "use: accepted",
        "use: refused",
        "use: failed",
        "renew: accepted",
        "renew: refused",
        "renew: failed",
        "revoke: ended",
        "revoke: nothing",
        "revoke: failed",
        "alone: ended",
        "alone: failed",
        "prefix: ended",
        "prefix: failed",
        "clock: back",
        "clock: on",
        "maintain: done",
        "maintain: failed",
        "restart",
        "look: accepted",
        "look: refused",
    ] {
        assert!(all.contains(kind), "{kind}");
    }
}
