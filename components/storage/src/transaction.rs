//! One commit in the making.

use gatehouse_ports::{Change, Check, Put, Requirement, Version};

use crate::{Record, StorageError, encode};

/// Checks and changes that will apply together or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction {
    checks: Vec<Check>,
    changes: Vec<Change>,
}

impl Transaction {
    /// Nothing to check, nothing to change.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// True if committing this would do nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.changes.is_empty()
    }

    /// Requires that there is no entry under `key`.
    pub fn require_absent(&mut self, key: impl Into<String>) -> &mut Self {
        self.check(key.into(), Requirement::Absent)
    }

    /// Requires that the entry under `key` is still the one that was read.
    pub fn require(&mut self, key: impl Into<String>, version: Version) -> &mut Self {
        self.check(key.into(), Requirement::AtVersion(version))
    }

    /// Requires what was read under `key`: this version, or nothing.
    pub fn require_unchanged(
        &mut self,
        key: impl Into<String>,
        version: Option<Version>,
    ) -> &mut Self {
        let requirement = version.map_or(Requirement::Absent, Requirement::AtVersion);
        self.check(key.into(), requirement)
    }

    /// Stores `record` under `key` for good.
    ///
    /// # Errors
    ///
    /// When the record does not serialize.
    pub fn put<R: Record>(
        &mut self,
        key: impl Into<String>,
        record: &R,
    ) -> Result<&mut Self, StorageError> {
        self.put_until(key, record, None)
    }

    /// Stores `record` under `key`; from `expires_at` (milliseconds since 1970) on it reads as absent.
    ///
    /// # Errors
    ///
    /// When the record does not serialize.
    pub fn put_until<R: Record>(
        &mut self,
        key: impl Into<String>,
        record: &R,
        expires_at: Option<u64>,
    ) -> Result<&mut Self, StorageError> {
        self.changes.push(Change::Put(Put {
            key: key.into(),
            value: encode(record)?,
            expires_at,
        }));
        Ok(self)
    }

    /// Removes the entry under `key`, if there is one. To say so again changes nothing.
    pub fn delete(&mut self, key: impl Into<String>) -> &mut Self {
        let change = Change::Delete(key.into());
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
        self
    }

    /// True if it changes this key already.
    #[must_use]
    pub fn has_change(&self, key: &str) -> bool {
        self.changes.iter().any(|change| change.key() == key)
    }

    /// The checks and changes for the store.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Check>, Vec<Change>) {
        (self.checks, self.changes)
    }

    fn check(&mut self, key: String, requirement: Requirement) -> &mut Self {
        self.checks.push(Check { key, requirement });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_removed_once_however_often_that_is_said() {
        let mut transaction = Transaction::new();
        transaction.delete("a").delete("b").delete("a");
        let keys: Vec<_> = transaction.changes.iter().map(Change::key).collect();
        assert_eq!(keys, ["a", "b"]);
    }
}
