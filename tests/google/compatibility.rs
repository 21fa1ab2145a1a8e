//! Differences from the reference that an operator can undo, one by one (register D1, D2, D4, D5, D6).

use gatehouse_fake_google::IdentityFormat;
use gatehouse_tests::{Host, INSTANCE, WORKLOAD};
use serde_json::json;

use crate::HOST;
use crate::stage::{MOUNT, Stage, assert_granted, assert_refused};

const AUDIENCE_REFUSAL: &str = "at least one of the JWT claim 'aud' must end in \"vault/dev\"";

fn jwt_without_audience(stage: &Stage) -> String {
    let mut claims = stage.claims("dev");
    claims.remove("aud");
    stage.google().sign_jwt(WORKLOAD, &claims).unwrap()
}

/// Asserts that whatever the other switches would let in is refused.
fn assert_other_differences_stand(stage: &Stage) {
    let google = stage.google();
    let with = |claim: &str, value: serde_json::Value| {
        let mut claims = stage.claims("dev");
        claims.insert(claim.to_owned(), value);
        google.sign_jwt(WORKLOAD, &claims).unwrap()
    };
    let tomorrow = stage.claims("dev")["iat"].as_u64().unwrap() + 86_400;
    for (jwt, refusal) in [
        (with("aud", json!("notvault/dev")), AUDIENCE_REFUSAL),
        (with("aud", json!("vault/other")), AUDIENCE_REFUSAL),
        (with("nbf", json!(tomorrow)), "JWT is not yet valid"),
        (
            with("iss", json!("https://issuer.example.com")),
            "JWT issuer is not acceptable",
        ),
    ] {
        assert_refused(&stage.show(MOUNT, "dev", &jwt), 400, refusal);
    }
    let format = IdentityFormat::Standard;
    let audience = "http://vault/own-keys-only";
    let inferred = google.identity_token(INSTANCE, audience, format).unwrap();
    assert_refused(
        &stage.show(MOUNT, "own-keys-only", &inferred),
        400,
        "Got GCE token but IAM role \"own-keys-only\" does not allow GCE inference",
    );
    // D2: its hour is longer than the role's quarter of an hour.
    let inferred = google
        .identity_token(INSTANCE, "http://vault/dev", format)
        .unwrap();
    assert_granted(&stage.show(MOUNT, "dev", &inferred));
    assert_granted(&stage.log_in(MOUNT, "dev"));
}

fn ready(settings: &str) -> Stage {
    let stage = Stage::new(settings);
    stage.enable_with_key(MOUNT);
    stage.workload_role(MOUNT);
    stage.role(
        MOUNT,
        "own-keys-only",
        &json!({"type": "iam", "bound_service_accounts": WORKLOAD, "allow_gce_inference": false}),
    );
    stage
}

#[test]
fn d4_with_its_switch_a_jwt_without_audience_logs_in_and_nothing_else_changes() {
    let stage = ready("[compatibility]\naccept_missing_audience = true");
    let jwt = jwt_without_audience(&stage);
    assert_granted(&stage.show(MOUNT, "dev", &jwt));
    assert_other_differences_stand(&stage);
    // Spin, which hands the switch on without knowing it, does not tell of it.
    if HOST == Host::Gatehouse {
        let log = stage.log();
        assert!(log.contains("accept_missing_audience"), "{log}");
    }
}

#[test]
fn d4_without_its_switch_a_jwt_without_audience_is_refused() {
    let stage = ready("");
    let jwt = jwt_without_audience(&stage);
    assert_refused(&stage.show(MOUNT, "dev", &jwt), 400, AUDIENCE_REFUSAL);
    assert_other_differences_stand(&stage);
}
