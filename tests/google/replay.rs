//! Roles that take a JWT once (SEC-G12, contract 9.4).

use gatehouse_tests::Storage;
use gatehouse_tests::WORKLOAD;
use serde_json::json;

use crate::stage::{MOUNT, Stage, assert_granted, assert_refused, at_once};

const REFUSAL: &str = "JWT has logged in before, and role takes a JWT only once";

fn once() -> serde_json::Value {
    json!({"type": "iam", "bound_service_accounts": WORKLOAD, "refuse_replay": true})
}

#[test]
fn g12_of_two_connections_that_show_a_jwt_at_once_one_logs_in() {
    let stage = Stage::new("[limits]\ninstance_reuse = 1");
    stage.enable_with_key(MOUNT);
    stage.role(MOUNT, "once", &once());
    for _ in 0..10 {
        let jwt = stage.jwt("once");
        let answers = at_once(2, |_| stage.show(MOUNT, "once", &jwt));
        let (granted, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 200);
        assert_eq!((granted.len(), refused.len()), (1, 1), "{answers:?}");
        assert_refused(refused[0], 400, REFUSAL);
    }
}

#[test]
fn g12_a_jwt_that_has_logged_in_stays_used_after_a_restart() {
    let mut stage = Stage::start(Storage::Durable, "");
    stage.enable_with_key(MOUNT);
    stage.role(MOUNT, "once", &once());
    stage.workload_role(MOUNT);
    let jwt = stage.jwt("once");
    assert_granted(&stage.show(MOUNT, "once", &jwt));
    stage.installation.server().kill();
    stage.installation.run().unwrap();
    assert_refused(&stage.show(MOUNT, "once", &jwt), 400, REFUSAL);
    assert_granted(&stage.log_in(MOUNT, "once"));

    let unguarded = stage.jwt("dev");
    for _ in 0..2 {
        assert_granted(&stage.show(MOUNT, "dev", &unguarded));
    }
}
