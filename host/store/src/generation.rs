//! The generation of the store: a number that a witness elsewhere remembers, so that an old copy of the store shows (SEC-K9).

use gatehouse_barrier::Barrier;
use gatehouse_ports::{Check, CommitError, OsRandom, Random as _, Requirement, StoreError};

use crate::layout::{GENERATION_KEY, put, unsealable};
use crate::sealed::{KEYRING_ATTEMPTS, Opened, address};
use crate::{Backend, Guard, Namespace, SealedBackend, UnsealError, init_marker};

/// The layout written by this version: this byte, the store's name, the count, big-endian, and the same sealed by the keyring.
const FORMAT: u8 = 1;
const NAME_BYTES: usize = 16;
const STATEMENT_BYTES: usize = 1 + NAME_BYTES + size_of::<u64>();

/// The identity of a store, and how far it has been counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// Random, made with the first count; copies of the store share it.
    pub store: [u8; NAME_BYTES],
    /// Only ever grows.
    pub count: u64,
}

/// The stored form of a [`Generation`].
pub(crate) struct GenerationRecord {
    /// Not to be trusted until [`Self::is_of`] says so.
    pub(crate) generation: Generation,
    proof: Vec<u8>,
}

impl GenerationRecord {
    pub(crate) fn seal(barrier: &Barrier, generation: Generation) -> Result<Self, StoreError> {
        let address = address(Namespace::Keyring, GENERATION_KEY);
        let proof = barrier.seal(address, &statement(generation), None, &OsRandom);
        let proof = proof.map_err(unsealable)?;
        Ok(Self { generation, proof })
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        [&statement(self.generation)[..], &self.proof].concat()
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (statement, proof) = bytes.split_first_chunk::<STATEMENT_BYTES>()?;
        let (&FORMAT, rest) = statement.split_first()? else {
            return None;
        };
        let (store, count) = rest.split_first_chunk::<NAME_BYTES>()?;
        Some(Self {
            generation: Generation {
                store: *store,
                count: u64::from_be_bytes(count.try_into().ok()?),
            },
            proof: proof.to_vec(),
        })
    }

    /// Tells whether the record was written with the keys of `barrier`, and says now what it said then.
    pub(crate) fn is_of(&self, barrier: &Barrier) -> bool {
        let address = address(Namespace::Keyring, GENERATION_KEY);
        let proven = barrier.open(address, self.proof.clone());
        proven.is_ok_and(|proven| proven.value == statement(self.generation))
    }
}

fn statement(generation: Generation) -> [u8; STATEMENT_BYTES] {
    let mut statement = [FORMAT; STATEMENT_BYTES];
    let said = generation.store.into_iter();
    let said = said.chain(generation.count.to_be_bytes());
    for (to, from) in statement.iter_mut().skip(1).zip(said) {
        *to = from;
    }
    statement
}

impl<B: Backend> SealedBackend<B> {
    /// How far the store has been counted; `None` before the first time. On a sealed store that is its own word, which is proven once it
    /// is open.
    ///
    /// # Errors
    ///
    /// When the backend does not answer, or the word was altered.
    pub async fn generation(&self) -> Result<Option<Generation>, UnsealError> {
        let mut attempts = 1..KEYRING_ATTEMPTS;
        loop {
            let opened = self.opened().ok();
            let keys = [GENERATION_KEY];
            let entries = self.backend().get(Namespace::Keyring, &keys).await?;
            let Some(entry) = entries.into_iter().next().flatten() else {
                return Ok(None);
            };
            let record = GenerationRecord::read(&entry.value).ok_or(UnsealError::AlteredSeal)?;
            match opened {
                Some(opened) if !record.is_of(&opened.barrier) => {
                    // A key that another host has added seals it by now.
                    if attempts.next().is_none() || !self.follow(&opened).await? {
                        return Err(UnsealError::AlteredSeal);
                    }
                }
                _ => return Ok(Some(record.generation)),
            }
        }
    }

    /// Counts one further, durably. A first start that is under way counts for nothing yet, so nothing is counted then.
    ///
    /// # Errors
    ///
    /// When the store is sealed, what it holds was altered, or the backend fails.
    pub async fn advance_generation(&self) -> Result<Generation, UnsealError> {
        let _working = self.key_work.lock().await;
        let mut attempts = 1..KEYRING_ATTEMPTS;
        loop {
            let opened = self.current().await?;
            let outcome = self.advance_alone(&opened).await;
            let is_behind = match &outcome {
                // Another host has counted at the same time.
                Err(UnsealError::Contended) => opened.follows(),
                Err(UnsealError::AlteredSeal) => self.follow(&opened).await?,
                _ => false,
            };
            if !is_behind || attempts.next().is_none() {
                return outcome;
            }
        }
    }

    async fn advance_alone(&self, opened: &Opened) -> Result<Generation, UnsealError> {
        let barrier = &opened.barrier;
        let mark = init_marker::mark_key();
        let keys = [GENERATION_KEY, mark.as_str()];
        let mut entries = self
            .backend()
            .get(Namespace::Keyring, &keys)
            .await?
            .into_iter();
        let (entry, marked) = (entries.next().flatten(), entries.next().flatten());
        if marked.is_some() {
            return Err(UnsealError::Unfinished);
        }
        let (generation, requirement) = match entry {
            Some(entry) => {
                let record = GenerationRecord::read(&entry.value);
                let record = record.filter(|record| record.is_of(barrier));
                let Generation { store, count } =
                    record.ok_or(UnsealError::AlteredSeal)?.generation;
                let count = count.saturating_add(1);
                (
                    Generation { store, count },
                    Requirement::AtVersion(entry.version),
                )
            }
            None => {
                let mut store = [0; NAME_BYTES];
                OsRandom
                    .fill(&mut store)
                    .map_err(gatehouse_barrier::KeyringError::from)?;
                (Generation { store, count: 1 }, Requirement::Absent)
            }
        };
        let check = |key: &str, requirement| Check {
            key: key.to_owned(),
            requirement,
        };
        let mut checks = vec![
            check(GENERATION_KEY, requirement),
            check(&mark, Requirement::Absent),
        ];
        checks.extend(opened.guard.as_ref().map(Guard::check));
        let record = GenerationRecord::seal(barrier, generation)?;
        let change = put(GENERATION_KEY, record.write());
        let commit = self
            .backend()
            .commit(Namespace::Keyring, checks, vec![change]);
        match commit.await {
            Ok(()) => Ok(generation),
            Err(CommitError::Conflict(_)) => Err(UnsealError::Contended),
            Err(CommitError::Failed(error)) => Err(error.into()),
        }
    }
}
