//! The shares that were given so far.

use gatehouse_barrier::{KeyShare, RootKey};
use gatehouse_ports::{OsRandom, Random as _, RandomError};

/// Different shares that are meant to yield one key; at most as many as that takes, since then they are tried.
#[derive(Default)]
pub struct Attempt {
    shares: Vec<KeyShare>,
    nonce: String,
}

impl Attempt {
    /// Adds a share, unless it is there.
    pub fn add(&mut self, share: KeyShare) -> Result<(), RandomError> {
        if self.shares.iter().any(|given| given.is_same_as(&share)) {
            return Ok(());
        }
        if self.shares.is_empty() {
            let mut bytes = [0; 16];
            OsRandom.fill(&mut bytes)?;
            let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
            self.nonce = id.hyphenated().to_string();
        }
        self.shares.push(share);
        Ok(())
    }

    /// How many there are.
    pub fn given(&self) -> usize {
        self.shares.len()
    }

    /// A name for this attempt; empty before the first share.
    pub fn nonce(&self) -> String {
        self.nonce.clone()
    }

    /// The key that they yield.
    pub fn combined(&self) -> Option<RootKey> {
        RootKey::combine(&self.shares)
    }
}
