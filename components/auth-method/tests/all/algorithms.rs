//! Signatures by other algorithms than RS256, made in earnest; and that none of them is ever a signature here: SEC-J1 to J3.

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
    RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use gatehouse_auth_method::{JwtError, KeyLookupError, KeyNotFound, LoginError};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use serde_json::{Value, json};

use crate::google::EMAIL;
use crate::keys::{self, Token, certificate_of};
use crate::stage::Stage;

/// Algorithms that the account could sign with if it were let.
#[derive(Debug, Clone, Copy)]
pub enum Algorithm {
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    /// With the account's certificate as the secret.
    Hs256,
}

impl Algorithm {
    const ALL: [Self; 7] = [
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Hs256,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Hs256 => "HS256",
        }
    }
}

/// The token with this signing input, with a genuine signature by the account.
pub fn sign_with(algorithm: Algorithm, signing_input: &str) -> String {
    let rsa = |encoding: &'static dyn RsaEncoding| {
        let pair = RsaKeyPair::from_pkcs8(&keys::of_account().private_der()).unwrap();
        let mut signature = vec![0; pair.public_modulus_len()];
        let message = signing_input.as_bytes();
        pair.sign(encoding, &SystemRandom::new(), message, &mut signature)
            .unwrap();
        signature
    };
    let signature = match algorithm {
        Algorithm::Rs384 => rsa(&RSA_PKCS1_SHA384),
        Algorithm::Rs512 => rsa(&RSA_PKCS1_SHA512),
        Algorithm::Ps256 => rsa(&RSA_PSS_SHA256),
        Algorithm::Ps384 => rsa(&RSA_PSS_SHA384),
        Algorithm::Ps512 => rsa(&RSA_PSS_SHA512),
        Algorithm::Es256 => elliptic(&elliptic_pair(), signing_input),
        Algorithm::Hs256 => {
            let secret = keys::of_account().certificate.as_bytes();
            authentication_code(hmac::HMAC_SHA256, secret, signing_input)
        }
    };
    format!("{signing_input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn elliptic_pair() -> KeyPair {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap()
}

fn elliptic(pair: &KeyPair, message: &str) -> Vec<u8> {
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, &pair.serialize_der()).unwrap();
    let signature = pair.sign(&SystemRandom::new(), message.as_bytes());
    signature.unwrap().as_ref().to_vec()
}

fn authentication_code(algorithm: hmac::Algorithm, secret: &[u8], message: &str) -> Vec<u8> {
    let key = hmac::Key::new(algorithm, secret);
    hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
}

/// Everything that is not RS256, under which header it comes.
fn other_values() -> Vec<Value> {
    let texts = [
        "none",
        "None",
        "NONE",
        "nOnE",
        "none ",
        "",
        "rs256",
        "Rs256",
        "rS256",
        " RS256",
        "RS256 ",
        "\tRS256",
        "RS256\n",
        "RS256\0",
        "RS256\0none",
        "RS256,none",
        "RS-256",
        "RS_256",
        "RS25",
        "RS2566",
        "RS384",
        "RS512",
        "RS1",
        "HS256",
        "HS384",
        "HS512",
        "ES256",
        "ES384",
        "ES512",
        "ES256K",
        "PS256",
        "PS384",
        "PS512",
        "EdDSA",
        "Ed25519",
        "ML-DSA-65",
        "RSA1_5",
        "RSA-OAEP",
        "dir",
        "A128KW",
        "SHA256withRSA",
        "1.2.840.113549.1.1.11",
        "ＲＳ256",
        "RЅ256",
    ];
    let mut values: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    values.extend([
        json!(256),
        json!(0),
        json!(true),
        json!(["RS256"]),
        json!([]),
        json!({"RS256": 1}),
        // Leaves it out.
        Value::Null,
    ]);
    values
}

#[test]
fn j1_no_other_value_than_rs256_is_taken_even_over_an_rs256_signature() {
    let stage = Stage::ready();
    let values = other_values();
    assert!(values.len() >= 40);
    for value in values {
        let token = Token::of_account().header("alg", value.clone());
        let refused = stage.refuse(&token.signed_by(keys::of_account()));
        let expected = LoginError::MalformedJwt(JwtError::Algorithm);
        assert_eq!(refused, (expected, 0), "{value}");
    }
    let claims = Token::of_account().claims.to_string();
    let null = r#"{"alg":null,"kid":"account-key"}"#;
    let jwt = keys::sign(&keys::compact_parts(null, &claims), keys::of_account());
    let expected = LoginError::MalformedJwt(JwtError::Algorithm);
    assert_eq!(stage.refuse(&jwt), (expected, 0));
}

#[test]
fn j1_genuine_signatures_by_other_algorithms_are_refused_before_any_key_is_fetched() {
    let stage = Stage::ready();
    for algorithm in Algorithm::ALL {
        let token = Token::of_account().header("alg", algorithm.name());
        let jwt = sign_with(algorithm, &token.signing_input());
        let expected = LoginError::MalformedJwt(JwtError::Algorithm);
        assert_eq!(stage.refuse(&jwt), (expected, 0), "{algorithm:?}");
    }
}

#[test]
fn j1_a_signature_by_another_algorithm_under_the_name_of_rs256_is_none() {
    let stage = Stage::ready();
    let input = Token::of_account().signing_input();
    for algorithm in Algorithm::ALL {
        let refused = stage.log_in(&sign_with(algorithm, &input)).unwrap_err();
        assert_eq!(refused, LoginError::SignatureInvalid, "{algorithm:?}");
    }
}

#[test]
fn j1_a_published_key_of_another_kind_is_no_key() {
    let stage = Stage::ready();
    let pair = elliptic_pair();
    let document = [("account-key".to_owned(), certificate_of(&pair))];
    stage
        .google
        .state()
        .account_certificates
        .insert(EMAIL.to_owned(), document.into());
    let input = Token::of_account().signing_input();
    let signature = URL_SAFE_NO_PAD.encode(elliptic(&pair, &input));
    let refused = stage.log_in(&format!("{input}.{signature}")).unwrap_err();
    let expected = LoginError::KeyNotFound(KeyNotFound {
        key_id: "account-key".to_owned(),
        subject: EMAIL.to_owned(),
        refusal: KeyLookupError::KeyUnknown,
    });
    assert_eq!(refused, expected);
}

#[test]
fn j2_nothing_is_a_signature_by_saying_that_there_is_none() {
    let stage = Stage::ready();
    for name in ["none", "None", "NONE", "nonE"] {
        let input = Token::of_account().header("alg", name).signing_input();
        for (signature, flaw) in [("", JwtError::NotThreeParts), ("AA", JwtError::Algorithm)] {
            let refused = stage.refuse(&format!("{input}.{signature}"));
            assert_eq!(refused, (LoginError::MalformedJwt(flaw), 0), "{name}");
        }
    }
    let input = Token::of_account().signing_input();
    let empty = stage.refuse(&format!("{input}."));
    let expected = LoginError::MalformedJwt(JwtError::NotThreeParts);
    assert_eq!(empty, (expected, 0));
}

#[test]
fn j3_public_material_is_never_a_secret() {
    let stage = Stage::ready();
    let key = keys::of_account();
    let pem = &key.certificate;
    let body: String = pem.lines().filter(|line| !line.contains('-')).collect();
    let public = key.public_der();
    let modulus = &public[public.len() - 261..public.len() - 5];
    let secrets = [
        pem.clone().into_bytes(),
        pem.trim_end().as_bytes().to_vec(),
        STANDARD.decode(&body).unwrap(),
        body.into_bytes(),
        STANDARD.encode(&public).into_bytes(),
        public.clone(),
        modulus.to_vec(),
        URL_SAFE_NO_PAD.encode(modulus).into_bytes(),
        b"account-key".to_vec(),
        Vec::new(),
    ];
    for secret in secrets {
        for (name, algorithm) in [
            ("HS256", hmac::HMAC_SHA256),
            ("HS384", hmac::HMAC_SHA384),
            ("HS512", hmac::HMAC_SHA512),
        ] {
            let forge = |name: &str| {
                let input = Token::of_account().header("alg", name).signing_input();
                let code = authentication_code(algorithm, &secret, &input);
                format!("{input}.{}", URL_SAFE_NO_PAD.encode(code))
            };
            let expected = LoginError::MalformedJwt(JwtError::Algorithm);
            assert_eq!(stage.refuse(&forge(name)), (expected, 0));
            let refused = stage.log_in(&forge("RS256")).unwrap_err();
            assert_eq!(refused, LoginError::SignatureInvalid);
        }
    }
    assert_eq!(stage.google.calls("iam.googleapis.com"), 0);
}
