//! The bounds of gce roles on an instance and its account: contract 4.6, G8 to G13 without groups; SEC-G9, G11, G13; D8, D10.

use std::time::Duration;

use gatehouse_auth_method::{
    AccountRefusal, ApiRefusal, InstanceAccountNotBound, InstanceTooOld, LabelMissing, LoginError,
    RoleChanges,
};
use serde_json::{Value, json};

use crate::compute::{self, ZONE, token, token_with};
use crate::google::{EMAIL, OTHER_EMAIL, OTHER_ID, UNIQUE_ID};
use crate::instances::{gce, names, not_found, outcome, signed, stage};
use crate::roles::list;
use crate::stage::NOW;

#[test]
fn g13_every_bound_label_is_there_exactly() {
    let bound = |labels: &[&str]| RoleChanges {
        bound_labels: list(labels),
        ..gce()
    };
    assert!(outcome(bound(&["env:prod"]), |_| {}).is_ok());
    assert!(outcome(bound(&["env:prod", "tier:"]), |_| {}).is_ok());
    for (labels, key, value) in [
        (&["env:Prod"][..], "env", "Prod"),
        (&["env:"], "env", ""),
        (&["env:prod", "team:a"], "team", "a"),
        (&["none:"], "none", ""),
    ] {
        let expected = LoginError::LabelMissing(LabelMissing {
            key: key.to_owned(),
            value: value.to_owned(),
        });
        assert_eq!(outcome(bound(labels), |_| {}).unwrap_err(), expected);
    }
    let unlabelled = outcome(bound(&["env:prod"]), |instance| {
        instance.set("labels", Value::Null)
    });
    assert!(matches!(
        unlabelled.unwrap_err(),
        LoginError::LabelMissing(_)
    ));
}

#[test]
fn g9_the_zone_that_google_gives_counts() {
    let bound = |zones: &[&str]| RoleChanges {
        bound_zones: list(zones),
        bound_regions: list(&["elsewhere"]),
        ..gce()
    };
    assert!(
        outcome(bound(&[ZONE, "z"]), |_| {}).is_ok(),
        "regions do not count beside zones"
    );
    let expected = LoginError::ZoneNotBound(names(&["europe-west1", "europe-west1-c"]));
    let refused = outcome(bound(&["europe-west1-c", "europe-west1"]), |_| {}).unwrap_err();
    assert_eq!(refused, expected);
    let moved = |instance: &mut compute::Instance| {
        instance.set(
            "zone",
            "https://www.googleapis.com/compute/v1/projects/p1/zones/z",
        );
    };
    assert!(outcome(bound(&["z"]), moved).is_ok());
    assert_eq!(
        outcome(bound(&[ZONE]), moved).unwrap_err(),
        LoginError::ZoneNotBound(names(&[ZONE]))
    );
}

#[test]
fn the_region_is_exactly_that_of_the_zone() {
    let bound = |regions: &[&str]| RoleChanges {
        bound_regions: list(regions),
        ..gce()
    };
    assert!(outcome(bound(&["europe-west1"]), |_| {}).is_ok());
    for other in ["europe-west10", "europe-west", "europe-west1-b", "europe"] {
        let refused = outcome(bound(&[other]), |_| {}).unwrap_err();
        assert_eq!(refused, LoginError::RegionNotBound(names(&[other])));
    }
}

#[test]
fn d8_the_wildcard_lets_every_account_in_as_an_empty_list_does() {
    for accounts in [&["*"][..], &[], &[EMAIL], &[UNIQUE_ID], &[EMAIL, OTHER_ID]] {
        let changes = RoleChanges {
            bound_service_accounts: list(accounts),
            ..gce()
        };
        assert!(outcome(changes, |_| {}).is_ok(), "{accounts:?}");
    }
}

#[test]
fn g11_another_account_is_not_one_of_the_roles() {
    for other in [OTHER_EMAIL, OTHER_ID, "DEV@p1.iam.gserviceaccount.com"] {
        let changes = RoleChanges {
            bound_service_accounts: list(&[other]),
            ..gce()
        };
        let expected = LoginError::InstanceAccountNotBound(InstanceAccountNotBound {
            unique_id: UNIQUE_ID.to_owned(),
            email: EMAIL.to_owned(),
            bound: names(&[other]),
        });
        assert_eq!(outcome(changes, |_| {}).unwrap_err(), expected);
    }
}

#[test]
fn an_account_that_cannot_be_read_is_refused_in_the_words_of_its_step() {
    let refusal = AccountRefusal {
        account: UNIQUE_ID.to_owned(),
        refusal: ApiRefusal {
            message: "Unknown service account".to_owned(),
            ..not_found()
        },
    };
    let any = stage(gce());
    any.google.state().accounts.clear();
    let expected = LoginError::InstanceAccountNotFound(refusal.clone());
    assert_eq!(any.log_in(&signed(&token())).unwrap_err(), expected);
    let bound = stage(RoleChanges {
        bound_service_accounts: list(&[EMAIL]),
        ..gce()
    });
    bound.google.state().accounts.clear();
    let expected = LoginError::BoundAccountNotFound(refusal);
    assert_eq!(bound.log_in(&signed(&token())).unwrap_err(), expected);
    assert_eq!(
        bound.google.calls("serviceAccounts"),
        1,
        "one question serves both steps"
    );
}

#[test]
fn d10_a_disabled_account_is_refused() {
    let stage = stage(gce());
    stage.google.disable(EMAIL);
    let expected = LoginError::AccountDisabled(EMAIL.to_owned());
    assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
}

#[test]
fn g9_the_account_of_the_token_is_attached_to_the_instance() {
    let expected = LoginError::AccountNotAttached(EMAIL.to_owned());
    for attached in [json!([{"email": OTHER_EMAIL}]), json!([]), Value::Null] {
        let refused = outcome(gce(), |instance| instance.set("serviceAccounts", attached));
        assert_eq!(refused.unwrap_err(), expected);
    }
    let both = json!([{"email": OTHER_EMAIL}, {"email": EMAIL}]);
    assert!(outcome(gce(), |instance| instance.set("serviceAccounts", both)).is_ok());
    let stage = stage(gce());
    let foreign = token().claim("sub", OTHER_ID);
    let refused = stage.log_in(&signed(&foreign)).unwrap_err();
    assert_eq!(
        refused,
        LoginError::AccountNotAttached(OTHER_EMAIL.to_owned())
    );
}

#[test]
fn an_instance_beyond_the_maximum_age_is_refused() {
    let stage = stage(RoleChanges {
        max_instance_age: Some(10_001),
        ..gce()
    });
    assert!(stage.log_in(&signed(&token())).is_ok());
    stage.clock.advance(Duration::from_secs(1));
    assert!(stage.log_in(&signed(&token())).is_ok());
    stage.clock.advance(Duration::from_secs(1));
    let expected = LoginError::InstanceTooOld(InstanceTooOld {
        age: 10_002,
        maximum: 10_001,
    });
    assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
    let claimed_younger = token_with("instance_creation_timestamp", NOW);
    assert_eq!(
        stage.log_in(&signed(&claimed_younger)).unwrap_err(),
        expected,
        "the API's time counts"
    );
    stage.role(RoleChanges {
        max_instance_age: Some(0),
        ..RoleChanges::default()
    });
    assert!(stage.log_in(&signed(&token())).is_ok());
}
