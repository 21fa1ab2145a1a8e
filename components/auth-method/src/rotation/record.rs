//! The stored progress of a rotation. It survives a crash at any point.

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

use crate::config::{CredentialsIdentity, CredentialsRecord};

/// Seconds before the first retry of a rotation by schedule; each wait is twice as long as the one before it.
const FIRST_WAIT: u64 = 60;
/// The longest of these waits, in seconds.
const LONGEST_WAIT: u64 = 3600;

/// The rotation of a mount that is at work, interrupted, or to be tried again. Otherwise there is no record.
///
/// It has no `Debug`: it may hold a private key.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct RotationRecord {
    /// The claim of the instance that is at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claim: Option<Claim>,
    #[serde(default)]
    pub(super) stage: Stage,
    /// How many attempts have failed in a row.
    #[serde(default)]
    failures: u32,
    /// Seconds since 1970 before which a due rotation is not tried again.
    #[serde(default)]
    pub(super) retry_at: u64,
}

impl Record for RotationRecord {
    const SCHEMA: u16 = 1;
}

/// One instance's right to work on the rotation, until it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// Greater than that of every earlier claim on the mount.
    pub(super) number: u64,
    /// Milliseconds since 1970.
    pub(super) until: u64,
}

/// The steps that have been done.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Nothing.
    #[default]
    Idle,
    /// Google has made a key, which is not yet in use.
    Made(Box<NewKey>),
    /// The new key is in use; the one before it is to be deleted.
    Switched {
        /// Names the key before it.
        replaced: String,
    },
}

/// A key that is to take the place of another.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct NewKey {
    /// Names the key in use.
    pub(super) replaces: String,
    /// Seconds since 1970.
    pub(super) made_at: u64,
    pub(super) identity: CredentialsIdentity,
    pub(super) secret: CredentialsRecord,
}

impl RotationRecord {
    /// True while an instance is at work at `now`, in milliseconds.
    pub(super) fn is_claimed(&self, now: u64) -> bool {
        self.claim.is_some_and(|claim| now < claim.until)
    }

    /// Claims the rotation from `now` for `duration`, both in milliseconds.
    pub(super) fn claim(&mut self, now: u64, duration: u64) -> Claim {
        let after = self.claim.map_or(0, |claim| claim.number.saturating_add(1));
        let claim = Claim {
            number: after.max(now),
            until: now.saturating_add(duration),
        };
        self.claim = Some(claim);
        claim
    }

    /// Records that an attempt has failed at `now`, in seconds, and releases the claim.
    pub(super) fn fail(&mut self, now: u64) {
        let wait = FIRST_WAIT << self.failures.min(6);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = now.saturating_add(wait.min(LONGEST_WAIT));
        self.claim = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_2_6_waits_double_from_a_minute_to_an_hour() {
        let mut record = RotationRecord::default();
        let waits: Vec<u64> = (0..9)
            .map(|_| {
                record.fail(1000);
                record.retry_at - 1000
            })
            .collect();
        assert_eq!(waits, [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
    }

    #[test]
    fn a_claim_is_never_mistaken_for_another() {
        let mut record = RotationRecord::default();
        let first = record.claim(1000, 10);
        assert!(record.is_claimed(1009) && !record.is_claimed(1010));
        assert_ne!(record.claim(1000, 10).number, first.number);
        assert_ne!(
            RotationRecord::default().claim(1010, 10).number,
            first.number
        );
    }
}
