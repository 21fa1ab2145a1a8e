//! Logging in on iam roles: contract 4.2 to 4.5, 4.7, 7.1.

use gatehouse_auth_method::{
    AccountNotBound, ConfigChanges, KeyLookupError, KeyNotFound, Login, LoginError, LoginRequest,
    ProjectNotBound, RoleChanges, Roles, TokenParameters,
};
use serde_json::{Value, json};

use crate::google::{self, EMAIL, Fault, OTHER_EMAIL, OTHER_ID, UNIQUE_ID};
use crate::keys::{self, Token};
use crate::stage::{NOW, Stage, dev_role};

fn names(list: &[&str]) -> Option<Vec<String>> {
    Some(list.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn an_account_logs_in_with_a_token_it_has_signed() {
    let stage = Stage::ready();
    stage.role(RoleChanges {
        token_ttl: Some(600),
        token_bound_cidrs: names(&["192.0.2.0/24"]),
        ..dev_role()
    });
    let role = stage
        .service
        .read_role(&stage.mount, "dev")
        .unwrap()
        .unwrap();
    let jwt = Token::of_account().signed_by(keys::of_account());
    let identity = stage.log_in(&jwt).unwrap();
    assert_eq!(identity.role, "dev");
    assert_eq!(identity.role_id, role.role_id);
    assert_eq!(identity.display_name, EMAIL);
    assert_eq!(identity.alias_name, role.role_id);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let metadata = [
        pair("project_id", "p1"),
        pair("role", "dev"),
        pair("service_account_id", UNIQUE_ID),
        pair("service_account_email", EMAIL),
    ];
    assert_eq!(identity.metadata, metadata);
    let token = TokenParameters {
        ttl: 600,
        policies: vec!["Prod".to_owned()],
        bound_cidrs: vec!["192.0.2.0/24".to_owned()],
        ..TokenParameters::default()
    };
    assert_eq!(identity.token, token);
    let state = String::from_utf8_lossy(&identity.renewal_state).into_owned();
    assert!(state.contains(UNIQUE_ID) && !state.contains(&jwt));
}

#[test]
fn the_four_calls_of_a_first_login_go_to_google_with_the_right_credentials() {
    let stage = Stage::ready();
    stage
        .log_in(&Token::of_account().signed_by(keys::of_account()))
        .unwrap();
    let state = stage.google.state();
    let urls: Vec<&str> = state
        .requests
        .iter()
        .map(|request| request.url.as_str())
        .collect();
    let base = "https://www.googleapis.com";
    assert_eq!(
        urls,
        [
            format!("{base}/oauth2/v1/certs"),
            format!("{base}/service_accounts/v1/metadata/x509/{EMAIL}?alt=json"),
            "https://oauth2.googleapis.com/token".to_owned(),
            format!("https://iam.googleapis.com/v1/projects/-/serviceAccounts/{EMAIL}"),
        ]
    );
    let authorized: Vec<bool> = state
        .requests
        .iter()
        .map(|request| request.authorization.is_some())
        .collect();
    assert_eq!(authorized, [false, false, false, true]);
    assert!(
        state
            .requests
            .iter()
            .all(|request| request.timeout_seconds <= 10.0)
    );
}

#[test]
fn an_account_named_by_its_unique_id_logs_in() {
    let stage = Stage::ready();
    stage.role(RoleChanges {
        bound_service_accounts: names(&[UNIQUE_ID]),
        ..RoleChanges::default()
    });
    let jwt = Token::of_account()
        .claim("sub", UNIQUE_ID)
        .signed_by(keys::of_account());
    assert_eq!(stage.log_in(&jwt).unwrap().display_name, EMAIL);
}

#[test]
fn contract_4_4_a_google_signed_token_logs_in_and_may_last_an_hour() {
    let stage = Stage::ready();
    let jwt = Token::of_google().signed_by(keys::of_google());
    assert_eq!(stage.log_in(&jwt).unwrap().display_name, EMAIL);
    assert_eq!(
        stage.google.calls("x509"),
        0,
        "the account's keys are not asked for"
    );
}

#[test]
fn alias_contract_7_1_the_unique_id_names_the_entity_when_configured() {
    let stage = Stage::ready();
    stage.configure(ConfigChanges {
        iam_alias: Some("unique_id".to_owned()),
        iam_metadata: names(&["role"]),
        ..ConfigChanges::default()
    });
    let identity = stage
        .log_in(&Token::of_account().signed_by(keys::of_account()))
        .unwrap();
    assert_eq!(identity.alias_name, UNIQUE_ID);
    assert_eq!(identity.metadata, [("role".to_owned(), "dev".to_owned())]);
}

#[test]
fn g17_the_role_is_found_in_any_letter_case_and_shown_in_lower_case() {
    let stage = Stage::ready();
    for (role, audience) in [("DEV", "vault/DEV"), ("Dev", "vault/dev")] {
        let jwt = Token::of_account()
            .claim("aud", audience)
            .signed_by(keys::of_account());
        let request = LoginRequest {
            role: role.to_owned(),
            jwt,
            source_address: None,
        };
        let identity = stage.service.login(&stage.mount, &request).unwrap();
        assert_eq!(identity.role, "dev");
    }
}

#[test]
fn contract_4_2_steps_1_to_3_need_a_role_and_a_token_in_this_order() {
    let stage = Stage::ready();
    let attempt = |role: &str, jwt: &str| {
        let request = LoginRequest {
            role: role.to_owned(),
            jwt: jwt.to_owned(),
            source_address: None,
        };
        stage.service.login(&stage.mount, &request).unwrap_err()
    };
    let not_found = |role: &str| LoginError::RoleNotFound(role.to_owned());
    assert_eq!(attempt("", ""), LoginError::RoleMissing);
    assert_eq!(attempt("Nobody", ""), not_found("Nobody"));
    assert_eq!(attempt("../config", "x"), not_found("../config"));
    assert_eq!(attempt("dev", ""), LoginError::JwtMissing);
    assert!(stage.http.urls().is_empty());
}

#[test]
fn contract_4_2_step_4_a_foreign_address_is_refused_before_google_is_asked() {
    let stage = Stage::ready();
    stage.role(RoleChanges {
        token_bound_cidrs: names(&["10.0.0.0/8"]),
        ..RoleChanges::default()
    });
    let jwt = Token::of_account().signed_by(keys::of_account());
    for address in [Some("192.0.2.1"), Some("2001:db8::1"), None] {
        let refused = stage.log_in_from(&jwt, address).unwrap_err();
        assert_eq!(refused, LoginError::AddressNotAllowed);
    }
    assert!(stage.http.urls().is_empty());
    assert!(stage.log_in_from(&jwt, Some("10.1.2.3")).is_ok());
}

/// Flawed claims, which are refused without a call, whichever key signed the token.
fn refused_claims() -> Vec<(&'static str, Value, LoginError)> {
    let audience = || LoginError::AudienceNotForRole("dev".to_owned());
    let too_late = |seconds| LoginError::ExpiresTooLate(seconds);
    vec![
        ("exp", Value::Null, LoginError::Expired),
        ("exp", json!((NOW + 600).to_string()), LoginError::Expired),
        ("exp", json!(true), LoginError::Expired),
        ("exp", json!(0), LoginError::Expired),
        ("exp", json!(-1), LoginError::Expired),
        ("exp", json!(NOW - 60), LoginError::Expired),
        (
            "exp",
            json!(9_223_372_036_854_775_808_u64),
            LoginError::Expired,
        ),
        ("exp", json!(u64::MAX), LoginError::Expired),
        ("exp", json!(1e18), LoginError::Expired),
        ("exp", json!((NOW + 600) * 1000), LoginError::Expired),
        ("exp", json!(NOW + 3661), too_late(3661)),
        (
            "exp",
            json!(253_402_300_799_u64),
            too_late(253_402_300_799 - NOW),
        ),
        ("nbf", json!(NOW + 61), LoginError::NotYetValid),
        ("nbf", json!("0"), LoginError::NotYetValid),
        ("iat", json!(NOW + 61), LoginError::NotYetValid),
        ("iat", json!([]), LoginError::NotYetValid),
        ("sub", Value::Null, LoginError::SubjectMissing),
        ("sub", json!(""), LoginError::SubjectMissing),
        ("sub", json!(7), LoginError::SubjectMissing),
        ("sub", json!([EMAIL]), LoginError::SubjectMissing),
        ("aud", Value::Null, audience()),
        ("aud", json!(""), audience()),
        ("aud", json!([]), audience()),
        ("aud", json!("notvault/dev"), audience()),
        ("aud", json!("vault/other"), audience()),
        (
            "aud",
            json!(["vault/dev", "https://example.com"]),
            audience(),
        ),
    ]
}

#[test]
fn contract_4_2_step_6_bad_claims_are_refused_without_a_call() {
    let stage = Stage::ready();
    for (name, value, expected) in refused_claims() {
        let jwt = Token::of_account()
            .claim(name, value.clone())
            .signed_by(keys::of_account());
        assert_eq!(stage.refuse(&jwt), (expected, 0), "{name}: {value}");
    }
}

#[test]
fn j14_j15_times_have_a_skew_of_a_minute_and_no_more() {
    let stage = Stage::ready();
    for (name, value) in [
        ("exp", json!(NOW - 59)),
        ("exp", json!(NOW + 960)),
        ("exp", json!(NOW as f64 + 600.75)),
        ("nbf", json!(NOW + 60)),
        ("iat", json!(NOW + 60)),
    ] {
        let jwt = Token::of_account()
            .claim(name, value.clone())
            .signed_by(keys::of_account());
        assert!(stage.log_in(&jwt).is_ok(), "{name}: {value}");
    }
    let jwt = Token::of_google()
        .claim("exp", NOW + 3660)
        .signed_by(keys::of_google());
    assert!(stage.log_in(&jwt).is_ok());
}

#[test]
fn j16_a_token_issued_after_its_end_is_refused() {
    let stage = Stage::ready();
    let token = Token::of_account()
        .claim("iat", NOW - 10)
        .claim("exp", NOW - 20);
    let jwt = token.signed_by(keys::of_account());
    assert_eq!(stage.refuse(&jwt), (LoginError::NotYetValid, 0));
}

#[test]
fn contract_4_3_rule_2_a_subject_of_another_shape_is_never_put_into_a_url() {
    let stage = Stage::ready();
    for subject in ["../x@p1", "a@b/c", "A@b", "a@b?x", "x", "-", "a b@c"] {
        let jwt = Token::of_account()
            .claim("sub", subject)
            .signed_by(keys::of_account());
        let expected = LoginError::KeyNotFound(KeyNotFound {
            key_id: "account-key".to_owned(),
            subject: subject.to_owned(),
            refusal: KeyLookupError::SubjectShape,
        });
        assert_eq!(stage.refuse(&jwt), (expected, 0));
    }
}

#[test]
fn contract_4_3_a_key_that_is_published_nowhere_is_refused() {
    let stage = Stage::ready();
    let key_not_found = |key_id: &str, subject: &str, refusal| {
        LoginError::KeyNotFound(KeyNotFound {
            key_id: key_id.to_owned(),
            subject: subject.to_owned(),
            refusal,
        })
    };
    let jwt = Token::of_account()
        .header("kid", "nope")
        .signed_by(keys::of_account());
    let expected = key_not_found("nope", EMAIL, KeyLookupError::KeyUnknown);
    assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    let jwt = Token::of_account()
        .claim("sub", "gone@p1.example")
        .signed_by(keys::of_account());
    let expected = key_not_found(
        "account-key",
        "gone@p1.example",
        KeyLookupError::AccountUnknown,
    );
    assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    assert_eq!(stage.google.calls("iam.googleapis.com"), 0);
}

#[test]
fn contract_4_2_step_8_a_signature_by_another_key_is_refused() {
    let stage = Stage::ready();
    let jwt = Token::of_account().signed_by(keys::of_stranger());
    assert_eq!(
        stage.log_in(&jwt).unwrap_err(),
        LoginError::SignatureInvalid
    );
    let (input, _) = jwt.rsplit_once('.').unwrap();
    for forged in ["AAAA", &"A".repeat(342)] {
        let refused = stage.log_in(&format!("{input}.{forged}")).unwrap_err();
        assert_eq!(refused, LoginError::SignatureInvalid);
    }
    let genuine = Token::of_account().signed_by(keys::of_account());
    let (_, signature) = genuine.rsplit_once('.').unwrap();
    let other = Token::of_account().claim("exp", NOW + 601).signing_input();
    let refused = stage.log_in(&format!("{other}.{signature}")).unwrap_err();
    assert_eq!(refused, LoginError::SignatureInvalid);
    assert_eq!(stage.google.calls("iam.googleapis.com"), 0);
}

#[test]
fn g1_keys_of_one_owner_never_verify_tokens_of_another() {
    let stage = Stage::ready();
    let token = Token::of_account().claim("exp", NOW + 600);
    let refused = |token: Token, key| stage.log_in(&token.signed_by(key)).unwrap_err();
    let google_kid = token.clone().header("kid", "google-key");
    assert_eq!(
        refused(google_kid, keys::of_account()),
        LoginError::SignatureInvalid
    );
    let by_google = token.clone();
    assert_eq!(
        refused(by_google, keys::of_google()),
        LoginError::SignatureInvalid
    );
    let other_subject = token.claim("sub", OTHER_EMAIL);
    assert!(matches!(
        refused(other_subject.clone(), keys::of_account()),
        LoginError::KeyNotFound(KeyNotFound {
            refusal: KeyLookupError::KeyUnknown,
            ..
        })
    ));
    let other_kid = other_subject.header("kid", "other-key");
    assert_eq!(
        refused(other_kid, keys::of_account()),
        LoginError::SignatureInvalid
    );
}

#[test]
fn g4_the_issuer_must_belong_to_whose_key_signed() {
    let stage = Stage::ready();
    for issuer in [EMAIL, UNIQUE_ID] {
        let jwt = Token::of_account()
            .claim("iss", issuer)
            .signed_by(keys::of_account());
        assert!(stage.log_in(&jwt).is_ok(), "{issuer}");
    }
    let strangers = [
        json!(OTHER_EMAIL),
        json!(OTHER_ID),
        json!("https://accounts.google.com"),
        json!(""),
        json!(7),
    ];
    for issuer in strangers {
        let jwt = Token::of_account()
            .claim("iss", issuer.clone())
            .signed_by(keys::of_account());
        let refused = stage.log_in(&jwt).unwrap_err();
        assert_eq!(refused, LoginError::IssuerNotAcceptable, "{issuer}");
    }
    let short = Token::of_google().claim("iss", "accounts.google.com");
    assert!(stage.log_in(&short.signed_by(keys::of_google())).is_ok());
    let strangers = [
        Value::Null,
        json!("http://accounts.google.com"),
        json!("https://accounts.google.com/"),
        json!("https://accounts.google.com.evil.example"),
        json!(UNIQUE_ID),
    ];
    for issuer in strangers {
        let jwt = Token::of_google()
            .claim("iss", issuer.clone())
            .signed_by(keys::of_google());
        let refused = stage.log_in(&jwt).unwrap_err();
        assert_eq!(refused, LoginError::IssuerNotAcceptable, "{issuer}");
    }
}

#[test]
fn i1_google_signed_tokens_need_inference_to_be_allowed() {
    let stage = Stage::ready();
    stage.role(RoleChanges {
        allow_gce_inference: Some(false),
        ..RoleChanges::default()
    });
    let jwt = Token::of_google().signed_by(keys::of_google());
    let expected = LoginError::InferenceNotAllowed("dev".to_owned());
    assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    assert!(
        stage
            .log_in(&Token::of_account().signed_by(keys::of_account()))
            .is_ok()
    );
}

#[test]
fn i2_account_signed_tokens_must_end_within_the_limit_of_the_role() {
    let stage = Stage::ready();
    let beyond = |maximum_jwt_lifetime| LoginError::ExpiresBeyondRole(maximum_jwt_lifetime);
    let jwt = |lifetime| {
        Token::of_account()
            .claim("exp", NOW + lifetime)
            .signed_by(keys::of_account())
    };
    assert_eq!(stage.log_in(&jwt(961)).unwrap_err(), beyond(900));
    stage.role(RoleChanges {
        max_jwt_exp: Some(60),
        ..RoleChanges::default()
    });
    assert!(stage.log_in(&jwt(120)).is_ok());
    assert_eq!(stage.log_in(&jwt(121)).unwrap_err(), beyond(60));
}

#[test]
fn g3_instance_claims_of_an_account_signed_token_change_nothing() {
    let stage = Stage::ready();
    let instance = json!({"compute_engine": {
        "project_id": "p9", "instance_id": "7", "instance_name": "vm", "zone": "z",
    }});
    let token = Token::of_account().claim("google", instance);
    let identity = stage
        .log_in(&token.clone().signed_by(keys::of_account()))
        .unwrap();
    assert!(
        identity
            .metadata
            .iter()
            .all(|(_, value)| value != "p9" && value != "7")
    );
    let long = token.claim("exp", NOW + 3600).signed_by(keys::of_account());
    let refused = stage.log_in(&long).unwrap_err();
    assert_eq!(refused, LoginError::ExpiresBeyondRole(900));
}

#[test]
fn i4_g7_a_disabled_account_is_refused() {
    let stage = Stage::ready();
    stage.google.disable(EMAIL);
    let jwt = Token::of_account().signed_by(keys::of_account());
    let expected = LoginError::AccountDisabled(EMAIL.to_owned());
    assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
}

#[test]
fn i4_g6_an_answer_about_another_account_is_refused() {
    let stage = Stage::ready();
    let other = stage.google.state().accounts[1].clone();
    let answer = google::answer(200, &google::account_body(&other), &[]);
    stage
        .google
        .fail("serviceAccounts/", Fault::Answer(answer), 1);
    let jwt = Token::of_account().signed_by(keys::of_account());
    assert_eq!(stage.log_in(&jwt).unwrap_err(), LoginError::AccountMismatch);
}

#[test]
fn i5_the_project_of_the_account_must_be_bound() {
    let stage = Stage::ready();
    stage.role(RoleChanges {
        bound_projects: names(&["p9", "p2"]),
        ..RoleChanges::default()
    });
    let expected = LoginError::ProjectNotBound(ProjectNotBound {
        email: EMAIL.to_owned(),
        bound_projects: vec!["p2".to_owned(), "p9".to_owned()],
    });
    for jwt in [
        Token::of_account().signed_by(keys::of_account()),
        Token::of_google().signed_by(keys::of_google()),
    ] {
        assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    }
    stage.role(RoleChanges {
        bound_projects: names(&["p1"]),
        ..RoleChanges::default()
    });
    assert!(
        stage
            .log_in(&Token::of_account().signed_by(keys::of_account()))
            .is_ok()
    );
}

/// The address always names `p1`; the project of the account is the one in Google's answer.
#[test]
fn g10_the_project_is_the_id_that_google_gives_and_never_text_of_the_address_or_a_number() {
    for (given, bound, is_let_in) in [
        ("p9", "p9", true),
        ("p9", "p1", false),
        ("example.com:p1", "example.com:p1", true),
        ("example.com:p1", "p1", false),
        ("example.com:p1", "example.com", false),
        ("p1", "example.com:p1", false),
        ("p1", "77", false),
        ("p1", "p", false),
        ("p1", "P1", false),
    ] {
        let stage = Stage::ready();
        let given = given.to_owned();
        stage
            .google
            .change(EMAIL, |account| account.project_id.clone_from(&given));
        stage.role(RoleChanges {
            bound_projects: names(&[bound]),
            ..RoleChanges::default()
        });
        for jwt in [
            Token::of_account().signed_by(keys::of_account()),
            Token::of_google().signed_by(keys::of_google()),
        ] {
            let outcome = stage.log_in(&jwt);
            assert_eq!(outcome.is_ok(), is_let_in, "{given}, {bound}: {outcome:?}");
            if let Err(refused) = outcome {
                let expected = LoginError::ProjectNotBound(ProjectNotBound {
                    email: EMAIL.to_owned(),
                    bound_projects: vec![bound.to_owned()],
                });
                assert_eq!(refused, expected);
            }
        }
    }
}

#[test]
fn i6_the_account_must_be_bound_by_email_unique_id_or_wildcard() {
    let stage = Stage::ready();
    let jwt = Token::of_account().signed_by(keys::of_account());
    let bind = |accounts: &[&str]| {
        stage.role(RoleChanges {
            bound_service_accounts: names(accounts),
            ..RoleChanges::default()
        });
    };
    for accounts in [&["*"][..], &[UNIQUE_ID], &["z@z", EMAIL]] {
        bind(accounts);
        assert!(stage.log_in(&jwt).is_ok());
    }
    let expected = LoginError::AccountNotBound(AccountNotBound {
        email: EMAIL.to_owned(),
        unique_id: UNIQUE_ID.to_owned(),
    });
    for accounts in [
        &[OTHER_EMAIL][..],
        &["Dev@p1.iam.gserviceaccount.com"],
        &["11111"],
        &["dev@*"],
    ] {
        bind(accounts);
        assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    }
}
