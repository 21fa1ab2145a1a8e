//! Renewals, which ask Google again (contract 4.10): what has changed ends a login, and an outage ends nothing.

use std::time::Duration;

use gatehouse_fake_google::{Endpoint, Fault, InstanceStatus};
use gatehouse_tests::{INSTANCE, WORKLOAD};
use serde_json::json;

use crate::stage::{MOUNT, Stage, assert_granted, assert_refused, eventually, token_of};

const RECOVERY: Duration = Duration::from_secs(10);

fn ready() -> Stage {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    let role = json!({"type": "gce", "bound_regions": "europe-west1"});
    stage.role(MOUNT, "vm", &role);
    stage.workload_role(MOUNT);
    stage
}

/// When a token ends, and after how many seconds it was last said to.
fn lease(stage: &Stage, token: &str) -> [serde_json::Value; 3] {
    let token = stage.token(token);
    ["expire_time", "creation_ttl", "last_renewal_time"].map(|name| token[name].clone())
}

#[test]
fn g16_a_token_is_renewed_while_its_instance_runs() {
    let stage = ready();
    let token = token_of(&stage.log_instance_in(MOUNT, "vm"));
    let calls = stage.google().calls(Endpoint::Instance);
    assert_granted(&stage.renew(&token));
    assert_eq!(stage.google().calls(Endpoint::Instance), calls + 1);
    let status = InstanceStatus::Terminated;
    stage
        .google()
        .set_instance_status(INSTANCE, status)
        .unwrap();
    assert_refused(&stage.renew(&token), 400, "has invalid status 'TERMINATED'");
    let status = InstanceStatus::Running;
    stage
        .google()
        .set_instance_status(INSTANCE, status)
        .unwrap();
    assert_granted(&stage.renew(&token));
}

#[test]
fn g16_a_token_of_an_instance_that_is_gone_is_not_renewed() {
    let stage = ready();
    let token = token_of(&stage.log_instance_in(MOUNT, "vm"));
    let before = lease(&stage, &token);
    stage.google().delete_instance(INSTANCE).unwrap();
    let text = "googleapi: Error 404: The resource 'projects/demo-project/zones/europe-west1-b/instances/workload-1' was not found, notFound";
    assert_refused(&stage.renew(&token), 400, text);
    assert_eq!(lease(&stage, &token), before);
}

#[test]
fn g16_an_instance_in_the_place_of_another_does_not_renew_its_token() {
    let stage = ready();
    let token = token_of(&stage.log_instance_in(MOUNT, "vm"));
    let mut second = stage.google().instance(INSTANCE).unwrap();
    second.instance_id = "1111111111111111111".to_owned();
    stage.google().replace_instance(second).unwrap();
    assert_refused(&stage.renew(&token), 400, "instance id does not match");
}

#[test]
fn contract_4_10_an_outage_leaves_the_lease_of_an_instance_as_it_was() {
    let stage = ready();
    let token = token_of(&stage.log_instance_in(MOUNT, "vm"));
    let before = lease(&stage, &token);
    for fault in [Fault::unavailable(), Fault::CloseConnection] {
        stage.google().set_fault(Endpoint::Instance, fault);
        let refused = stage.renew(&token);
        assert_refused(&refused, 503, "google API unavailable: compute");
        assert_eq!(lease(&stage, &token), before);
    }
    stage.google().clear_faults(Endpoint::Instance);
    eventually(RECOVERY, || stage.renew(&token));
    assert_ne!(lease(&stage, &token), before);
}

#[test]
fn contract_4_10_an_outage_leaves_the_lease_of_an_account_as_it_was() {
    let stage = ready();
    let token = token_of(&stage.log_in(MOUNT, "dev"));
    let before = lease(&stage, &token);
    stage.forget(MOUNT);
    let endpoint = Endpoint::ServiceAccount;
    stage.google().set_fault(endpoint, Fault::unavailable());
    let refused = stage.renew(&token);
    assert_refused(&refused, 503, "google API unavailable: iam");
    assert_eq!(lease(&stage, &token), before);
    stage.google().clear_faults(endpoint);
    eventually(RECOVERY, || stage.renew(&token));
}

#[test]
fn g16_the_token_of_a_disabled_account_is_not_renewed() {
    let stage = ready();
    let token = token_of(&stage.log_in(MOUNT, "dev"));
    assert_granted(&stage.renew(&token));
    stage.google().set_disabled(WORKLOAD, true).unwrap();
    stage.forget(MOUNT);
    let text = "cannot find service account ";
    assert_refused(&stage.renew(&token), 400, text);
    assert_eq!(stage.token(&token)["meta"]["role"], "dev");
}

#[test]
fn g16_a_token_whose_role_is_gone_is_not_renewed() {
    let stage = ready();
    let token = token_of(&stage.log_in(MOUNT, "dev"));
    let path = format!("/v1/auth/{MOUNT}/role/dev");
    stage.installation.as_root("DELETE", &path, None);
    assert_refused(&stage.renew(&token), 400, "role \"dev\" no longer exists");
}
