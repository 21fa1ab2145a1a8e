//! Renewals of logins on iam roles: contract 4.10, one test for each condition that changed since the login.

use std::time::Duration;

use gatehouse_auth_method::{
    ConfigChanges, Identity, Login, RenewalError, RenewalRequest, RoleChanges, Roles,
};
use gatehouse_ports::HttpError;

use crate::google::{EMAIL, Fault, OTHER_EMAIL, UNIQUE_ID};
use crate::keys::{self, Token};
use crate::stage::Stage;

fn logged_in() -> (Stage, Identity) {
    let stage = Stage::ready();
    let identity = stage
        .log_in(&Token::of_account().signed_by(keys::of_account()))
        .unwrap();
    // Beyond what is remembered of the account.
    stage.clock.advance(Duration::from_secs(61));
    (stage, identity)
}

fn named(name: &str) -> String {
    name.to_owned()
}

#[test]
fn a_renewal_gives_the_token_parameters_of_the_role_as_it_is_now() {
    let (stage, identity) = logged_in();
    stage.role(RoleChanges {
        token_ttl: Some(77),
        token_max_ttl: Some(99),
        token_period: Some(5),
        ..RoleChanges::default()
    });
    let commits = stage.store.commits();
    let token = stage.renew(&identity).unwrap().token;
    assert_eq!((token.ttl, token.maximum_ttl, token.period), (77, 99, 5));
    assert_eq!(stage.store.commits(), commits);
    let last = stage.http.urls().pop().unwrap();
    assert!(
        last.ends_with(UNIQUE_ID),
        "the account is asked for by the id recorded at login: {last}"
    );
}

#[test]
fn metadata_settings_have_no_influence_on_renewal() {
    let (stage, identity) = logged_in();
    stage.configure(ConfigChanges {
        iam_metadata: Some(Vec::new()),
        ..ConfigChanges::default()
    });
    assert!(stage.renew(&identity).is_ok());
}

#[test]
fn g16_the_role_is_gone() {
    let (stage, identity) = logged_in();
    stage.service.delete_role(&stage.mount, "DEV").unwrap();
    assert_eq!(
        stage.renew(&identity).unwrap_err(),
        RenewalError::RoleGone(named("dev"))
    );
}

#[test]
fn g16_the_policies_of_the_role_have_changed() {
    let (stage, identity) = logged_in();
    let policies = |names: &[&str]| RoleChanges {
        token_policies: Some(names.iter().map(|name| named(name)).collect()),
        ..RoleChanges::default()
    };
    stage.role(policies(&["default", "PROD"]));
    assert!(stage.renew(&identity).is_ok());
    for changed in [&["prod", "more"][..], &[], &["dev"]] {
        stage.role(policies(changed));
        let expected = RenewalError::PoliciesChanged(named("dev"));
        assert_eq!(stage.renew(&identity).unwrap_err(), expected);
    }
}

#[test]
fn g16_the_account_is_disabled_deleted_or_hidden() {
    let not_found = RenewalError::AccountNotFound(named(UNIQUE_ID));
    let (stage, identity) = logged_in();
    stage.google.disable(EMAIL);
    assert_eq!(stage.renew(&identity).unwrap_err(), not_found);
    let (stage, identity) = logged_in();
    stage.google.state().accounts.clear();
    assert_eq!(stage.renew(&identity).unwrap_err(), not_found);
    let (stage, identity) = logged_in();
    let hidden = crate::google::refusal(403, "Permission denied", "forbidden");
    stage
        .google
        .fail("serviceAccounts/", Fault::Answer(hidden), 1);
    assert_eq!(stage.renew(&identity).unwrap_err(), not_found);
}

#[test]
fn g11_an_account_made_again_under_the_same_address_is_another_account() {
    let (stage, identity) = logged_in();
    stage
        .google
        .change(EMAIL, |account| account.unique_id = named("333"));
    let expected = RenewalError::AccountNotFound(named(UNIQUE_ID));
    assert_eq!(stage.renew(&identity).unwrap_err(), expected);
}

#[test]
fn g16_google_signed_tokens_are_not_allowed_any_more() {
    let stage = Stage::ready();
    let identity = stage
        .log_in(&Token::of_google().signed_by(keys::of_google()))
        .unwrap();
    assert!(stage.renew(&identity).is_ok());
    stage.role(RoleChanges {
        allow_gce_inference: Some(false),
        ..RoleChanges::default()
    });
    let expected = RenewalError::InferenceNotAllowed(named("dev"));
    assert_eq!(stage.renew(&identity).unwrap_err(), expected);
    let (stage, identity) = logged_in();
    stage.role(RoleChanges {
        allow_gce_inference: Some(false),
        ..RoleChanges::default()
    });
    assert!(
        stage.renew(&identity).is_ok(),
        "the account had signed that login's token itself"
    );
}

#[test]
fn g16_the_role_has_other_accounts_or_projects() {
    let expected = RenewalError::AccountNotBound(named("dev"));
    let (stage, identity) = logged_in();
    stage.role(RoleChanges {
        bound_service_accounts: Some(vec![named(OTHER_EMAIL)]),
        ..RoleChanges::default()
    });
    assert_eq!(stage.renew(&identity).unwrap_err(), expected);
    let (stage, identity) = logged_in();
    stage.role(RoleChanges {
        bound_projects: Some(vec![named("p2")]),
        ..RoleChanges::default()
    });
    assert_eq!(stage.renew(&identity).unwrap_err(), expected);
    let (stage, identity) = logged_in();
    stage
        .google
        .change(EMAIL, |account| account.project_id = named("p7"));
    assert!(stage.renew(&identity).is_ok(), "any project is allowed");
}

#[test]
fn g16_the_caller_must_be_in_the_networks_of_the_token_not_of_the_role() {
    let stage = Stage::ready();
    let bind = |networks: &[&str]| {
        stage.role(RoleChanges {
            token_bound_cidrs: Some(networks.iter().map(|network| named(network)).collect()),
            ..RoleChanges::default()
        });
    };
    bind(&["192.0.2.0/24"]);
    let identity = stage
        .log_in(&Token::of_account().signed_by(keys::of_account()))
        .unwrap();
    bind(&[]);
    let calls = stage.http.urls().len();
    for address in [Some("198.51.100.1"), None] {
        let refused = stage.renew_from(&identity, address).unwrap_err();
        assert_eq!(refused, RenewalError::AddressNotAllowed);
    }
    assert_eq!(stage.http.urls().len(), calls);
    assert!(stage.renew_from(&identity, Some("192.0.2.9")).is_ok());
}

#[test]
fn contract_4_10_an_outage_says_nothing_about_the_token() {
    let (stage, identity) = logged_in();
    stage
        .google
        .fail("serviceAccounts/", Fault::Error(HttpError::TimedOut), 3);
    let expected = RenewalError::GoogleUnavailable("iam".into());
    for _ in 0..2 {
        assert_eq!(stage.renew(&identity).unwrap_err(), expected);
    }
    stage.clock.advance(std::time::Duration::from_secs(5));
    assert!(stage.renew(&identity).is_ok());
}

#[test]
fn a_state_that_this_capability_did_not_write_is_refused() {
    let (stage, identity) = logged_in();
    for state in [&b""[..], b"x", b"\x00\x01{}", b"\x00\x63{}"] {
        let request = RenewalRequest {
            renewal_state: state.to_vec(),
            token_policies: identity.token.policies.clone(),
            source_address: None,
        };
        let refused = stage
            .service
            .revalidate(&stage.mount, &request)
            .unwrap_err();
        assert_eq!(refused, RenewalError::StateUnreadable);
    }
}
