//! Service accounts: who they are, and what the fake keeps of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};

use crate::error::FakeGoogleError;
use crate::iam::KeyPropagation;
use crate::signing_key::SigningKey;

/// Digits of a unique ID; Google's have 21.
const UNIQUE_ID_DIGITS: usize = 21;

/// A service account to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSpec {
    /// Email address, by which most callers name it.
    pub email: String,
    /// Decimal number that Google never gives to a second account.
    pub unique_id: String,
    /// Project that the account belongs to.
    pub project_id: String,
}

impl AccountSpec {
    /// The account `<name>@<project_id>.iam.gserviceaccount.com`, with a unique ID that follows from the email.
    #[must_use]
    pub fn new(name: &str, project_id: &str) -> Self {
        let email = format!("{name}@{project_id}.iam.gserviceaccount.com");
        Self {
            unique_id: unique_id_of(&email),
            email,
            project_id: project_id.to_owned(),
        }
    }
}

/// A plausible unique ID: the digest of the email, written in decimal digits.
fn unique_id_of(email: &str) -> String {
    let digest = digest(&SHA256, email.as_bytes());
    let digits = digest
        .as_ref()
        .iter()
        .map(|byte| char::from(b'0' + byte % 10));
    std::iter::once('1')
        .chain(digits)
        .take(UNIQUE_ID_DIGITS)
        .collect()
}

/// A service account as the fake keeps it.
#[derive(Debug)]
pub(crate) struct Account {
    /// The description that it was created with.
    pub(crate) spec: AccountSpec,
    /// Published keys, oldest first; the last one signs.
    pub(crate) keys: Vec<Arc<SigningKey>>,
    /// Further entries of the X.509 document: key ID to text that claims to be a certificate.
    pub(crate) foreign_certificates: BTreeMap<String, String>,
    /// A disabled account keeps its record and its published keys but gets no access token.
    pub(crate) disabled: bool,
    /// True if reading the record is answered with 403.
    pub(crate) hidden: bool,
    /// How far the news of its new keys has got.
    pub(crate) propagation: KeyPropagation,
    /// Resource names of the providers whose tokens may act in its name.
    pub(crate) impersonators: BTreeSet<String>,
}

impl Account {
    /// An enabled, readable account with one key.
    pub(crate) fn new(spec: AccountSpec, key: SigningKey) -> Self {
        Self {
            spec,
            keys: vec![Arc::new(key)],
            foreign_certificates: BTreeMap::new(),
            disabled: false,
            hidden: false,
            propagation: KeyPropagation::default(),
            impersonators: BTreeSet::new(),
        }
    }

    /// True if `name` is the account's email or unique ID.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.spec.email == name || self.spec.unique_id == name
    }

    /// The key that signs for the account.
    ///
    /// # Errors
    ///
    /// When all keys were removed.
    pub(crate) fn signing_key(&self) -> Result<&Arc<SigningKey>, FakeGoogleError> {
        self.keys.last().ok_or_else(|| FakeGoogleError::NoKey {
            owner: self.spec.email.clone(),
        })
    }
}
