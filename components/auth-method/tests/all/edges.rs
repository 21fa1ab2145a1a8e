//! Limits, numbers and names at their edges, and whose key may sign for whom: SEC-J7 to J20, G1, G2, G5, G7.

use std::time::Duration;

use gatehouse_auth_method::{
    JwtError, KeyLookupError, KeyNotFound, LoginError, RenewalError, RoleChanges,
};
use serde_json::{Value, json};

use crate::compute::{token as instance_token, token_with};
use crate::google::{EMAIL, OTHER_EMAIL, OTHER_ID, UNIQUE_ID};
use crate::instances::{gce, signed};
use crate::keys::{self, Key, Token, compact_parts, sign};
use crate::refusals::{audience, by_account, malformed, with_claim};
use crate::roles::list;
use crate::stage::{NOW, Stage};

/// A token of the account whose claims are this text beside the usual ones; `instead` is left out of these.
fn with_raw_claim(instead: &str, raw: &str) -> String {
    let usual = Token::of_account().claim(instead, Value::Null);
    let claims = usual.claims.to_string();
    let claims = format!("{},{raw}}}", claims.trim_end_matches('}'));
    let input = compact_parts(&usual.header.to_string(), &claims);
    sign(&input, keys::of_account())
}

#[test]
fn j7_the_longest_token_is_read_and_a_longer_one_is_not() {
    let stage = Stage::ready();
    let sized = |length: usize| {
        let padded = |header: usize, claims: usize| {
            let token = Token::of_account()
                .header("x", "h".repeat(header))
                .claim("x", "c".repeat(claims));
            by_account(&token)
        };
        let rest = padded(0, 0).len();
        let about = (length - rest) * 3 / 4;
        let sizes = (0..4).flat_map(|header| (0..8).map(move |less| (header, about - less)));
        let mut tokens = sizes.map(|(header, claims)| padded(header, claims));
        tokens.find(|token| token.len() == length).unwrap()
    };
    let limit = 16 * 1024;
    assert!(stage.log_in(&sized(limit)).is_ok());
    assert_eq!(
        stage.refuse(&sized(limit + 1)),
        malformed(JwtError::TooLong)
    );
    assert_eq!(
        stage.refuse(&sized(limit * 100)),
        malformed(JwtError::TooLong)
    );
}

#[test]
fn j7_names_of_keys_and_subjects_end_at_their_limits() {
    let stage = Stage::ready();
    let key_id = |length: usize| {
        let token = Token::of_account().header("kid", "k".repeat(length));
        stage.log_in(&by_account(&token)).unwrap_err()
    };
    assert!(matches!(key_id(256), LoginError::KeyNotFound(_)));
    assert_eq!(key_id(257), LoginError::MalformedJwt(JwtError::KeyId));
    assert_eq!(key_id(25_600), LoginError::MalformedJwt(JwtError::TooLong));
    let email = |length: usize| format!("{}@b", "a".repeat(length - 2));
    for (subject, refusal) in [
        (email(320), KeyLookupError::AccountUnknown),
        (email(321), KeyLookupError::SubjectShape),
        (email(8000), KeyLookupError::SubjectShape),
        ("1".repeat(32), KeyLookupError::AccountUnknown),
        ("1".repeat(33), KeyLookupError::SubjectShape),
        ("1".repeat(3200), KeyLookupError::SubjectShape),
    ] {
        let token = Token::of_account().claim("sub", subject);
        match stage.log_in(&by_account(&token)).unwrap_err() {
            LoginError::KeyNotFound(KeyNotFound { refusal: found, .. }) => {
                assert_eq!(found, refusal)
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn j7_claims_nest_sixteen_deep() {
    let stage = Stage::ready();
    // The object of the claims is the first level.
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        with_raw_claim("x", &format!("\"x\":{open}{close}"))
    };
    assert!(stage.log_in(&nested(16)).is_ok());
    for depth in [17, 1600] {
        assert_eq!(
            stage.refuse(&nested(depth)),
            malformed(JwtError::TooComplex)
        );
    }
}

#[test]
fn j8_no_name_of_a_key_reaches_a_url_or_the_store() {
    let stage = Stage::ready();
    let stored = stage.store.keys();
    for key_id in [
        "../../../../etc/passwd",
        "..%2f..%2fkeys",
        "m1/role/dev",
        "m1/credentials",
        "' OR '1'='1",
        "\"; DROP TABLE keys; --",
        "https://evil.example/keys.json",
        "http://169.254.169.254/computeMetadata/v1/",
        "//evil.example",
        "file:///etc/passwd",
        "?alt=json&x=",
        "#fragment",
        "a@evil.example",
        "${jndi:ldap://evil.example}",
        "$(id)",
        "|cat",
        "account-key ",
        "ACCOUNT-KEY",
        "a\r\nhost: evil.example",
        "a\n[error] forged",
        "\u{1b}[31mred",
        "a\0b",
        "\u{202e}yek",
        &"k".repeat(65_536),
    ] {
        let token = Token::of_account().header("kid", key_id);
        let refused = stage.log_in(&by_account(&token)).unwrap_err();
        assert!(matches!(
            refused,
            LoginError::KeyNotFound(_) | LoginError::MalformedJwt(_)
        ));
    }
    let base = "https://www.googleapis.com";
    let expected = [
        format!("{base}/oauth2/v1/certs"),
        format!("{base}/service_accounts/v1/metadata/x509/{EMAIL}?alt=json"),
    ];
    assert_eq!(stage.http.urls(), expected);
    assert_eq!(stage.store.keys(), stored);
}

#[test]
fn j9_a_header_with_the_attackers_own_key_is_refused() {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let stage = Stage::ready();
    let attacker = keys::of_stranger();
    let public = attacker.public_der();
    let modulus = URL_SAFE_NO_PAD.encode(&public[public.len() - 261..public.len() - 5]);
    let certificate: String = attacker
        .certificate
        .lines()
        .filter(|line| !line.contains('-'))
        .collect();
    for (name, value) in [
        (
            "jwk",
            json!({"kty": "RSA", "alg": "RS256", "kid": "account-key", "n": modulus, "e": "AQAB"}),
        ),
        ("jku", json!("https://evil.example/keys")),
        ("x5u", json!("https://evil.example/certificate")),
        ("x5c", json!([certificate])),
        ("x5t", json!("other-key")),
        ("x5t#S256", json!("other-key")),
    ] {
        for key_id in ["account-key", "google-key"] {
            let token = Token::of_account()
                .header(name, value.clone())
                .header("kid", key_id);
            let refused = stage.log_in(&token.signed_by(attacker)).unwrap_err();
            assert_eq!(refused, LoginError::SignatureInvalid, "{name}");
        }
    }
    assert!(stage.http.urls().iter().all(|url| !url.contains("evil")));
}

#[test]
fn j14_an_end_is_a_number_between_now_and_the_year_ten_thousand() {
    let stage = Stage::ready();
    let digits = "9".repeat(5000);
    for (raw, expected) in [
        ("-1", LoginError::Expired),
        ("-1e300", LoginError::Expired),
        ("-9223372036854775808", LoginError::Expired),
        ("0", LoginError::Expired),
        ("-0", LoginError::Expired),
        ("0.5", LoginError::Expired),
        ("1e-400", LoginError::Expired),
        ("9223372036854775807", LoginError::Expired),
        ("9223372036854775808", LoginError::Expired),
        ("18446744073709551615", LoginError::Expired),
        // Cut to 64 bits it would be ten minutes from now.
        ("18446744075509552216", LoginError::Expired),
        ("1800000600000", LoginError::Expired),
        ("253402300800", LoginError::Expired),
        ("1e300", LoginError::Expired),
        ("\"1800000600\"", LoginError::Expired),
        ("true", LoginError::Expired),
        ("null", LoginError::Expired),
        ("[1800000600]", LoginError::Expired),
        ("{}", LoginError::Expired),
        ("1e400", LoginError::MalformedJwt(JwtError::Claims)),
        ("-1e400", LoginError::MalformedJwt(JwtError::Claims)),
        ("NaN", LoginError::MalformedJwt(JwtError::Claims)),
        ("Infinity", LoginError::MalformedJwt(JwtError::Claims)),
        ("01800000600", LoginError::MalformedJwt(JwtError::Claims)),
        ("+1800000600", LoginError::MalformedJwt(JwtError::Claims)),
        (digits.as_str(), LoginError::MalformedJwt(JwtError::Claims)),
    ] {
        let jwt = with_raw_claim("exp", &format!("\"exp\":{raw}"));
        assert_eq!(stage.refuse(&jwt), (expected, 0), "{raw}");
    }
    let long = with_raw_claim("exp", &format!("\"exp\":{}", "9".repeat(20_000)));
    assert_eq!(stage.refuse(&long), malformed(JwtError::TooLong));
    for raw in ["1800000600.999", "1.8000006e9"] {
        let jwt = with_raw_claim("exp", &format!("\"exp\":{raw}"));
        assert!(stage.log_in(&jwt).is_ok(), "{raw}");
    }
}

#[test]
fn j15_every_limit_in_time_holds_to_the_second() {
    let stage = Stage::ready();
    let account = |name: &str, value: u64| {
        let token = Token::of_account().claim(name, value);
        stage.log_in(&by_account(&token)).is_ok()
    };
    let google = |value: u64| {
        let token = Token::of_google().claim("exp", value);
        stage.log_in(&signed(&token)).is_ok()
    };
    let around = |limit: u64| [limit - 1, limit, limit + 1];
    let ends = around(NOW - 60).map(|end| account("exp", end));
    assert_eq!(ends, [false, false, true], "over");
    let ends = around(NOW + 960).map(|end| account("exp", end));
    assert_eq!(ends, [true, true, false], "of the role");
    assert_eq!(
        around(NOW + 3660).map(google),
        [true, true, false],
        "of all"
    );
    for name in ["nbf", "iat"] {
        let begins = around(NOW + 60).map(|begin| account(name, begin));
        assert_eq!(begins, [true, true, false], "{name}");
    }
}

#[test]
fn j16_beginnings_are_numbers() {
    let stage = Stage::ready();
    for name in ["nbf", "iat"] {
        for raw in ["\"0\"", "null", "true", "[]", "{}", "-1", "253402300800"] {
            let jwt = with_raw_claim(name, &format!("\"{name}\":{raw}"));
            let expected = (LoginError::NotYetValid, 0);
            assert_eq!(stage.refuse(&jwt), expected, "{name}: {raw}");
        }
    }
}

#[test]
fn j17_every_audience_is_the_role() {
    let stage = Stage::ready();
    let both = |first: &str, second: &str| json!([first, second]);
    for value in [
        json!(null),
        json!(""),
        json!([]),
        json!([""]),
        json!(7),
        json!({"vault/dev": true}),
        json!(["vault/dev", null]),
        json!([["vault/dev"]]),
        both("vault/dev", "https://example.com"),
        both("https://example.com", "vault/dev"),
        json!("vault/dev-2"),
        json!("vault/de"),
        json!("vault/DEV"),
        json!("VAULT/dev"),
        json!("vault/dev/"),
        json!(" vault/dev"),
        json!("vault/dev "),
        json!("notvault/dev"),
        json!("https://notvault/dev"),
        json!("dev"),
        json!(vec!["vault/dev"; 33]),
        json!(vec!["vault/dev"; 320]),
    ] {
        let jwt = with_raw_claim("aud", &format!("\"aud\":{value}"));
        assert_eq!(stage.refuse(&jwt), (audience(), 0), "{value}");
    }
    assert_eq!(with_claim("aud", Value::Null), (audience(), 0), "missing");
    for value in [
        json!("vault/dev"),
        json!("https://vault.example.com:8200/vault/dev"),
        both("vault/dev", "http://vault/dev"),
        json!(vec!["vault/dev"; 32]),
    ] {
        let token = Token::of_account().claim("aud", value);
        assert!(stage.log_in(&by_account(&token)).is_ok());
    }
}

#[test]
fn j19_g5_what_is_no_subject_is_asked_about_nowhere() {
    let stage = Stage::ready();
    for raw in ["7", "1.5", "true", "null", "[\"a@b\"]", "{}", "\"\""] {
        let jwt = with_raw_claim("sub", &format!("\"sub\":{raw}"));
        assert_eq!(stage.refuse(&jwt), (LoginError::SubjectMissing, 0), "{raw}");
    }
    for subject in [
        "../dev@p1",
        "..",
        ".",
        "%2e%2e",
        "a@b/..",
        "a@b/../c",
        "a@b/keys",
        "a@b%2fkeys",
        "a%00@b",
        "a\0@b",
        "a@b?alt=json",
        "a@b#",
        "a@b;x",
        "a@b:443",
        "a@b\\c",
        "a@b@c",
        "@b",
        "a@",
        "http://a@b",
        "//evil.example",
        "a@b\r\nhost: evil.example",
        "a@b\n",
        " a@b",
        "a@b ",
        "a b@c",
        "A@b",
        "a+b@c",
        "a_b@c",
        "dеv@p1.iam.gserviceaccount.com",
        "１２３",
        "+1",
        "-1",
        "1e3",
        "0x1f",
        "*",
        "-",
        "a@b:signJwt",
        "12\u{0}",
    ] {
        let token = Token::of_account().claim("sub", subject);
        let expected = LoginError::KeyNotFound(KeyNotFound {
            key_id: "account-key".to_owned(),
            subject: subject.to_owned(),
            refusal: KeyLookupError::SubjectShape,
        });
        assert_eq!(stage.refuse(&by_account(&token)), (expected, 0));
    }
}

#[test]
fn g5_what_is_no_place_is_asked_about_nowhere() {
    let stage = crate::instances::stage(gce());
    for value in [
        "..", ".", "a/../b", "a%2fb", "a/b", "a?b", "a#b", "A", "a b", "", "-a", "a\n",
    ] {
        for name in ["project_id", "zone", "instance_name"] {
            let jwt = signed(&token_with(name, value));
            let refused = stage.log_in(&jwt).unwrap_err();
            assert_eq!(
                refused,
                LoginError::InstanceClaimsMissing,
                "{name}: {value}"
            );
        }
    }
    assert_eq!(stage.google.calls("compute"), 0);
}

#[test]
fn j20_no_refusal_repeats_the_token_or_sounds_like_a_failure() {
    let stage = Stage::ready();
    let genuine = by_account(&Token::of_account());
    let (input, signature) = genuine.rsplit_once('.').unwrap();
    let (header, claims) = input.split_once('.').unwrap();
    let strange = Token::of_account().header("kid", "k".repeat(200));
    let corpus = [
        "x".to_owned(),
        input.to_owned(),
        format!("{genuine}."),
        format!("{genuine}.{signature}.{signature}"),
        format!("{header}=.{claims}.{signature}"),
        format!("{header}.{header}.{signature}"),
        format!("{claims}.{claims}.{signature}"),
        format!("{header}.{claims}.{}", &signature[1..]),
        format!("{header}.{claims}.{header}"),
        "a".repeat(20_000),
        by_account(&strange),
        by_account(&Token::of_account().claim("sub", "a".repeat(9000))),
        by_account(&Token::of_account().claim("exp", 1)),
        by_account(&Token::of_account().claim("iss", "a".repeat(9000))),
        by_account(&Token::of_account().claim("aud", "a".repeat(9000))),
        Token::of_account().signed_by(keys::of_stranger()),
        with_raw_claim("x", "\"sub\":\"twice\""),
        with_raw_claim("exp", "\"exp\":1e400"),
    ];
    for jwt in corpus {
        let refused = stage.log_in(&jwt).unwrap_err();
        let is_failure = matches!(
            refused,
            LoginError::Credentials(_)
                | LoginError::EndpointDenied(_)
                | LoginError::GoogleUnusable(_)
                | LoginError::GoogleUnavailable(_)
                | LoginError::Storage(_)
        );
        assert!(!is_failure, "{refused:?}");
        let told = format!("{refused:?} {refused}");
        assert!(told.len() < 2048, "{}", told.len());
        for part in jwt.split('.').filter(|part| part.len() > 20) {
            assert!(!told.contains(&part[..20]), "{told}");
        }
    }
}

#[test]
fn g1_a_key_verifies_the_tokens_of_its_owner_alone() {
    type Owner = (&'static str, fn() -> &'static Key);
    let owners: [Owner; 3] = [
        ("google-key", keys::of_google),
        ("account-key", keys::of_account),
        ("other-key", keys::of_stranger),
    ];
    let stage = Stage::ready();
    stage.role(RoleChanges {
        bound_service_accounts: list(&["*"]),
        ..RoleChanges::default()
    });
    let subjects = [
        (EMAIL, "account-key", EMAIL),
        (UNIQUE_ID, "account-key", EMAIL),
        (OTHER_EMAIL, "other-key", OTHER_EMAIL),
        (OTHER_ID, "other-key", OTHER_EMAIL),
    ];
    let mut combinations = Vec::new();
    for (signer, key) in owners {
        for (key_id, _) in owners {
            for subject in subjects {
                combinations.push((signer, key, key_id, subject));
            }
        }
    }
    let forth = combinations.iter();
    for &(signer, key, key_id, (subject, of_subject, email)) in forth.clone().chain(forth.rev()) {
        let mut token = Token::of_account()
            .claim("sub", subject)
            .header("kid", key_id);
        if key_id == "google-key" {
            token = token.claim("iss", "accounts.google.com");
        }
        let outcome = stage.log_in(&token.signed_by(key()));
        let case = format!("{signer} as {key_id} for {subject}");
        if key_id != "google-key" && key_id != of_subject {
            assert!(matches!(outcome, Err(LoginError::KeyNotFound(_))), "{case}");
        } else if key_id == signer {
            assert_eq!(outcome.unwrap().display_name, email, "{case}");
        } else {
            assert_eq!(outcome.unwrap_err(), LoginError::SignatureInvalid, "{case}");
        }
    }
}

#[test]
fn g2_instance_claims_signed_by_an_account_prove_nothing() {
    let stage = crate::instances::stage(gce());
    for key_id in ["account-key", "google-key"] {
        for issuer in [Value::Null, json!("https://accounts.google.com")] {
            let token = instance_token().header("kid", key_id).claim("iss", issuer);
            assert!(stage.log_in(&by_account(&token)).is_err());
        }
    }
    assert_eq!(stage.google.calls("compute"), 0);
    assert_eq!(stage.google.calls("x509"), 0);
}

#[test]
fn g7_a_disabled_account_is_out_after_a_minute_at_login_and_renewal() {
    let stage = Stage::ready();
    let jwt = by_account(&Token::of_account());
    let identity = stage.log_in(&jwt).unwrap();
    stage.google.disable(EMAIL);
    stage.clock.advance(Duration::from_secs(61));
    let disabled = LoginError::AccountDisabled(EMAIL.to_owned());
    assert_eq!(stage.log_in(&jwt).unwrap_err(), disabled);
    let gone = RenewalError::AccountNotFound(UNIQUE_ID.to_owned());
    assert_eq!(stage.renew(&identity).unwrap_err(), gone);
}
