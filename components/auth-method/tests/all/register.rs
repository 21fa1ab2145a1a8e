//! Deliberate differences from the reference (contract 11) that no other module shows, each by what would be seen if the reference's
//! behaviour came back; and the switches that take five of them back, one each.

use gatehouse_auth_method::{
    AliasSource, Compatibility, Config, ConfigChanges, ConfigError, CredentialsSource, JwtError,
    LoginError, RenewalError, RoleChanges, Settings,
};
use serde_json::json;

use crate::algorithms::{Algorithm, sign_with};
use crate::compute::{ZONE, token as instance_token};
use crate::federation::federation;
use crate::google::OTHER_EMAIL;
use crate::google_credentials::{self, settings};
use crate::instances::{gce, signed};
use crate::keys::{self, Token};
use crate::roles::{list, text};
use crate::stage::{NOW, Stage, dev_role, key_file};

/// A difference that a switch takes back, by the login that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    D1,
    D2,
    D4,
    D5,
    D6Issuer,
    D6NotBefore,
    D6Issued,
}

impl Difference {
    const ALL: [Self; 7] = [
        Self::D1,
        Self::D2,
        Self::D4,
        Self::D5,
        Self::D6Issuer,
        Self::D6NotBefore,
        Self::D6Issued,
    ];

    /// Logs in where the difference decides, and nothing else is wrong.
    fn log_in(self, compatibility: Compatibility) -> Option<LoginError> {
        let stage = Stage::with_settings(Settings {
            compatibility,
            ..Settings::default()
        });
        stage.configure(ConfigChanges {
            credentials: Some(key_file()),
            ..ConfigChanges::default()
        });
        stage.role(RoleChanges {
            allow_gce_inference: Some(self != Self::D1),
            ..dev_role()
        });
        let account = |token: Token| token.signed_by(keys::of_account());
        let google = |token: Token| token.signed_by(keys::of_google());
        let jwt = match self {
            // Short enough for the role, so that only inference is in question.
            Self::D1 => google(Token::of_google().claim("exp", NOW + 600)),
            Self::D2 => google(Token::of_google()),
            Self::D4 => account(Token::of_account().claim("aud", json!(null))),
            Self::D5 => account(Token::of_account().claim("aud", "notvault/dev")),
            Self::D6Issuer => account(Token::of_account().claim("iss", OTHER_EMAIL)),
            Self::D6NotBefore => account(Token::of_account().claim("nbf", NOW + 61)),
            Self::D6Issued => account(Token::of_account().claim("iat", NOW + 61)),
        };
        stage.log_in(&jwt).err()
    }

    /// The outcome as long as nothing is taken back.
    fn refusal(self) -> Option<LoginError> {
        Some(match self {
            Self::D1 => LoginError::InferenceNotAllowed("dev".to_owned()),
            // Here the reference is the stricter one.
            Self::D2 => return None,
            Self::D4 | Self::D5 => LoginError::AudienceNotForRole("dev".to_owned()),
            Self::D6Issuer => LoginError::IssuerNotAcceptable,
            Self::D6NotBefore | Self::D6Issued => LoginError::NotYetValid,
        })
    }

    /// The outcome in the reference.
    fn in_the_reference(self) -> Option<LoginError> {
        let beyond = LoginError::ExpiresBeyondRole(900);
        (self == Self::D2).then_some(beyond)
    }
}

/// `switch` takes back the differences `taken`, and no other one.
fn takes_back(switch: &str, taken: &[Difference]) {
    for difference in Difference::ALL {
        assert_eq!(
            difference.log_in(Compatibility::default()),
            difference.refusal(),
            "{difference:?} as it is here"
        );
        let expected = if taken.contains(&difference) {
            difference.in_the_reference()
        } else {
            difference.refusal()
        };
        assert_eq!(
            difference.log_in(Compatibility::from_names(switch)),
            expected,
            "{difference:?} with {switch}"
        );
    }
}

#[test]
fn d1_the_switch_of_a_role_against_inference_is_obeyed() {
    takes_back("ignore-allow-gce-inference", &[Difference::D1]);
}

#[test]
fn d2_tokens_of_google_may_outlast_the_limit_of_the_role() {
    takes_back("bound-google-signed-lifetime", &[Difference::D2]);
}

#[test]
fn d2_tokens_of_google_may_last_an_hour_and_no_longer() {
    let stage = Stage::ready();
    let lasting = |seconds: u64| {
        let token = Token::of_google().claim("exp", NOW + seconds);
        stage.log_in(&token.signed_by(keys::of_google()))
    };
    assert!(lasting(3660).is_ok());
    assert_eq!(lasting(3661).unwrap_err(), LoginError::ExpiresTooLate(3661));
}

#[test]
fn d3_the_limit_of_a_role_has_a_minute_of_leeway() {
    let stage = Stage::ready();
    let lasting = |seconds: u64| {
        let token = Token::of_account().claim("exp", NOW + seconds);
        stage.log_in(&token.signed_by(keys::of_account())).is_ok()
    };
    assert!(lasting(902), "a client that is two seconds ahead");
    assert_eq!((lasting(960), lasting(961)), (true, false));
}

#[test]
fn d4_a_token_without_audience_is_for_no_role() {
    takes_back("accept-missing-audience", &[Difference::D4]);
}

#[test]
fn d5_a_slash_stands_before_the_name_of_the_server() {
    takes_back("accept-audience-without-boundary", &[Difference::D5]);
}

#[test]
fn d6_issuer_and_beginning_are_looked_at() {
    takes_back(
        "ignore-issuer-and-beginning",
        &[
            Difference::D6Issuer,
            Difference::D6NotBefore,
            Difference::D6Issued,
        ],
    );
}

#[test]
fn d6_taking_it_back_leaves_the_kind_of_token_to_the_key() {
    let stage = Stage::with_settings(Settings {
        compatibility: Compatibility::from_names("ignore-issuer-and-beginning"),
        ..Settings::default()
    });
    stage.configure(ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    });
    stage.role(gce());
    let forged = instance_token()
        .header("kid", "account-key")
        .signed_by(keys::of_account());
    let refused = stage.log_in(&forged).unwrap_err();
    assert!(matches!(refused, LoginError::KeyNotFound(_)), "{refused:?}");
    assert_eq!(stage.google.calls("x509"), 0);
}

#[test]
fn d7_es256_and_hs256_are_refused_however_well_they_are_signed() {
    let stage = Stage::ready();
    for algorithm in [Algorithm::Es256, Algorithm::Hs256] {
        let token = Token::of_account().header("alg", algorithm.name());
        let jwt = sign_with(algorithm, &token.signing_input());
        assert_eq!(
            stage.refuse(&jwt),
            (LoginError::MalformedJwt(JwtError::Algorithm), 0)
        );
    }
}

#[test]
fn d11_an_alias_that_does_not_exist_is_refused_when_it_is_written() {
    let stage = Stage::bare();
    for changes in [
        ConfigChanges {
            iam_alias: text("instance_id"),
            ..ConfigChanges::default()
        },
        ConfigChanges {
            gce_alias: text("unique_id"),
            ..ConfigChanges::default()
        },
    ] {
        let refused = stage.service.write_config(&stage.mount, changes);
        assert!(!matches!(refused, Ok(_) | Err(ConfigError::Storage(_))));
    }
    assert!(stage.store.keys().is_empty());
}

#[test]
fn d13_what_is_not_set_is_read_with_its_default() {
    let stage = Stage::bare();
    let view = stage.service.read_config(&stage.mount).unwrap();
    assert_eq!(
        (view.iam_alias, view.gce_alias, view.identity_token_ttl),
        (AliasSource::RoleId, AliasSource::RoleId, 3600)
    );
}

#[test]
fn d14_renewal_does_not_depend_on_visible_metadata() {
    let stage = Stage::ready();
    stage.configure(ConfigChanges {
        iam_metadata: Some(Vec::new()),
        gce_metadata: Some(Vec::new()),
        ..ConfigChanges::default()
    });
    let by_account = Token::of_account().signed_by(keys::of_account());
    let mut account = stage.log_in(&by_account).unwrap();
    assert!(account.metadata.is_empty());
    assert!(stage.renew(&account).is_ok());
    account.metadata = vec![
        ("role".to_owned(), "other".to_owned()),
        ("service_account_id".to_owned(), "1".to_owned()),
    ];
    assert!(stage.renew(&account).is_ok());

    let stage = crate::instances::stage(gce());
    stage.configure(ConfigChanges {
        gce_metadata: Some(Vec::new()),
        ..ConfigChanges::default()
    });
    let instance = stage.log_in(&signed(&instance_token())).unwrap();
    assert!(instance.metadata.is_empty());
    assert!(stage.renew(&instance).is_ok());
}

#[test]
fn d15_policies_are_compared_as_tokens_have_them() {
    let stage = Stage::ready();
    let policies = |names: &[&str]| {
        stage.role(RoleChanges {
            token_policies: list(names),
            ..RoleChanges::default()
        });
    };
    policies(&["Dev", "Ops"]);
    let jwt = Token::of_account().signed_by(keys::of_account());
    let identity = stage.log_in(&jwt).unwrap();
    assert_eq!(
        identity.token.policies,
        ["Dev", "Ops"],
        "as the role has them"
    );
    assert!(stage.renew(&identity).is_ok());
    for same in [&["dev", "ops"][..], &["OPS", "dev", "dev"]] {
        policies(same);
        assert!(stage.renew(&identity).is_ok(), "{same:?}");
    }
    policies(&["dev"]);
    let expected = RenewalError::PoliciesChanged("dev".to_owned());
    assert_eq!(stage.renew(&identity).unwrap_err(), expected);
}

#[test]
fn d21_keys_are_fetched_once_for_many_logins() {
    let stage = Stage::ready();
    for number in 0..20 {
        let by_account = Token::of_account().claim("exp", NOW + 600 + number);
        let by_google = Token::of_google().claim("exp", NOW + 600 + number);
        for jwt in [
            by_account.signed_by(keys::of_account()),
            by_google.signed_by(keys::of_google()),
        ] {
            assert!(stage.log_in(&jwt).is_ok());
        }
    }
    assert_eq!(stage.google.calls("oauth2/v1/certs"), 1);
    assert_eq!(stage.google.calls("x509"), 1);
}

#[test]
fn d23_a_configuration_can_be_deleted() {
    let stage = Stage::ready();
    stage.configure(ConfigChanges {
        iam_alias: text("unique_id"),
        ..ConfigChanges::default()
    });
    stage.service.delete_config(&stage.mount).unwrap();
    assert_eq!(stage.keys(), ["m1/role/dev"]);
    let view = stage.service.read_config(&stage.mount).unwrap();
    assert_eq!(
        (view.iam_alias, view.credentials),
        (AliasSource::RoleId, None)
    );
}

#[test]
fn d24_federation_and_rotation_are_there_for_everybody() {
    let (stage, google) = google_credentials::stage(settings());
    stage.configure(federation());
    let view = stage.service.read_config(&stage.mount).unwrap();
    assert_eq!(view.credentials_source, CredentialsSource::Federation);

    stage.configure(ConfigChanges {
        credentials: Some(key_file()),
        rotation_period: Some(86_400),
        ..ConfigChanges::default()
    });
    stage.service.rotate_root(&stage.mount).unwrap();
    assert_eq!(google.state().keys_made.len(), 1);
    let view = stage.service.read_config(&stage.mount).unwrap();
    assert_eq!(view.rotation.period, 86_400);
}

fn endpoint(stage: &Stage, api: &str, base: &str) {
    stage.configure(ConfigChanges {
        custom_endpoint: Some(vec![(api.to_owned(), base.to_owned())]),
        ..ConfigChanges::default()
    });
}

#[test]
fn d25_an_override_of_compute_keeps_the_path_of_the_api() {
    for base in [
        "https://compute.googleapis.com",
        "https://compute.googleapis.com/",
        "compute.googleapis.com",
        "https://compute.googleapis.com/compute/v1",
        "https://compute.googleapis.com/compute/v1/",
    ] {
        let stage = crate::instances::stage(gce());
        endpoint(&stage, "compute", base);
        assert!(stage.log_in(&signed(&instance_token())).is_ok(), "{base}");
        let path = format!(
            "https://compute.googleapis.com/compute/v1/projects/p1/zones/{ZONE}/instances/web-1"
        );
        assert!(stage.http.urls().contains(&path), "{base}");
    }
}

#[test]
fn d25_an_override_of_api_needs_no_scheme() {
    for base in ["www.googleapis.com", "https://www.googleapis.com"] {
        let stage = Stage::ready();
        endpoint(&stage, "api", base);
        let jwt = Token::of_account().signed_by(keys::of_account());
        assert!(stage.log_in(&jwt).is_ok(), "{base}");
        assert_eq!(stage.google.calls("https://www.googleapis.com/"), 2);
    }
}

#[test]
fn d29_a_foreign_address_costs_no_call() {
    for (changes, jwt) in [
        (
            dev_role(),
            Token::of_account().signed_by(keys::of_account()),
        ),
        (dev_role(), Token::of_google().signed_by(keys::of_google())),
        (gce(), signed(&instance_token())),
    ] {
        let stage = crate::instances::stage(RoleChanges {
            token_bound_cidrs: list(&["10.0.0.0/8"]),
            ..changes
        });
        assert_eq!(stage.refuse(&jwt), (LoginError::AddressNotAllowed, 0));
        let nonsense = stage.refuse("nonsense");
        assert_eq!(nonsense, (LoginError::AddressNotAllowed, 0));
        assert!(stage.log_in_from(&jwt, Some("10.1.2.3")).is_ok());
    }
}
