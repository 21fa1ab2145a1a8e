//! The keys in a key document (contract 8.2; SEC-G6, J13).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use pkcs1::RsaPublicKeyRef;
use serde::{Deserialize, Serialize};
use x509_cert::Certificate;
use x509_cert::der::DecodePem as _;

use super::strict::identity_in;
use crate::rs256::{RSA_ENCRYPTION, VerifyingKey};

/// The usable keys that a document publishes, by their ids.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Moduli", try_from = "Moduli")]
pub(super) struct KeyDocument(HashMap<String, Arc<VerifyingKey>>);

/// How instances hand a document on: key id to modulus in base64. It is read in a third of the time that the
/// certificates take (7 µs a key, natively).
#[derive(Serialize, Deserialize)]
struct Moduli(BTreeMap<String, String>);

/// Not what a document of keys would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of keys")]
pub(super) struct NotKeys;

impl KeyDocument {
    /// The keys in `body`, an object of certificates by key id. Of a certificate nothing else counts, and those that RS256 cannot use
    /// are passed over.
    pub(super) fn from_certificates(body: &[u8]) -> Result<Self, NotKeys> {
        let certificates: HashMap<String, String> = identity_in(body).map_err(|_| NotKeys)?;
        let keys = certificates
            .into_iter()
            .filter_map(|(key_id, pem)| Some((key_id, Arc::new(key_in(&pem)?))))
            .collect();
        Ok(Self(keys))
    }

    pub(super) fn key(&self, key_id: &str) -> Option<&Arc<VerifyingKey>> {
        self.0.get(key_id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<KeyDocument> for Moduli {
    fn from(document: KeyDocument) -> Self {
        let keys = document.0.into_iter();
        Self(
            keys.map(|(key_id, key)| (key_id, STANDARD_NO_PAD.encode(key.modulus_bytes())))
                .collect(),
        )
    }
}

impl TryFrom<Moduli> for KeyDocument {
    type Error = NotKeys;

    fn try_from(Moduli(moduli): Moduli) -> Result<Self, NotKeys> {
        let key = |(key_id, modulus): (String, String)| {
            let modulus = STANDARD_NO_PAD.decode(modulus).map_err(|_| NotKeys)?;
            let key = VerifyingKey::from_modulus(&modulus).map_err(|_| NotKeys)?;
            Ok((key_id, Arc::new(key)))
        };
        moduli
            .into_iter()
            .map(key)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// How many keys that can verify are in `body`; `None` when it is not a document of keys.
pub(crate) fn usable_keys(body: &[u8]) -> Option<usize> {
    let document = KeyDocument::from_certificates(body).ok()?;
    Some(document.0.len())
}

fn key_in(pem: &str) -> Option<VerifyingKey> {
    let certificate = Certificate::from_pem(pem).ok()?;
    let key = certificate.tbs_certificate().subject_public_key_info();
    if key.algorithm.oid != RSA_ENCRYPTION {
        return None;
    }
    let key = RsaPublicKeyRef::try_from(key.subject_public_key.as_bytes()?).ok()?;
    VerifyingKey::from_components(key.modulus.as_bytes(), key.public_exponent.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, RsaKeySize};

    use super::*;

    fn certificate(size: RsaKeySize) -> String {
        let pair = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, size).unwrap();
        let parameters = CertificateParams::new(vec!["test.example".to_owned()]).unwrap();
        parameters.self_signed(&pair).unwrap().pem()
    }

    #[test]
    fn j13_keys_of_every_width_are_handed_on_as_they_were() {
        let certificates = BTreeMap::from([
            ("short", certificate(RsaKeySize::_2048)),
            ("long", certificate(RsaKeySize::_3072)),
        ]);
        let body = serde_json::to_vec(&certificates).unwrap();
        let document = KeyDocument::from_certificates(&body).unwrap();
        let text = serde_json::to_string(&document).unwrap();
        let back: KeyDocument = serde_json::from_str(&text).unwrap();
        for (key_id, bytes) in [("short", 256), ("long", 384)] {
            let moduli = [&document, &back].map(|it| it.key(key_id).unwrap().modulus_bytes());
            assert_eq!(moduli[0], moduli[1]);
            assert_eq!(moduli[0].len(), bytes);
        }
        assert!(text.len() < body.len() / 2, "{text}");
    }

    #[test]
    fn j13_a_key_that_no_document_could_have_is_not_taken_over() {
        let even = STANDARD_NO_PAD.encode([0xfe; 256]);
        let short = STANDARD_NO_PAD.encode([0xff; 128]);
        for modulus in ["", "AAAA", "=", &even, &short] {
            let text = serde_json::to_string(&BTreeMap::from([("key", modulus)])).unwrap();
            assert!(serde_json::from_str::<KeyDocument>(&text).is_err());
        }
    }

    #[test]
    fn g6_a_document_of_keys_has_one_reading() {
        assert!(KeyDocument::from_certificates(br#"{"a":"x","b":"y"}"#).is_ok());
        for odd in [
            &br#"{"a":"x","a":"y"}"#[..],
            br#"{"a":["x"]}"#,
            br#"[{"a":"x"}]"#,
            br#"["a","x"]"#,
            br#"{"error":{"code":404}}"#,
            b"{\"a\":\"\xff\"}",
            b"null",
        ] {
            assert!(KeyDocument::from_certificates(odd).is_err(), "{odd:?}");
        }
    }
}
