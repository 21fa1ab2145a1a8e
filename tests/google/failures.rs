//! Every way in which Google fails, at every request that a login makes: the caller is told whose fault it is, nothing leaks, and
//! logins work again soon after Google does (contract 4.7, 1.6; SEC-G6, N7).

use std::time::{Duration, Instant};

use gatehouse_fake_google::{Endpoint, Fault, Population};
use gatehouse_tests::{Answer, OPERATOR, WORKLOAD};
use http::StatusCode;
use serde_json::{Value, json};

use crate::default_credentials::metadata_server;
use crate::federation::{federation_settings, trust};
use crate::stage::{Stage, assert_granted, eventually};

/// Logins work again within this time after an outage; the server remembers the outage for half as long.
const RECOVERY: Duration = Duration::from_secs(10);
/// More bytes than any answer may have.
const OVERSIZED: usize = 9 << 20;
const METADATA: &str = "http://169.254.169.254/computeMetadata/v1/";

/// A way to fail, and the status that a login then has.
struct Case {
    mount: &'static str,
    fault: Fault,
    status: u16,
}

fn cases() -> Vec<Case> {
    let case = |mount, fault, status| Case {
        mount,
        fault,
        status,
    };
    let internal_error = Fault::Status {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        retry_after_seconds: None,
    };
    let location = METADATA.to_owned();
    // Outages come last: after enough of them the host sends no more requests to any server.
    vec![
        case("latency", Fault::Latency(Duration::from_secs(1)), 200),
        case("garbage", Fault::GarbageBody, 502),
        case("oversized", Fault::OversizedBody { bytes: OVERSIZED }, 502),
        case("redirect", Fault::Redirect { location }, 502),
        case("busy", Fault::too_many_requests(1), 503),
        case("broken", internal_error, 503),
        case("down", Fault::unavailable(), 503),
        case("closed", Fault::CloseConnection, 503),
    ]
}

/// A role, and the JWT of the account or instance that it is for.
#[derive(Clone, Copy)]
enum Login {
    Account,
    AccountWithGroups,
    Instance(&'static str),
}

impl Login {
    fn role(self) -> Value {
        match self {
            Self::Account => json!({"type": "iam", "bound_service_accounts": WORKLOAD}),
            Self::AccountWithGroups => json!({
                "type": "iam", "bound_service_accounts": WORKLOAD, "add_group_aliases": true, "alias_source": "unique_id",
            }),
            Self::Instance(group) => json!({
                "type": "gce", "bound_regions": "europe-west1", "bound_instance_groups": group,
            }),
        }
    }

    fn jwt(self, stage: &Stage) -> String {
        match self {
            Self::Account | Self::AccountWithGroups => stage.jwt("it"),
            Self::Instance(_) => stage.instance_jwt("it"),
        }
    }
}

/// Asserts that an answer shows nothing that only the server and Google know.
fn assert_discreet(stage: &Stage, what: &str, shown: &str, jwt: &str) {
    let google = stage.google();
    let key = google.account_key(OPERATOR).unwrap();
    let lines = key.private_key_pem().lines();
    let mut secrets: Vec<_> = lines.filter(|line| !line.starts_with("--")).collect();
    assert!(secrets.len() > 10);
    let signature = jwt.rsplit('.').next().unwrap();
    // Prefix of the access tokens that this Google gives out.
    secrets.extend([signature, "ya29."]);
    for secret in secrets {
        assert!(!shown.contains(secret), "{secret} in {what}");
    }
}

/// Asserts the outcome of `login` for each fault, at mounts with a stored key.
fn assert_failures(endpoint: Endpoint, login: Login) {
    let stage = Stage::new("");
    let credentials = stage.google().credentials_json(OPERATOR).unwrap();
    assert_failures_at(
        &stage,
        &json!({"credentials": credentials}),
        endpoint,
        login,
    );
}

/// Asserts the outcome of `login` for each fault, at a mount of its own with this configuration.
fn assert_failures_at(stage: &Stage, config: &Value, endpoint: Endpoint, login: Login) {
    let google = stage.google();
    let cases = cases();
    for Case { mount, .. } in &cases {
        stage.enable(mount, config.clone());
        stage.role(mount, "it", &login.role());
    }
    let mut jwts = Vec::new();
    for case in &cases {
        google.set_fault(endpoint, case.fault.clone());
        let jwt = login.jwt(stage);
        let answer = stage.show(case.mount, "it", &jwt);
        assert_eq!(
            answer.status, case.status,
            "{endpoint:?} {}: {answer:?}",
            case.mount
        );
        assert_told(&answer);
        assert_discreet(stage, case.mount, &answer.body, &jwt);
        jwts.push(jwt);
    }
    google.clear_faults(endpoint);
    let healed = Instant::now();
    for Case { mount, .. } in &cases {
        let left = RECOVERY.saturating_sub(healed.elapsed());
        eventually(left, || stage.show(mount, "it", &login.jwt(stage)));
    }
    let log = stage.log();
    for told in ["google API unavailable: ", "unusable answer"] {
        assert!(log.contains(told), "the operator is told too: {log}");
    }
    for jwt in &jwts {
        assert_discreet(stage, "the log", &log, jwt);
    }
}

/// Asserts that a refusal says which part of Google failed, and no more.
fn assert_told(answer: &Answer) {
    let told = answer.error();
    match answer.status {
        200 => {}
        502 => assert!(
            told.starts_with("google API gave an unusable answer: ")
                || told.starts_with("failed to create oauth2 http client: "),
            "{answer:?}"
        ),
        _ => assert!(told.starts_with("google API unavailable: "), "{answer:?}"),
    }
}

#[test]
fn contract_4_7_failures_of_googles_own_certificates() {
    assert_failures(Endpoint::GoogleCertificates, Login::Account);
}

#[test]
fn contract_4_7_failures_of_an_accounts_certificates() {
    assert_failures(Endpoint::AccountCertificates, Login::Account);
}

#[test]
fn contract_4_7_failures_of_the_token_endpoint() {
    assert_failures(Endpoint::Token, Login::Account);
}

#[test]
fn contract_4_7_failures_of_an_accounts_record() {
    assert_failures(Endpoint::ServiceAccount, Login::Account);
}

#[test]
fn contract_4_7_failures_of_an_instances_record() {
    assert_failures(Endpoint::Instance, Login::Instance(Population::ZONAL_GROUP));
}

#[test]
fn contract_4_7_failures_of_the_list_of_groups() {
    let login = Login::Instance(Population::ZONAL_GROUP);
    assert_failures(Endpoint::InstanceGroups, login);
}

#[test]
fn contract_4_7_failures_of_the_members_of_a_zonal_group() {
    let login = Login::Instance(Population::ZONAL_GROUP);
    assert_failures(Endpoint::ZonalGroupMembers, login);
}

#[test]
fn contract_4_7_failures_of_the_members_of_a_regional_group() {
    let login = Login::Instance(Population::REGIONAL_GROUP);
    assert_failures(Endpoint::RegionalGroupMembers, login);
}

#[test]
fn g14_failures_of_the_ancestry_refuse_who_asks_for_groups() {
    assert_failures(Endpoint::Ancestry, Login::AccountWithGroups);
}

fn assert_failures_of_federation(endpoint: Endpoint) {
    let stage = Stage::aware(federation_settings);
    let config = trust(&stage);
    assert_failures_at(&stage, &config, endpoint, Login::Account);
}

#[test]
fn contract_4_7_failures_of_the_security_token_service() {
    assert_failures_of_federation(Endpoint::SecurityTokenService);
}

#[test]
fn contract_4_7_failures_of_impersonation() {
    assert_failures_of_federation(Endpoint::GenerateAccessToken);
}

#[test]
fn contract_4_7_failures_of_the_metadata_server() {
    let stage = Stage::aware(metadata_server);
    assert_failures_at(&stage, &json!({}), Endpoint::MetadataToken, Login::Account);
}

#[test]
fn n5_an_endpoint_that_never_answers_is_given_up_after_ten_seconds() {
    let stage = Stage::new("");
    stage.enable_with_key("gcp");
    stage.role("gcp", "it", &Login::Account.role());
    let google = stage.google();
    google.set_fault(Endpoint::ServiceAccount, Fault::Hang);
    let began = Instant::now();
    let answer = stage.log_in("gcp", "it");
    let took = began.elapsed();
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_told(&answer);
    assert!(took > Duration::from_secs(9), "{took:?}");
    // The answer took less than thirty seconds too, because this client waits no longer.
    google.clear_faults(Endpoint::ServiceAccount);
    eventually(RECOVERY, || stage.log_in("gcp", "it"));
}

#[test]
fn contract_8_1_a_failure_that_passes_is_not_noticed() {
    let stage = Stage::new("");
    stage.enable_with_key("gcp");
    stage.role("gcp", "it", &Login::Account.role());
    let google = stage.google();
    google.queue_faults(Endpoint::ServiceAccount, [Fault::unavailable()]);
    assert_granted(&stage.log_in("gcp", "it"));
    assert_eq!(google.calls(Endpoint::ServiceAccount), 2);
}
