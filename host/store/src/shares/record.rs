//! The record of the store about its shares, readable while it is sealed.

use gatehouse_barrier::{Address, Barrier, Keyring, SealError, Sharing};
use gatehouse_ports::OsRandom;

use crate::Namespace;
use crate::layout::SEAL_KEY;

/// The layout written by this version: this byte, the number of shares, the threshold, and the same sealed by the keyring.
const FORMAT: u8 = 1;
const STATEMENT_BYTES: usize = 3;

const ADDRESS: Address<'static> = Address {
    store: Namespace::Keyring.label(),
    key: SEAL_KEY,
};

/// Into how many shares the root key is split.
pub struct SealRecord {
    /// Not to be trusted until [`Self::is_of`] says so.
    pub sharing: Sharing,
    proof: Vec<u8>,
}

impl SealRecord {
    /// The record for a new keyring.
    pub fn new(keyring: &Keyring, sharing: Sharing) -> Result<Self, SealError> {
        let statement = statement(sharing);
        let proof = Barrier::new(keyring).seal(ADDRESS, &statement, None, &OsRandom)?;
        Ok(Self { sharing, proof })
    }

    /// The bytes that are stored.
    pub fn write(&self) -> Vec<u8> {
        [&statement(self.sharing)[..], &self.proof].concat()
    }

    /// Reads what [`Self::write`] made; `None` for what this version does not know.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (statement, proof) = bytes.split_first_chunk::<STATEMENT_BYTES>()?;
        let &[FORMAT, shares, threshold] = statement else {
            return None;
        };
        Some(Self {
            sharing: Sharing::new(shares.into(), threshold.into()).ok()?,
            proof: proof.to_vec(),
        })
    }

    /// Tells whether the record was written for `keyring`, and says now what it said then.
    pub fn is_of(&self, keyring: &Keyring) -> bool {
        let proven = Barrier::new(keyring).open(ADDRESS, self.proof.clone());
        proven.is_ok_and(|proven| proven.value == statement(self.sharing))
    }
}

const fn statement(sharing: Sharing) -> [u8; STATEMENT_BYTES] {
    [FORMAT, sharing.shares(), sharing.threshold()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring() -> Keyring {
        Keyring::generate(&OsRandom).unwrap()
    }

    #[test]
    fn k1_no_altered_record_is_taken_for_the_keyrings_own() {
        let (keyring, sharing) = (keyring(), Sharing::new(5, 3).unwrap());
        let bytes = SealRecord::new(&keyring, sharing).unwrap().write();
        let read = SealRecord::read(&bytes).unwrap();
        assert_eq!(read.sharing, sharing);
        assert!(read.is_of(&keyring));
        for bit in 0..bytes.len() * 8 {
            let mut altered = bytes.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            let taken = SealRecord::read(&altered).is_some_and(|read| read.is_of(&keyring));
            assert!(!taken, "bit {bit}");
        }
        for end in 0..bytes.len() {
            let taken = SealRecord::read(&bytes[..end]).is_some_and(|read| read.is_of(&keyring));
            assert!(!taken, "cut to {end} bytes");
        }
    }

    #[test]
    fn k1_the_record_of_another_store_is_not_taken() {
        let record = SealRecord::new(&keyring(), Sharing::new(1, 1).unwrap());
        assert!(!record.unwrap().is_of(&keyring()));
    }
}
