//! The steps of a login one by one and in their order: contract 4.2, 4.4/I3.

use gatehouse_auth_method::{JwtError, KeyLookupError, KeyNotFound, LoginError, RoleChanges};
use serde_json::{Value, json};

use crate::compute::token as instance_token;
use crate::google::{EMAIL, OTHER_EMAIL, UNIQUE_ID};
use crate::instances::{gce, signed};
use crate::keys::{self, Token};
use crate::refusals::{audience, by_account, malformed, with_claim};
use crate::roles::list;
use crate::stage::{NOW, Stage};

/// A refusal, or a flaw in the form of the token.
type JwtOr = Result<LoginError, JwtError>;

#[test]
fn contract_4_2_step_5_what_is_not_a_signed_token_is_refused() {
    let stage = Stage::ready();
    assert_eq!(stage.refuse("ya29.c"), malformed(JwtError::NotThreeParts));
}

#[test]
fn contract_4_2_step_7_a_key_that_is_not_published_is_refused() {
    let stage = Stage::ready();
    let token = Token::of_account().header("kid", "gone");
    let expected = LoginError::KeyNotFound(KeyNotFound {
        key_id: "gone".to_owned(),
        subject: EMAIL.to_owned(),
        refusal: KeyLookupError::KeyUnknown,
    });
    assert_eq!(stage.refuse(&by_account(&token)), (expected, 2));
}

#[test]
fn contract_4_2_step_9a_an_expired_token_is_refused() {
    assert_eq!(with_claim("exp", NOW - 60), (LoginError::Expired, 0));
    assert_eq!(with_claim("exp", Value::Null), (LoginError::Expired, 0));
}

#[test]
fn contract_4_2_step_9b_a_token_that_lasts_more_than_an_hour_is_refused() {
    let expected = LoginError::ExpiresTooLate(3661);
    assert_eq!(with_claim("exp", NOW + 3661), (expected, 0));
}

#[test]
fn contract_4_2_step_9c_a_token_from_the_future_is_refused() {
    for name in ["nbf", "iat"] {
        assert_eq!(with_claim(name, NOW + 61), (LoginError::NotYetValid, 0));
    }
}

#[test]
fn contract_4_2_step_9d_a_token_without_a_subject_is_refused() {
    for absent in [Value::Null, json!("")] {
        assert_eq!(with_claim("sub", absent), (LoginError::SubjectMissing, 0));
    }
}

#[test]
fn contract_4_2_step_9e_a_token_for_another_audience_is_refused() {
    assert_eq!(with_claim("aud", "vault/other"), (audience(), 0));
}

#[test]
fn contract_4_2_step_9f_an_issuer_that_has_not_signed_is_refused() {
    let expected = (LoginError::IssuerNotAcceptable, 2);
    assert_eq!(with_claim("iss", "accounts.google.com"), expected);
}

#[test]
fn contract_4_2_step_10_the_type_of_the_role_decides_what_is_asked_for() {
    let iam = Stage::ready();
    iam.log_in(&signed(&instance_token())).unwrap();
    assert_eq!(iam.google.calls("compute"), 0);
    let gce = crate::instances::stage(gce());
    gce.log_in(&signed(&instance_token())).unwrap();
    assert_eq!(gce.google.calls("compute"), 1);
}

#[test]
fn contract_4_2_the_first_failure_ends_the_login() {
    let stage = Stage::ready();
    stage.role(RoleChanges {
        bound_projects: list(&["p9"]),
        ..RoleChanges::default()
    });
    let mut token = Token::of_account()
        .header("alg", "none")
        .header("kid", "gone")
        .claim("exp", NOW - 60)
        .claim("nbf", NOW + 61)
        .claim("sub", "")
        .claim("aud", "vault/other")
        .claim("iss", OTHER_EMAIL);
    type Mend = fn(Token) -> Token;
    let steps: [(JwtOr, Mend); 8] = [
        (Err(JwtError::Algorithm), |token| {
            token.header("alg", "RS256")
        }),
        (Ok(LoginError::Expired), |token| {
            token.claim("exp", NOW + 3700)
        }),
        (Ok(LoginError::ExpiresTooLate(3700)), |token| {
            token.claim("exp", NOW + 961)
        }),
        (Ok(LoginError::NotYetValid), |token| token.claim("nbf", NOW)),
        (Ok(LoginError::SubjectMissing), |token| {
            token.claim("sub", EMAIL)
        }),
        (Ok(audience()), |token| token.claim("aud", "vault/dev")),
        (
            Ok(LoginError::KeyNotFound(KeyNotFound {
                key_id: "gone".to_owned(),
                subject: EMAIL.to_owned(),
                refusal: KeyLookupError::KeyUnknown,
            })),
            |token| token.header("kid", "account-key"),
        ),
        (Ok(LoginError::IssuerNotAcceptable), |token| {
            token.claim("iss", EMAIL)
        }),
    ];
    for (expected, mend) in steps {
        let expected = expected.unwrap_or_else(LoginError::MalformedJwt);
        assert_eq!(stage.log_in(&by_account(&token)).unwrap_err(), expected);
        token = mend(token);
    }
    let by_stranger = stage.log_in(&token.signed_by(keys::of_stranger()));
    assert_eq!(by_stranger.unwrap_err(), LoginError::SignatureInvalid);
    let beyond = LoginError::ExpiresBeyondRole(900);
    assert_eq!(stage.log_in(&by_account(&token)).unwrap_err(), beyond);
    assert_eq!(stage.google.calls("serviceAccounts/dev"), 0, "I2 before I3");
    let token = token.claim("exp", NOW + 960);
    let refused = stage.log_in(&by_account(&token)).unwrap_err();
    assert!(matches!(refused, LoginError::ProjectNotBound(_)));
}

#[test]
fn i3_the_account_is_asked_for_by_the_subject_in_any_project() {
    for (subject, calls) in [(EMAIL, 1), (UNIQUE_ID, 1)] {
        let stage = Stage::ready();
        let token = Token::of_account().claim("sub", subject);
        stage.log_in(&by_account(&token)).unwrap();
        let url = format!("https://iam.googleapis.com/v1/projects/-/serviceAccounts/{subject}");
        let asked = stage.http.urls();
        assert_eq!(asked.iter().filter(|asked| **asked == url).count(), calls);
    }
    let stage = Stage::ready();
    stage.google.state().accounts.clear();
    let refused = stage.log_in(&by_account(&Token::of_account())).unwrap_err();
    assert!(matches!(refused, LoginError::AccountNotFound(_)));
}
