//! Looking through the file of a backup.

use std::io::{self, Read};

use gatehouse_barrier::{Keyring, RootKey};
use sha2::{Digest as _, Sha256};

use super::format::{
    DIGEST_BYTES, FORMAT, HEAD_BYTES, Inventory, Kind, MARK, MARK_BYTES, Manifest, SEAL_BYTES,
    Summary, read_records,
};
use super::{BackupError, PURPOSE};
use crate::Namespace;
use crate::backend::StoredEntry;
use crate::layout::KEYRING_KEY;

/// Reads what a backup says about itself at its beginning, none of which is proven.
///
/// # Errors
///
/// When the file is none that this version knows, or cannot be read.
pub fn read_manifest(input: impl Read) -> Result<Manifest, BackupError> {
    Ok(Reading::begin(input)?.manifest)
}

/// Reads a backup from its beginning to its end, and makes sure that it is whole: that its bytes are those that were written, in their order,
/// with nothing missing and nothing more. With the root key it is also proven that a holder of that key made it; without, anyone who
/// altered it could have computed the digest anew.
///
/// `progress` is told how many bytes were read so far. One frame is in memory at a time, of two mebibytes at most.
///
/// # Errors
///
/// When the file cannot be read, is not whole, or the key is not the one that it was made with.
pub fn verify_backup(
    input: impl Read,
    root_key: Option<&RootKey>,
    mut progress: impl FnMut(u64),
) -> Result<Inventory, BackupError> {
    let mut reading = Reading::begin(input)?;
    let mut keyring = None;
    while let Some((namespace, entries)) = reading.records()? {
        progress(reading.at());
        if namespace == Namespace::Keyring {
            let found = entries.into_iter().find(|entry| entry.key == KEYRING_KEY);
            // At once: an operator does not wait for hours to learn that it is the wrong key.
            if let (Some(entry), Some(root_key)) = (&found, root_key) {
                Keyring::open(root_key, &entry.value)?;
            }
            keyring = keyring.or(found);
        }
    }
    let at = reading.at();
    let (inventory, attestation) = reading.finish()?;
    progress(inventory.bytes);
    if keyring.is_none() {
        let reason = "it has no keyring";
        return Err(BackupError::Damaged { at, reason });
    }
    match root_key {
        Some(root_key) if !root_key.has_attested(PURPOSE, &inventory.digest, &attestation) => {
            Err(BackupError::Forged)
        }
        _ => Ok(inventory),
    }
}

/// A backup that is being read, record by record.
pub(super) struct Reading<R> {
    frames: Frames<R>,
    manifest: Manifest,
    namespaces: Vec<Namespace>,
    /// Where the last record stood that was read.
    place: usize,
    last_key: Option<String>,
    counted: Vec<u64>,
    summary: Option<Summary>,
}

impl<R: Read> Reading<R> {
    /// Reads up to the end of the manifest.
    pub(super) fn begin(input: R) -> Result<Self, BackupError> {
        let mut frames = Frames {
            input,
            at: 0,
            digest: Sha256::new(),
        };
        frames.mark()?;
        let (kind, content) = frames.next()?;
        if kind != Kind::Manifest {
            return Err(frames.damaged("the manifest is missing"));
        }
        let manifest: Manifest = serde_json::from_slice(&content)
            .map_err(|_| frames.damaged("the manifest is not readable"))?;
        let namespaces = manifest.known_namespaces();
        let namespaces = namespaces.ok_or(BackupError::UnknownNamespace)?;
        Ok(Self {
            frames,
            manifest,
            place: 0,
            last_key: None,
            counted: vec![0; namespaces.len()],
            namespaces,
            summary: None,
        })
    }

    /// How many bytes were read so far.
    pub(super) const fn at(&self) -> u64 {
        self.frames.at
    }

    /// The next records, all of one namespace; `None` after the last ones.
    pub(super) fn records(&mut self) -> Result<Option<(Namespace, Vec<StoredEntry>)>, BackupError> {
        let (kind, content) = self.frames.next()?;
        match kind {
            Kind::Records => {}
            Kind::Summary => {
                let summary: Summary = serde_json::from_slice(&content)
                    .map_err(|_| self.frames.damaged("the summary is not readable"))?;
                if summary.records != self.counted {
                    return Err(self.frames.damaged("it has not as many records as it says"));
                }
                self.summary = Some(summary);
                return Ok(None);
            }
            Kind::Manifest | Kind::Seal => {
                return Err(self.frames.damaged("a frame is where it does not belong"));
            }
        }
        let unreadable = || self.frames.damaged("a frame of records is not readable");
        let (place, entries) = read_records(&content).ok_or_else(unreadable)?;
        let place = usize::from(place);
        let (Some(namespace), Some(counted)) =
            (self.namespaces.get(place), self.counted.get_mut(place))
        else {
            return Err(self.frames.damaged("records are of no namespace"));
        };
        if place < self.place {
            return Err(self.frames.damaged("namespaces are out of order"));
        }
        if place > self.place {
            self.place = place;
            self.last_key = None;
        }
        for entry in &entries {
            if self
                .last_key
                .as_ref()
                .is_some_and(|last| *last >= entry.key)
            {
                return Err(self.frames.damaged("records are out of order"));
            }
            self.last_key = Some(entry.key.clone());
        }
        let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        *counted = counted.saturating_add(count);
        Ok(Some((*namespace, entries)))
    }

    /// Reads the end of the file, behind all records, and compares the digest. Answers what the file holds, and what its maker attested.
    pub(super) fn finish(self) -> Result<(Inventory, Vec<u8>), BackupError> {
        let mut frames = self.frames;
        let digest: [u8; DIGEST_BYTES] = frames.digest.clone().finalize().into();
        let (kind, content) = frames.next()?;
        let summary = match self.summary {
            Some(summary) if kind == Kind::Seal && content.len() == SEAL_BYTES => summary,
            _ => return Err(frames.damaged("the last frame is missing")),
        };
        let (named, attestation) = content.split_at(DIGEST_BYTES);
        if named != digest {
            return Err(BackupError::Altered);
        }
        if !frames.are_over()? {
            return Err(frames.damaged("there is something behind its end"));
        }
        let inventory = Inventory {
            manifest: self.manifest,
            summary,
            bytes: frames.at,
            digest,
        };
        Ok((inventory, attestation.to_vec()))
    }
}

/// The frames of a file.
struct Frames<R> {
    input: R,
    /// How many bytes were read.
    at: u64,
    /// Of all bytes that were read.
    digest: Sha256,
}

impl<R: Read> Frames<R> {
    /// Reads what comes before the frames.
    fn mark(&mut self) -> Result<(), BackupError> {
        let mut mark = [0; MARK_BYTES];
        self.fill(&mut mark).map_err(|error| match error {
            BackupError::CutOff { .. } => BackupError::NotABackup,
            other => other,
        })?;
        let format = mark.strip_prefix(&MARK[..]);
        let format = format.and_then(|format| <[u8; 2]>::try_from(format).ok());
        match format.map(u16::from_be_bytes) {
            Some(FORMAT) => Ok(()),
            Some(found) if found > FORMAT => Err(BackupError::NewerFormat { found }),
            _ => Err(BackupError::NotABackup),
        }
    }

    /// Reads a frame. Its length is believed within the bound of its kind.
    fn next(&mut self) -> Result<(Kind, Vec<u8>), BackupError> {
        let mut head = [0; HEAD_BYTES];
        self.fill(&mut head)?;
        let [number, length @ ..] = head;
        let kind = Kind::parse(number);
        let kind = kind.ok_or_else(|| self.damaged("a frame is of no known kind"))?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > kind.longest() {
            return Err(self.damaged("a frame is too long"));
        }
        let mut content = vec![0; length];
        self.fill(&mut content)?;
        Ok((kind, content))
    }

    /// True if there are no more bytes.
    fn are_over(&mut self) -> Result<bool, BackupError> {
        loop {
            match self.input.read(&mut [0]) {
                Ok(read) => return Ok(read == 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(BackupError::Unreadable(error)),
            }
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), BackupError> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..)
            && !rest.is_empty()
        {
            match self.input.read(rest) {
                Ok(0) => return Err(BackupError::CutOff { at: self.at }),
                Ok(read) => {
                    filled += read;
                    self.at = self.at.saturating_add(u64::try_from(read).unwrap_or(0));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(BackupError::Unreadable(error)),
            }
        }
        self.digest.update(bytes);
        Ok(())
    }

    const fn damaged(&self, reason: &'static str) -> BackupError {
        BackupError::Damaged {
            at: self.at,
            reason,
        }
    }
}
