//! RSA keys with the certificates that publish them.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{
    KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey,
};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rcgen::{CertificateParams, DistinguishedName, DnType, PKCS_RSA_SHA256, RsaKeySize};
use serde_json::{Map, Value, json};

use crate::error::FakeGoogleError;
use crate::jwt::{self, Claims};

/// Bytes in a key identifier; Google writes 20 in hexadecimal.
const KEY_ID_LENGTH: usize = 20;

/// A 2048-bit RSA key and the self-signed certificate under which its owner publishes it.
pub struct SigningKey {
    key_id: String,
    pair: KeyPair,
    private_key_pem: String,
    certificate_pem: String,
}

impl SigningKey {
    /// Makes a fresh key whose certificate names `owner`.
    ///
    /// Takes a noticeable part of a second; never call it on an async thread.
    ///
    /// # Errors
    ///
    /// When the crypto library makes no key or no certificate.
    pub fn generate(owner: &str) -> Result<Self, FakeGoogleError> {
        let generated = rcgen::KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?;
        let mut subject = DistinguishedName::new();
        subject.push(DnType::CommonName, owner);
        let mut certificate = CertificateParams::default();
        certificate.distinguished_name = subject;

        Ok(Self {
            key_id: random_key_id()?,
            certificate_pem: certificate.self_signed(&generated)?.pem(),
            private_key_pem: generated.serialize_pem(),
            pair: KeyPair::from_pkcs8(generated.serialized_der())
                .map_err(|_| FakeGoogleError::KeyGeneration)?,
        })
    }

    /// The identifier that JWTs name in `kid`.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The private key as PKCS#8 PEM, the form that Google's key files carry.
    #[must_use]
    pub fn private_key_pem(&self) -> &str {
        &self.private_key_pem
    }

    /// The self-signed X.509 certificate as PEM.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The public key as a JWK (RFC 7517) for RS256.
    #[must_use]
    pub fn jwk(&self) -> Value {
        let public = self.pair.public_key();
        json!({
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "kid": self.key_id,
            "n": BASE64_URL_SAFE_NO_PAD.encode(public.modulus().big_endian_without_leading_zero()),
            "e": BASE64_URL_SAFE_NO_PAD.encode(public.exponent().big_endian_without_leading_zero()),
        })
    }

    /// RSA PKCS#1 v1.5 signature over the SHA-256 of `message`.
    ///
    /// # Errors
    ///
    /// When the crypto library refuses.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FakeGoogleError> {
        let mut signature = vec![0; self.pair.public_modulus_len()];
        self.pair
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                message,
                &mut signature,
            )
            .map_err(|_| FakeGoogleError::Signing {
                key_id: self.key_id.clone(),
            })?;
        Ok(signature)
    }

    /// A well-formed RS256 JWT with these claims, naming this key.
    ///
    /// # Errors
    ///
    /// When the crypto library refuses to sign.
    pub fn sign_jwt(&self, claims: &Claims) -> Result<String, FakeGoogleError> {
        let mut header = Map::new();
        header.insert("alg".to_owned(), "RS256".into());
        header.insert("kid".to_owned(), self.key_id.as_str().into());
        header.insert("typ".to_owned(), "JWT".into());
        self.sign_jwt_with_header(&header, claims)
    }

    /// A JWT with exactly this header and these claims; the signature is RS256 whatever the header says.
    ///
    /// # Errors
    ///
    /// When the crypto library refuses to sign.
    pub fn sign_jwt_with_header(
        &self,
        header: &Map<String, Value>,
        claims: &Claims,
    ) -> Result<String, FakeGoogleError> {
        self.sign_raw_jwt(
            Value::Object(header.clone()).to_string(),
            Value::Object(claims.clone()).to_string(),
        )
    }

    /// A compact JWS over these very bytes, which need not be JSON.
    ///
    /// # Errors
    ///
    /// When the crypto library refuses to sign.
    pub fn sign_raw_jwt(
        &self,
        header: impl AsRef<[u8]>,
        payload: impl AsRef<[u8]>,
    ) -> Result<String, FakeGoogleError> {
        let signing_input = jwt::signing_input(header.as_ref(), payload.as_ref());
        let signature = self.sign(signing_input.as_bytes())?;
        Ok(format!(
            "{signing_input}.{}",
            BASE64_URL_SAFE_NO_PAD.encode(signature)
        ))
    }

    /// True if `signature` is this key's RS256 signature over `message`.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, self.pair.public_key())
            .verify(message, signature)
            .is_ok()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SigningKey")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

fn random_key_id() -> Result<String, FakeGoogleError> {
    let mut bytes = [0; KEY_ID_LENGTH];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| FakeGoogleError::KeyGeneration)?;
    Ok(base16ct::lower::encode_string(&bytes))
}
