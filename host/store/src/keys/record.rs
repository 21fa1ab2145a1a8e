//! The stored record of the active key.

use gatehouse_barrier::Barrier;
use gatehouse_ports::{Change, OsRandom, StoreError};

use super::rotation_policy::RotationPolicy;
use crate::Namespace;
use crate::layout::{KEYS_KEY, put, unsealable};
use crate::sealed::address;

/// The layout written by this version: this byte, four numbers of 8 bytes, three bytes, and the text of where a pass is. Numbers are
/// big-endian.
const FORMAT: u8 = 1;

const IDLE: u8 = 0;
const UNDER_WAY: u8 = 1;
const BLOCKED: u8 = 2;

/// The known facts about the active key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Milliseconds since 1970.
    pub installed_at: u64,
    /// How many records it has sealed.
    pub encryptions: u64,
    /// When it is replaced.
    pub policy: RotationPolicy,
    /// How far sealing anew has got.
    pub pass: Pass,
}

/// How far the store has been sealed anew since the last rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pass {
    /// The work has not begun, or nothing is left to do.
    Idle,
    /// The position that is to be looked at next.
    UnderWay {
        /// Number of the namespace.
        namespace: u8,
        /// The last key of it that was looked at; empty before the first.
        after: String,
    },
    /// A record did not open. Begins again with the next rotation.
    Blocked,
    /// Nothing is sealed by an earlier key. Never stored.
    Ended,
}

impl KeyRecord {
    /// The record of a key that is made at `now`.
    pub fn new(now: u64) -> Self {
        Self {
            installed_at: now,
            encryptions: 0,
            policy: RotationPolicy::default(),
            pass: Pass::Idle,
        }
    }

    /// Turns this into the record of the next key, made at `now`.
    pub fn begin_term(&mut self, now: u64) {
        *self = Self {
            policy: self.policy,
            ..Self::new(now)
        };
    }

    /// Tells whether the key is to be replaced at `now`, in milliseconds since 1970.
    pub fn is_rotation_due(&self, now: u64) -> bool {
        let RotationPolicy {
            enabled,
            max_operations,
            interval,
        } = self.policy;
        let age = now.saturating_sub(self.installed_at) / 1000;
        enabled && (self.encryptions >= max_operations || interval > 0 && age >= interval)
    }

    /// The change that stores it, sealed by the active key of `barrier`.
    pub fn sealed(&self, barrier: &Barrier) -> Result<Change, StoreError> {
        let (pass, namespace, after) = match &self.pass {
            Pass::Idle | Pass::Ended => (IDLE, 0, ""),
            Pass::UnderWay { namespace, after } => (UNDER_WAY, *namespace, after.as_str()),
            Pass::Blocked => (BLOCKED, 0, ""),
        };
        let mut bytes = vec![FORMAT];
        for number in [
            self.installed_at,
            self.encryptions,
            self.policy.max_operations,
            self.policy.interval,
        ] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&[self.policy.enabled.into(), pass, namespace]);
        bytes.extend_from_slice(after.as_bytes());
        let address = address(Namespace::Keyring, KEYS_KEY);
        let value = barrier.seal(address, &bytes, None, &OsRandom);
        Ok(put(KEYS_KEY, value.map_err(unsealable)?))
    }

    /// Opens what [`Self::sealed`] made; `None` for what was altered or this version does not know.
    pub fn open(barrier: &Barrier, sealed: Vec<u8>) -> Option<Self> {
        let record = barrier.open(address(Namespace::Keyring, KEYS_KEY), sealed);
        let bytes = record.ok()?.value;
        let (&FORMAT, rest) = bytes.split_first()? else {
            return None;
        };
        let (installed_at, rest) = number(rest)?;
        let (encryptions, rest) = number(rest)?;
        let (max_operations, rest) = number(rest)?;
        let (interval, rest) = number(rest)?;
        let (&[enabled, pass, namespace], after) = rest.split_first_chunk::<3>()?;
        let after = str::from_utf8(after).ok()?.to_owned();
        Some(Self {
            installed_at,
            encryptions,
            policy: RotationPolicy {
                enabled: enabled != 0,
                max_operations,
                interval,
            },
            pass: match pass {
                IDLE => Pass::Idle,
                UNDER_WAY => Pass::UnderWay { namespace, after },
                BLOCKED => Pass::Blocked,
                _ => return None,
            },
        })
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_be_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use gatehouse_barrier::Keyring;
    use gatehouse_ports::Put;
    use gatehouse_ports::key_rotation::MOST_OPERATIONS;

    use super::*;

    fn value(change: Change) -> Vec<u8> {
        match change {
            Change::Put(Put { value, .. }) => value,
            Change::Delete(_) => Vec::new(),
        }
    }

    #[test]
    fn k4_what_is_stored_about_a_key_reads_back_and_no_altered_record_does() {
        let barrier = Barrier::new(&Keyring::generate(&OsRandom).unwrap());
        for pass in [
            Pass::Idle,
            Pass::Blocked,
            Pass::UnderWay {
                namespace: 2,
                after: "token/ü".to_owned(),
            },
        ] {
            let record = KeyRecord {
                installed_at: 5,
                encryptions: u64::MAX,
                policy: RotationPolicy {
                    enabled: false,
                    max_operations: 1_000_000,
                    interval: 86_400,
                },
                pass,
            };
            let sealed = value(record.sealed(&barrier).unwrap());
            assert_eq!(KeyRecord::open(&barrier, sealed.clone()), Some(record));
            for bit in 0..sealed.len() * 8 {
                let mut altered = sealed.clone();
                altered[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(KeyRecord::open(&barrier, altered), None, "bit {bit}");
            }
        }
    }

    #[test]
    fn k4_a_key_is_due_at_its_bounds_and_not_before() {
        let mut record = KeyRecord::new(1_000_000);
        record.encryptions = MOST_OPERATIONS - 1;
        assert!(!record.is_rotation_due(u64::MAX));
        record.encryptions += 1;
        assert!(record.is_rotation_due(1_000_000));
        assert!(record.encryptions < 1 << 32);
        record.policy.enabled = false;
        assert!(!record.is_rotation_due(u64::MAX));

        let mut aged = KeyRecord::new(1_000_000);
        aged.policy.interval = 86_400;
        let day = 1_000_000 + 86_400_000;
        assert!(!aged.is_rotation_due(day - 1));
        assert!(aged.is_rotation_due(day));
    }
}
