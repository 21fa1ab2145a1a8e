//! Key pairs, certificates and signed tokens.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{
    CertificateParams, KeyPair, PKCS_RSA_SHA256, PublicKeyData as _, RsaKeySize, SigningKey as _,
};
use serde_json::{Value, json};

use crate::stage::NOW;

/// An RSA key pair with its certificate. Making one takes a while, so the tests share them.
pub struct Key {
    pair: KeyPair,
    pub certificate: String,
}

impl Key {
    fn new() -> Self {
        let pair = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
        let certificate = certificate_of(&pair);
        Self { pair, certificate }
    }

    pub fn private_pem(&self) -> String {
        self.pair.serialize_pem()
    }

    /// A public key in DER, as certificates have it.
    pub fn public_der(&self) -> Vec<u8> {
        self.pair.subject_public_key_info()
    }

    /// The private key in PKCS #8.
    pub fn private_der(&self) -> Vec<u8> {
        self.pair.serialize_der()
    }

    pub fn sign(&self, message: &str) -> Vec<u8> {
        self.pair.sign(message.as_bytes()).unwrap()
    }
}

pub fn certificate_of(pair: &KeyPair) -> String {
    let parameters = CertificateParams::new(vec!["test.example".to_owned()]).unwrap();
    parameters.self_signed(pair).unwrap().pem()
}

fn shared(cell: &'static OnceLock<Key>) -> &'static Key {
    cell.get_or_init(Key::new)
}

/// Published by Google as its own.
pub fn of_google() -> &'static Key {
    static KEY: OnceLock<Key> = OnceLock::new();
    shared(&KEY)
}

/// Published by Google as the account's.
pub fn of_account() -> &'static Key {
    static KEY: OnceLock<Key> = OnceLock::new();
    shared(&KEY)
}

/// Published nowhere, or by another account.
pub fn of_stranger() -> &'static Key {
    static KEY: OnceLock<Key> = OnceLock::new();
    shared(&KEY)
}

/// A token in the making: what an account signs for itself, until something is changed.
#[derive(Clone)]
pub struct Token {
    pub header: Value,
    pub claims: Value,
}

impl Token {
    /// Signed by the account: ten minutes, role `dev`.
    pub fn of_account() -> Self {
        Self {
            header: json!({"alg": "RS256", "kid": "account-key", "typ": "JWT"}),
            claims: json!({
                "sub": "dev@p1.iam.gserviceaccount.com",
                "aud": "vault/dev",
                "exp": NOW + 600,
            }),
        }
    }

    /// Signed by Google for the account: an hour, role `dev`.
    pub fn of_google() -> Self {
        Self {
            header: json!({"alg": "RS256", "kid": "google-key", "typ": "JWT"}),
            claims: json!({
                "iss": "https://accounts.google.com",
                "sub": "111111111111111111111",
                "aud": "https://vault.example.com:8200/vault/dev",
                "iat": NOW,
                "exp": NOW + 3600,
            }),
        }
    }

    /// With a claim set, or without it when `value` is null.
    pub fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        set(&mut self.claims, name, value.into());
        self
    }

    /// With a header member set, or without it when `value` is null.
    pub fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        set(&mut self.header, name, value.into());
        self
    }

    pub fn signing_input(&self) -> String {
        compact_parts(&self.header.to_string(), &self.claims.to_string())
    }

    pub fn signed_by(&self, key: &Key) -> String {
        sign(&self.signing_input(), key)
    }
}

fn set(object: &mut Value, name: &str, value: Value) {
    let members = object.as_object_mut().unwrap();
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(name.to_owned(), value);
    }
}

/// Header and claims as they stand before the signature.
pub fn compact_parts(header: &str, claims: &str) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}", encode(header), encode(claims))
}

pub fn sign(signing_input: &str, key: &Key) -> String {
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signing_input));
    format!("{signing_input}.{signature}")
}
