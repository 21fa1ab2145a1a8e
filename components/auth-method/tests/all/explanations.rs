//! The extension `login/explain`: every check of a login with its inputs and verdict, and no effect.

use gatehouse_auth_method::{
    Check, CheckReport, ConfigChanges, Login, LoginError, LoginRequest, RoleChanges, Verdict,
};
use gatehouse_ports::{HttpError, IpAddress};

use crate::compute::{ZONE, link, token};
use crate::google::{EMAIL, Fault};
use crate::instances::{gce, signed, stage};
use crate::keys::{self, Token};
use crate::roles::list;
use crate::stage::Stage;

const PROVEN: [Check; 10] = [
    Check::Role,
    Check::SourceAddress,
    Check::Form,
    Check::Expiry,
    Check::Beginning,
    Check::Subject,
    Check::Audience,
    Check::Key,
    Check::Signature,
    Check::Issuer,
];
const OF_INSTANCE: [Check; 9] = [
    Check::InstanceClaims,
    Check::Project,
    Check::Instance,
    Check::InstanceAge,
    Check::Labels,
    Check::Location,
    Check::InstanceGroups,
    Check::Account,
    Check::BoundAccount,
];

/// Explains a login, which must not change anything.
fn explain(stage: &Stage, role: &str, jwt: &str) -> Vec<CheckReport> {
    let request = LoginRequest {
        role: role.to_owned(),
        jwt: jwt.to_owned(),
        source_address: Some(IpAddress::Ipv4((192, 0, 2, 1))),
    };
    let (keys, commits) = (stage.store.keys(), stage.store.commits());
    let reports = stage.service.explain(&stage.mount, &request);
    assert_eq!((stage.store.keys(), stage.store.commits()), (keys, commits));
    let signature = jwt.rsplit('.').next().unwrap_or_default();
    for (_, value) in reports.iter().flat_map(|report| &report.inputs) {
        assert!(
            signature.is_empty() || !value.contains(signature),
            "{value}"
        );
    }
    reports
}

fn checks(reports: &[CheckReport]) -> Vec<Check> {
    reports.iter().map(|report| report.check).collect()
}

fn failures(reports: &[CheckReport]) -> Vec<(Check, LoginError)> {
    let failed = reports.iter().filter_map(|report| match &report.verdict {
        Verdict::Failed(error) => Some((report.check, error.clone())),
        _ => None,
    });
    failed.collect()
}

fn verdict(reports: &[CheckReport], check: Check) -> &Verdict {
    &reports
        .iter()
        .find(|report| report.check == check)
        .unwrap()
        .verdict
}

/// A role with every kind of bound, which the instance is within.
fn everything() -> Stage {
    let stage = stage(RoleChanges {
        bound_projects: list(&["p1"]),
        bound_service_accounts: list(&[EMAIL]),
        bound_regions: list(&["europe-west1"]),
        bound_instance_groups: list(&["web"]),
        bound_labels: list(&["env:prod"]),
        max_instance_age: Some(20_000),
        refuse_replay: Some(true),
        ..gce()
    });
    let members = [link(ZONE, "web-1")];
    stage
        .google
        .state()
        .compute
        .group("regions/europe-west1", "web", &members);
    stage
}

#[test]
fn a_login_that_succeeds_has_passed_every_check_in_order_and_can_still_be_made() {
    let stage = everything();
    let jwt = signed(&token());
    let reports = explain(&stage, "Dev", &jwt);
    let expected: Vec<Check> = [&PROVEN[..], &OF_INSTANCE, &[Check::Replay]].concat();
    let audience = reports
        .iter()
        .find(|report| report.check == Check::Audience)
        .unwrap();
    assert_eq!(failures(&reports), [], "{audience:?}");
    assert_eq!(checks(&reports), expected);
    assert!(
        reports
            .iter()
            .all(|report| report.verdict == Verdict::Passed)
    );
    let labels = reports
        .iter()
        .find(|report| report.check == Check::Labels)
        .unwrap();
    let input = |name: &'static str, value: &str| (name.into(), value.to_owned());
    let expected = [
        input("labels", "env:prod, tier:"),
        input("bound_labels", "env:prod"),
    ];
    assert_eq!(labels.inputs, expected);
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: jwt.clone(),
        source_address: None,
    };
    stage.service.login(&stage.mount, &request).unwrap();
    let reports = explain(&stage, "dev", &jwt);
    assert_eq!(failures(&reports), [(Check::Replay, LoginError::Replayed)]);
}

#[test]
fn a_check_that_fails_does_not_stop_those_that_still_mean_something() {
    let stage = everything();
    stage.role(RoleChanges {
        bound_labels: list(&["env:dev"]),
        bound_projects: list(&["p2"]),
        bound_regions: list(&["us-central1"]),
        bound_service_accounts: list(&["1"]),
        max_instance_age: Some(1),
        token_bound_cidrs: list(&["198.51.100.0/24"]),
        ..RoleChanges::default()
    });
    let reports = explain(&stage, "dev", &signed(&token()));
    assert_eq!(
        checks(&reports),
        [&PROVEN[..], &OF_INSTANCE, &[Check::Replay]].concat()
    );
    let failed: Vec<Check> = failures(&reports)
        .into_iter()
        .map(|(check, _)| check)
        .collect();
    let expected = [
        Check::SourceAddress,
        Check::Project,
        Check::InstanceAge,
        Check::Labels,
        Check::Location,
        Check::InstanceGroups,
        Check::BoundAccount,
    ];
    assert_eq!(failed, expected);
    assert_eq!(verdict(&reports, Check::Account), &Verdict::Passed);
}

#[test]
fn the_first_failure_is_what_a_login_ends_with() {
    let stage = everything();
    stage.role(RoleChanges {
        bound_labels: list(&["env:dev"]),
        bound_regions: list(&["us-central1"]),
        ..RoleChanges::default()
    });
    let jwt = signed(&token());
    let reports = explain(&stage, "dev", &jwt);
    let (_, first) = failures(&reports).remove(0);
    assert_eq!(stage.log_in(&jwt).unwrap_err(), first);
}

#[test]
fn after_a_bad_signature_nothing_is_believed_and_google_not_asked() {
    let stage = everything();
    let forged = token().signed_by(keys::of_stranger());
    let reports = explain(&stage, "dev", &forged);
    assert_eq!(
        failures(&reports),
        [(Check::Signature, LoginError::SignatureInvalid)]
    );
    let expected: Vec<Check> = [&PROVEN[..], &OF_INSTANCE, &[Check::Replay]].concat();
    assert_eq!(checks(&reports), expected);
    for check in OF_INSTANCE
        .into_iter()
        .chain([Check::Issuer, Check::Replay])
    {
        assert_eq!(verdict(&reports, check), &Verdict::NotRun, "{check:?}");
    }
    assert_eq!(stage.google.calls("compute"), 0);
    assert_eq!(stage.google.calls("serviceAccounts"), 0);
}

#[test]
fn an_instance_that_is_not_there_leaves_its_checks_undone() {
    let stage = everything();
    stage.google.state().compute.instances.clear();
    let reports = explain(&stage, "dev", &signed(&token()));
    assert!(matches!(
        verdict(&reports, Check::Instance),
        Verdict::Failed(LoginError::Instance(_))
    ));
    for check in [
        Check::InstanceAge,
        Check::Labels,
        Check::InstanceGroups,
        Check::BoundAccount,
    ] {
        assert_eq!(verdict(&reports, check), &Verdict::NotRun, "{check:?}");
    }
}

#[test]
fn an_outage_is_reported_as_such() {
    let stage = everything();
    stage
        .google
        .fail("aggregated", Fault::Error(HttpError::TimedOut), 3);
    let reports = explain(&stage, "dev", &signed(&token()));
    let expected = LoginError::GoogleUnavailable("compute".into());
    assert_eq!(failures(&reports), [(Check::InstanceGroups, expected)]);
    assert_eq!(verdict(&reports, Check::BoundAccount), &Verdict::Passed);
}

#[test]
fn without_a_role_or_a_token_there_is_little_to_explain() {
    let stage = everything();
    for (role, error) in [
        ("", LoginError::RoleMissing),
        ("nobody", LoginError::RoleNotFound("nobody".to_owned())),
    ] {
        let reports = explain(&stage, role, &signed(&token()));
        assert_eq!(checks(&reports), [Check::Role]);
        assert_eq!(failures(&reports), [(Check::Role, error)]);
    }
    let reports = explain(&stage, "dev", "");
    assert_eq!(failures(&reports), [(Check::Form, LoginError::JwtMissing)]);
    assert!(stage.http.urls().is_empty());
}

#[test]
fn checks_that_the_role_does_not_ask_for_are_left_out() {
    let plain = explain(&stage(gce()), "dev", &signed(&token()));
    assert_eq!(failures(&plain), []);
    let expected = [
        Check::InstanceClaims,
        Check::Project,
        Check::Instance,
        Check::Account,
        Check::BoundAccount,
    ];
    assert_eq!(checks(&plain), [&PROVEN[..], &expected].concat());
    let trusting = stage(RoleChanges {
        live_checks: Some(false),
        ..gce()
    });
    let reports = explain(&trusting, "dev", &signed(&token()));
    assert_eq!(failures(&reports), []);
    assert!(!checks(&reports).contains(&Check::Instance));
    let iam = Stage::ready();
    iam.configure(ConfigChanges::default());
    let jwt = Token::of_account().signed_by(keys::of_account());
    let reports = explain(&iam, "dev", &jwt);
    let expected = [
        Check::Inference,
        Check::Lifetime,
        Check::Account,
        Check::Project,
        Check::BoundAccount,
    ];
    assert_eq!(failures(&reports), []);
    assert_eq!(checks(&reports), [&PROVEN[..], &expected].concat());
}
