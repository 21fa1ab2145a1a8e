//! The versions of sealed records that have been opened, so that comparing a record again needs no decryption.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use gatehouse_ports::Version;
use gatehouse_ports::rules::has_expired;

use crate::Namespace;

/// How many records are noted down at most; beyond that it begins anew.
const MAXIMUM_RECORDS: usize = 4096;

/// Notes which records opened, and when each of them ends by its sealed word. It holds no value: nothing here is secret.
///
/// A version is given to one state of one key, once. So a record that opened at a version need not be opened again to say that it is
/// still there for a reader that holds that version, as long as the backend says that it is at that version.
#[derive(Default)]
pub struct VerifiedVersions {
    records: RwLock<Records>,
}

#[derive(Default)]
struct Records {
    by_namespace: HashMap<Namespace, HashMap<String, Record>>,
    count: usize,
}

#[derive(Clone, Copy)]
struct Record {
    version: Version,
    expires_at: Option<u64>,
}

impl VerifiedVersions {
    /// Notes that the record under `key` opened at `version` and ends at `expires_at`, in milliseconds since 1970.
    pub fn note(&self, namespace: Namespace, key: &str, version: Version, expires_at: Option<u64>) {
        let record = Record {
            version,
            expires_at,
        };
        let mut records = self.records.write().unwrap_or_else(PoisonError::into_inner);
        if records.count >= MAXIMUM_RECORDS {
            *records = Records::default();
        }
        let noted = records.by_namespace.entry(namespace).or_default();
        if noted.insert(key.to_owned(), record).is_none() {
            records.count += 1;
        }
    }

    /// Tells whether the record under `key` opened at `version` and has not ended at `now`.
    pub fn contains(&self, namespace: Namespace, key: &str, version: Version, now: u64) -> bool {
        let records = self.records.read().unwrap_or_else(PoisonError::into_inner);
        let noted = records.by_namespace.get(&namespace);
        noted
            .and_then(|noted| noted.get(key))
            .is_some_and(|noted| noted.version == version && !has_expired(noted.expires_at, now))
    }

    /// Forgets everything.
    pub fn forget(&self) {
        *self.records.write().unwrap_or_else(PoisonError::into_inner) = Records::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: Namespace = Namespace::Access;

    #[test]
    fn a_record_counts_at_its_version_in_its_namespace_and_until_its_end() {
        let opened = VerifiedVersions::default();
        opened.note(ACCESS, "a", 1, Some(100));
        assert!(opened.contains(ACCESS, "a", 1, 99));
        assert!(!opened.contains(ACCESS, "a", 1, 100));
        assert!(!opened.contains(ACCESS, "a", 2, 99));
        assert!(!opened.contains(ACCESS, "b", 1, 99));
        assert!(!opened.contains(Namespace::Orgs, "a", 1, 99));

        opened.note(ACCESS, "a", 2, None);
        assert!(!opened.contains(ACCESS, "a", 1, 99));
        assert!(opened.contains(ACCESS, "a", 2, u64::MAX));
        opened.forget();
        assert!(!opened.contains(ACCESS, "a", 2, 0));
    }

    #[test]
    fn what_is_noted_has_a_bound() {
        let opened = VerifiedVersions::default();
        for number in 0..3 * MAXIMUM_RECORDS {
            opened.note(ACCESS, &number.to_string(), 1, None);
            let records = opened.records.read().unwrap();
            let held: usize = records.by_namespace.values().map(HashMap::len).sum();
            assert_eq!(held, records.count);
            assert!(held <= MAXIMUM_RECORDS);
        }
    }
}
