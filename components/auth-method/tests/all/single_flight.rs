//! Many instances at the same time, each in a thread of its own: SEC-N8.

use std::sync::Barrier;
use std::thread;

use gatehouse_auth_method::{Identity, LoginError};
use gatehouse_ports::HttpError;

use crate::fleet::{Dormitory, Fleet};
use crate::google::{self, Fault};
use crate::keys::{self, Token};

const INSTANCES: usize = 50;

fn fleet() -> Fleet<Dormitory> {
    Fleet::new(INSTANCES as u64, Dormitory::default())
}

/// Logs in at all instances at once.
fn rush(fleet: &Fleet<Dormitory>) -> Vec<Result<Identity, LoginError>> {
    let jwt = Token::of_account().signed_by(keys::of_account());
    let start = Barrier::new(INSTANCES);
    thread::scope(|scope| {
        let login = |instance| {
            let (start, jwt) = (&start, &jwt);
            scope.spawn(move || {
                start.wait();
                fleet.log_in(instance, jwt)
            })
        };
        let threads: Vec<_> = (0..INSTANCES).map(login).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().unwrap());
        outcomes.collect()
    })
}

/// Answers the next question about `part` only when all others wait for its answer.
fn gather(fleet: &Fleet<Dormitory>, part: &'static str) {
    let clock = fleet.clock;
    fleet.during(part, || clock.wait_for(INSTANCES - 1));
}

#[test]
fn n8_fifty_first_logins_at_fifty_instances_cost_one_question_each() {
    for part in [None, Some("oauth2/v1/certs"), Some("x509"), Some("/token")] {
        let fleet = fleet();
        if let Some(part) = part {
            gather(&fleet, part);
        }
        for outcome in rush(&fleet) {
            outcome.unwrap();
        }
        assert_eq!(fleet.calls(), [1, 1, 1, 1]);
        for outcome in rush(&fleet) {
            outcome.unwrap();
        }
        assert_eq!(fleet.calls(), [1, 1, 1, 1]);
    }
}

#[test]
fn n8_those_who_wait_share_an_outage() {
    let fleet = fleet();
    let outage = Fault::Error(HttpError::Failed("unreachable".to_owned()));
    fleet.google.fail("oauth2/v1/certs", outage, usize::MAX);
    let unavailable = LoginError::GoogleUnavailable("api".into());
    for outcome in rush(&fleet) {
        assert_eq!(outcome.unwrap_err(), unavailable);
    }
    assert_eq!(fleet.calls(), [3, 0, 0, 0]);
}

#[test]
fn n8_logins_that_wait_share_a_failure_that_is_not_remembered() {
    let hidden = google::refusal(403, "hidden", "forbidden");
    let invalid = google::text(400, r#"{"error":"invalid_grant"}"#);
    for (part, answer, calls) in [
        ("serviceAccounts/", hidden, [1, 1, 1, 1]),
        ("/token", invalid, [1, 1, 0, 1]),
    ] {
        let fleet = fleet();
        fleet.google.fail(part, Fault::Answer(answer), 1);
        gather(&fleet, part);
        let outcomes = rush(&fleet);
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
        assert!(outcomes[0].is_err());
        assert_eq!(fleet.calls(), calls);
        for outcome in rush(&fleet) {
            outcome.unwrap();
        }
    }
}
