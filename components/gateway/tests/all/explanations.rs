//! `login/explain`: every check of a login with its verdict.

use gatehouse_auth_method::{Check, CheckReport, LoginError, Verdict};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;
use serde_json::json;

use super::rows::{account, hidden};
use super::server::{ROOT, Server, listed};

const EXPLAIN: &str = "auth/gcp/login/explain";
const BODY: &str = r#"{"role":"dev","jwt":"a.b.c"}"#;

fn report(check: Check, verdict: Verdict) -> CheckReport {
    CheckReport {
        check,
        inputs: Vec::new(),
        verdict,
    }
}

#[test]
fn every_check_is_shown_with_what_it_compared_and_what_a_login_would_be_told() {
    let server = Server::with_role();
    let before = server.commits();
    server.script.explanation.is(vec![
        CheckReport {
            check: Check::Role,
            inputs: vec![("role".into(), "dev".to_owned())],
            verdict: Verdict::Passed,
        },
        report(
            Check::SourceAddress,
            Verdict::Failed(LoginError::AddressNotAllowed),
        ),
        report(
            Check::Account,
            Verdict::Failed(LoginError::AccountNotFound(account(hidden()))),
        ),
        report(Check::BoundAccount, Verdict::NotRun),
    ]);
    let answer = server.post(EXPLAIN, BODY).expect(200);
    assert_eq!(
        answer.data(),
        json!({"allowed": false, "checks": [
            {"check": "role", "inputs": {"role": "dev"}, "verdict": "passed"},
            {"check": "source_address", "inputs": {}, "verdict": "failed", "reason": "permission denied"},
            {"check": "account", "inputs": {}, "verdict": "failed", "reason": "could not find service account 'projects/-/serviceAccounts/x@p': googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission iam.serviceAccounts.get)"},
            {"check": "bound_account", "inputs": {}, "verdict": "not_run"},
        ]})
    );
    assert_eq!(answer.json()["auth"], json!(null));
    assert_eq!(server.commits(), before);
    let asked = server.script.asked.lock().unwrap();
    assert_eq!(
        (asked[0].role.as_str(), asked[0].jwt.as_str()),
        ("dev", "a.b.c")
    );
}

#[test]
fn allowed_means_that_every_check_passed() {
    let server = Server::with_role();
    for (verdicts, allowed) in [
        (vec![Verdict::Passed, Verdict::Passed], true),
        (vec![Verdict::Passed, Verdict::NotRun], false),
        (vec![], false),
    ] {
        let reports = verdicts.into_iter().map(|it| report(Check::Role, it));
        server.script.explanation.is(reports.collect());
        let data = server.post(EXPLAIN, BODY).expect(200).data();
        assert_eq!(data["allowed"], allowed);
    }
}

#[test]
fn every_check_has_a_name_of_its_own() {
    let checks = [
        (Check::Role, "role"),
        (Check::SourceAddress, "source_address"),
        (Check::Form, "form"),
        (Check::Expiry, "expiry"),
        (Check::Beginning, "beginning"),
        (Check::Subject, "subject"),
        (Check::Audience, "audience"),
        (Check::Key, "key"),
        (Check::Signature, "signature"),
        (Check::Issuer, "issuer"),
        (Check::Inference, "inference"),
        (Check::Lifetime, "lifetime"),
        (Check::InstanceClaims, "instance_claims"),
        (Check::Project, "project"),
        (Check::Instance, "instance"),
        (Check::InstanceAge, "instance_age"),
        (Check::Labels, "labels"),
        (Check::Location, "location"),
        (Check::InstanceGroups, "instance_groups"),
        (Check::Account, "account"),
        (Check::BoundAccount, "bound_account"),
        (Check::Folder, "folder"),
        (Check::Organization, "organization"),
        (Check::GroupAliases, "group_aliases"),
        (Check::Replay, "replay"),
    ];
    let server = Server::with_role();
    let reports = checks
        .iter()
        .map(|(check, _)| report(*check, Verdict::Passed));
    server.script.explanation.is(reports.collect());
    let data = server.post(EXPLAIN, BODY).expect(200).data();
    for (shown, (_, name)) in data["checks"].as_array().unwrap().iter().zip(checks) {
        assert_eq!(shown["check"], name);
    }
}

#[test]
fn the_real_method_explains_without_a_change_and_without_the_token() {
    let server = Server::with_role();
    let before = server.commits();
    let data = server.post(EXPLAIN, BODY).expect(200);
    assert!(!data.text().contains("a.b.c"));
    let data = data.data();
    assert_eq!(data["allowed"], false);
    assert_eq!(
        data["checks"][0],
        json!({"check": "role", "inputs": {"role": "dev"}, "verdict": "passed"})
    );
    let form = data["checks"].as_array().unwrap().iter();
    let form = form.clone().find(|shown| shown["check"] == "form").unwrap();
    assert_eq!(form["verdict"], "failed");
    let data = server
        .post(EXPLAIN, r#"{"role":"none"}"#)
        .expect(200)
        .data();
    assert_eq!(
        data["checks"],
        json!([{"check": "role", "inputs": {"role": "none"}, "verdict": "failed", "reason": "role \"none\" not found"}])
    );
    assert_eq!(server.commits(), before);
}

#[test]
fn explaining_needs_update_on_its_own_path() {
    let server = Server::with_role();
    server
        .send(Method::Post, EXPLAIN, None, BODY)
        .refused(403, "permission denied");
    let login = server.token_with(r#"path "auth/gcp/login" { capabilities = ["update"] }"#);
    server
        .send(Method::Post, EXPLAIN, Some(&login), BODY)
        .refused(403, &listed("permission denied"));
    let explain =
        server.token_with(r#"path "auth/gcp/login/explain" { capabilities = ["update"] }"#);
    server
        .send(Method::Put, EXPLAIN, Some(&explain), BODY)
        .expect(200);
    for method in [Method::Get, Method::Delete, Method::List] {
        server
            .send(method, EXPLAIN, Some(ROOT), "")
            .refused(405, &listed("unsupported operation"));
    }
    server
        .post(EXPLAIN, r#"{"role":"dev","jwt":"x","token":"y"}"#)
        .refused(422, &listed(r#"unknown fields: ["token"]"#));
    let twice = server.post(EXPLAIN, r#"{"role":"dev","role":"dev"}"#);
    twice.expect(400);
}

#[test]
fn a_store_that_failed_explains_nothing() {
    let server = Server::with_role();
    let failed = LoginError::Storage(StoreError::Sealed.into());
    server
        .script
        .explanation
        .is(vec![report(Check::Role, Verdict::Failed(failed))]);
    server.post(EXPLAIN, BODY).refused(503, "Vault is sealed");
}
