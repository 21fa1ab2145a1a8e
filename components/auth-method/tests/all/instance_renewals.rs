//! Renewals of logins on gce roles: contract 4.10/R6, one test for each condition that changed since the login; SEC-G16; D28.

use std::time::Duration;

use gatehouse_auth_method::{
    CreatedLater, Identity, InstanceAccountNotBound, InstanceError, InstanceProjectNotBound,
    InstanceRefused, InstanceTooOld, LabelMissing, LoginError, RenewalError, RoleChanges, Roles,
};
use gatehouse_ports::HttpError;
use serde_json::json;

use crate::compute::{CREATED, Instance, ZONE, link, token};
use crate::google::{EMAIL, Fault, OTHER_EMAIL, UNIQUE_ID};
use crate::instances::{gce, signed, stage};
use crate::roles::{list, text};
use crate::stage::Stage;

/// A role with every kind of bound, and an instance within them that has logged in.
fn logged_in() -> (Stage, Identity) {
    let stage = stage(RoleChanges {
        bound_projects: list(&["p1"]),
        bound_service_accounts: list(&[EMAIL]),
        bound_regions: list(&["europe-west1"]),
        bound_instance_groups: list(&["web"]),
        bound_labels: list(&["env:prod"]),
        ..gce()
    });
    let members = [link(ZONE, "web-1")];
    stage
        .google
        .state()
        .compute
        .group("regions/europe-west1", "web", &members);
    let identity = stage.log_in(&signed(&token())).unwrap();
    // Beyond what is remembered of the account.
    stage.clock.advance(Duration::from_secs(61));
    (stage, identity)
}

/// The refusal of a renewal after the role has been changed.
fn after_role(changes: RoleChanges) -> RenewalError {
    let (stage, identity) = logged_in();
    stage.role(changes);
    refused(&stage, &identity)
}

/// The refusal of a renewal after the instance has been changed.
fn after_instance(change: impl FnOnce(&mut Instance)) -> RenewalError {
    let (stage, identity) = logged_in();
    change(&mut stage.google.state().compute.instances[0]);
    refused(&stage, &identity)
}

fn refused(stage: &Stage, identity: &Identity) -> RenewalError {
    let commits = stage.store.commits();
    let error = stage.renew(identity).unwrap_err();
    assert_eq!(stage.store.commits(), commits);
    error
}

fn because(refusal: LoginError) -> RenewalError {
    RenewalError::InstanceRefused(InstanceRefused {
        role: "dev".to_owned(),
        refusal,
    })
}

fn flawed(flaw: InstanceError) -> RenewalError {
    because(LoginError::Instance(gatehouse_auth_method::Instance {
        project: "p1".to_owned(),
        zone: ZONE.to_owned(),
        name: "web-1".to_owned(),
        flaw,
    }))
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn an_instance_is_renewed_under_the_role_as_it_is_now() {
    let (stage, identity) = logged_in();
    stage.role(RoleChanges {
        token_ttl: Some(77),
        token_max_ttl: Some(99),
        bound_labels: list(&["env:prod", "tier:"]),
        ..RoleChanges::default()
    });
    let before = stage.http.urls().len();
    let renewed = stage.renew(&identity).unwrap();
    assert_eq!((renewed.token.ttl, renewed.token.maximum_ttl), (77, 99));
    assert_eq!(renewed.group_aliases, None);
    let urls = stage.http.urls().split_off(before);
    assert_eq!(
        urls.len(),
        4,
        "instance, groups, members, account: {urls:?}"
    );
    assert!(urls[0].ends_with("/instances/web-1") && urls[3].ends_with(UNIQUE_ID));
}

#[test]
fn g16_the_role_is_gone_or_has_other_policies() {
    let (stage, identity) = logged_in();
    let changed = RoleChanges {
        token_policies: list(&["other"]),
        ..RoleChanges::default()
    };
    stage.role(changed);
    let calls = stage.http.urls().len();
    let expected = RenewalError::PoliciesChanged("dev".to_owned());
    assert_eq!(refused(&stage, &identity), expected);
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    assert_eq!(
        refused(&stage, &identity),
        RenewalError::RoleGone("dev".to_owned())
    );
    assert_eq!(stage.http.urls().len(), calls);
}

#[test]
fn d28_r6_the_project_is_checked_again() {
    let error = after_role(RoleChanges {
        bound_projects: list(&["p2"]),
        ..RoleChanges::default()
    });
    let expected = because(LoginError::InstanceProjectNotBound(
        InstanceProjectNotBound {
            instance_id: crate::compute::INSTANCE_ID.to_owned(),
            project: "p1".to_owned(),
            bound_projects: named(&["p2"]),
        },
    ));
    assert_eq!(error, expected);
}

#[test]
fn g16_the_instance_has_stopped_or_is_another_or_is_gone() {
    let stopped = after_instance(|instance| instance.set("status", "TERMINATED"));
    assert_eq!(
        stopped,
        flawed(InstanceError::Status("TERMINATED".to_owned()))
    );
    let replaced = after_instance(|instance| instance.set("id", "1"));
    assert_eq!(replaced, flawed(InstanceError::OtherId));
    let recreated =
        after_instance(|instance| instance.set("creationTimestamp", "2027-01-15T08:00:00.000Z"));
    let expected = InstanceError::CreatedLater(CreatedLater {
        claimed: CREATED,
        created: crate::stage::NOW,
    });
    assert_eq!(recreated, flawed(expected));
    let (stage, identity) = logged_in();
    stage.google.state().compute.instances.clear();
    let gone = refused(&stage, &identity);
    let RenewalError::InstanceRefused(InstanceRefused { refusal, .. }) = gone else {
        panic!("{gone:?}");
    };
    assert!(matches!(
        refusal,
        LoginError::Instance(gatehouse_auth_method::Instance { flaw: InstanceError::Refused(refusal), .. }) if refusal.status == 404
    ));
}

#[test]
fn g16_labels_and_places_are_checked_again() {
    let unlabelled = after_instance(|instance| instance.set("labels", json!({"env": "dev"})));
    let expected = LoginError::LabelMissing(LabelMissing {
        key: "env".to_owned(),
        value: "prod".to_owned(),
    });
    assert_eq!(unlabelled, because(expected));
    let zones = after_role(RoleChanges {
        bound_zones: list(&["europe-west1-c"]),
        ..RoleChanges::default()
    });
    assert_eq!(
        zones,
        because(LoginError::ZoneNotBound(named(&["europe-west1-c"])))
    );
    let regions = after_role(RoleChanges {
        bound_regions: list(&["europe-west10"]),
        ..RoleChanges::default()
    });
    assert_eq!(
        regions,
        because(LoginError::RegionNotBound(named(&["europe-west10"])))
    );
    let (stage, identity) = logged_in();
    stage.google.state().compute.groups[0].members.clear();
    let expected = because(LoginError::NotInGroups(named(&["web"])));
    assert_eq!(refused(&stage, &identity), expected);
}

#[test]
fn g16_the_account_is_checked_again() {
    let error = after_role(RoleChanges {
        bound_service_accounts: list(&[OTHER_EMAIL]),
        ..RoleChanges::default()
    });
    let expected = LoginError::InstanceAccountNotBound(InstanceAccountNotBound {
        unique_id: UNIQUE_ID.to_owned(),
        email: EMAIL.to_owned(),
        bound: named(&[OTHER_EMAIL]),
    });
    assert_eq!(error, because(expected));
    let (stage, identity) = logged_in();
    stage.google.disable(EMAIL);
    let expected = because(LoginError::AccountDisabled(EMAIL.to_owned()));
    assert_eq!(refused(&stage, &identity), expected);
    let detached = after_instance(|instance| instance.set("serviceAccounts", json!([])));
    assert_eq!(
        detached,
        because(LoginError::AccountNotAttached(EMAIL.to_owned()))
    );
    let (stage, identity) = logged_in();
    stage
        .google
        .change(EMAIL, |account| account.unique_id = "333".to_owned());
    let again = refused(&stage, &identity);
    let RenewalError::InstanceRefused(InstanceRefused { refusal, .. }) = again else {
        panic!("{again:?}");
    };
    assert!(
        matches!(refusal, LoginError::BoundAccountNotFound(_)),
        "SEC-G11: {refusal:?}"
    );
}

#[test]
fn g16_an_instance_can_grow_too_old() {
    let error = after_role(RoleChanges {
        max_instance_age: Some(10_060),
        ..RoleChanges::default()
    });
    let expected = LoginError::InstanceTooOld(InstanceTooOld {
        age: 10_061,
        maximum: 10_060,
    });
    assert_eq!(error, because(expected));
}

#[test]
fn g16_the_caller_must_be_in_the_networks_of_the_token() {
    let stage = stage(RoleChanges {
        token_bound_cidrs: list(&["192.0.2.0/24"]),
        ..gce()
    });
    let identity = stage.log_in(&signed(&token())).unwrap();
    let calls = stage.http.urls().len();
    for address in [Some("198.51.100.1"), None] {
        let error = stage.renew_from(&identity, address).unwrap_err();
        assert_eq!(error, RenewalError::AddressNotAllowed);
    }
    assert_eq!(stage.http.urls().len(), calls);
    assert!(stage.renew(&identity).is_ok());
}

#[test]
fn contract_4_10_an_outage_of_compute_says_nothing_about_the_token() {
    let (stage, identity) = logged_in();
    for part in ["/instances/web-1", "aggregated", "listInstances"] {
        stage
            .google
            .fail(part, Fault::Error(HttpError::TimedOut), 3);
        let expected = RenewalError::GoogleUnavailable("compute".into());
        assert_eq!(refused(&stage, &identity), expected, "{part}");
        stage.google.heal();
    }
    assert!(stage.renew(&identity).is_ok());
}

#[test]
fn a_role_made_again_with_the_other_type_is_asked_in_its_own_way() {
    let (stage, identity) = logged_in();
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    stage.role(RoleChanges {
        role_type: text("iam"),
        bound_service_accounts: list(&[OTHER_EMAIL]),
        token_policies: list(&["prod"]),
        ..RoleChanges::default()
    });
    let expected = RenewalError::AccountNotBound("dev".to_owned());
    assert_eq!(refused(&stage, &identity), expected);
    let stage = Stage::ready();
    let identity = stage
        .log_in(&crate::keys::Token::of_account().signed_by(crate::keys::of_account()))
        .unwrap();
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    stage.role(gce());
    assert_eq!(
        refused(&stage, &identity),
        because(LoginError::InstanceClaimsMissing)
    );
}
