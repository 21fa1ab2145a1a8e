//! The bytes of the file.

use gatehouse_barrier::{ATTESTATION_BYTES, SEALED_OVERHEAD_BYTES, Sharing};
use gatehouse_ports::{MAXIMUM_KEY_BYTES, MAXIMUM_VALUE_BYTES};
use serde::{Deserialize, Serialize};

use crate::Namespace;
use crate::backend::{SNAPSHOT_PAGE_BYTES, SNAPSHOT_PAGE_ENTRIES, StoredEntry};

/// The first bytes of every backup; the number of the format follows in 2 bytes.
pub const MARK: &[u8; 14] = b"gatehouse-back";
/// The format that this version reads and writes.
pub const FORMAT: u16 = 1;
/// Bytes of the mark and the number.
pub const MARK_BYTES: usize = MARK.len() + size_of::<u16>();
/// Bytes before the content of a frame.
pub const HEAD_BYTES: usize = 1 + size_of::<u32>();
/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 32;
/// Content of the last frame.
pub const SEAL_BYTES: usize = DIGEST_BYTES + ATTESTATION_BYTES;

/// Bytes of a record beside its key and its value.
const RECORD_HEAD_BYTES: usize = size_of::<u16>() + size_of::<u64>() + size_of::<u32>();
/// Longest key of a record.
const LONGEST_KEY: usize = MAXIMUM_KEY_BYTES;
/// Longest value of a record: a sealed one, or what belongs to the keyring, which is shorter.
const LONGEST_VALUE: usize = MAXIMUM_VALUE_BYTES + SEALED_OVERHEAD_BYTES;
/// Longest content of a frame of records: a page of a snapshot, which ends with the record that passes its length.
const LONGEST_RECORDS: usize = 1
    + SNAPSHOT_PAGE_BYTES
    + LONGEST_KEY
    + LONGEST_VALUE
    + SNAPSHOT_PAGE_ENTRIES * RECORD_HEAD_BYTES;
/// Longest content of a frame of JSON.
const LONGEST_JSON: usize = 64 * 1024;
const NEVER: u64 = u64::MAX;

/// The kinds of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The [`Manifest`].
    Manifest,
    /// Records of one namespace.
    Records,
    /// The [`Summary`].
    Summary,
    /// Digest and attestation.
    Seal,
}

impl Kind {
    /// Its number in the file. Never changes.
    const fn number(self) -> u8 {
        match self {
            Self::Manifest => 1,
            Self::Records => 2,
            Self::Summary => 3,
            Self::Seal => 4,
        }
    }

    /// The kind with this number.
    pub fn parse(number: u8) -> Option<Self> {
        let all = [Self::Manifest, Self::Records, Self::Summary, Self::Seal];
        all.into_iter().find(|kind| kind.number() == number)
    }

    /// The most that a frame of this kind may hold, in bytes.
    pub const fn longest(self) -> usize {
        match self {
            Self::Manifest | Self::Summary => LONGEST_JSON,
            Self::Records => LONGEST_RECORDS,
            Self::Seal => SEAL_BYTES,
        }
    }
}

/// How the key of a store is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SealKind {
    /// In a file.
    KeyFile,
    /// In shares that people hold.
    Shares {
        /// How many there are.
        shares: u8,
        /// How many of them yield the key.
        threshold: u8,
    },
}

impl SealKind {
    /// How the key is split; `None` where it is not.
    #[must_use]
    pub fn sharing(self) -> Option<Sharing> {
        match self {
            Self::KeyFile => None,
            Self::Shares { shares, threshold } => {
                Sharing::new(shares.into(), threshold.into()).ok()
            }
        }
    }
}

/// The first frame of a backup, about itself. It is not to be trusted before the file is verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program that made it.
    pub program: String,
    /// When it was made, in milliseconds since 1970: the point in time that its content is of.
    pub created_at: u64,
    /// The identity of the installation; `None` if it had none yet.
    pub installation: Option<String>,
    /// How the key was kept that opens it.
    pub seal: SealKind,
    /// The labels of its namespaces, in the order in which they follow.
    pub namespaces: Vec<String>,
}

impl Manifest {
    /// The namespaces; `None` if one of them is not known, or is there twice, or the keyring is not the first.
    pub(super) fn known_namespaces(&self) -> Option<Vec<Namespace>> {
        let mut known = Vec::new();
        for label in &self.namespaces {
            let named = |namespace: &Namespace| namespace.label() == label;
            let namespace = Namespace::ALL.into_iter().find(named)?;
            if known.contains(&namespace) {
                return None;
            }
            known.push(namespace);
        }
        (known.first() == Some(&Namespace::Keyring)).then_some(known)
    }
}

/// The summary at the end of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many records there are of each namespace, in the order of the manifest.
    pub records: Vec<u64>,
    /// A version that no record of the store had exceeded.
    pub last_version: u64,
}

impl Summary {
    /// How many records there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.records.iter().copied().fold(0, u64::saturating_add)
    }
}

/// The inventory of a whole backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// Its first frame.
    pub manifest: Manifest,
    /// Its last frame.
    pub summary: Summary,
    /// Bytes of the file.
    pub bytes: u64,
    /// The SHA-256 digest that it ends with, of everything before that.
    pub digest: [u8; DIGEST_BYTES],
}

/// The beginning of a file.
pub fn mark() -> Vec<u8> {
    [&MARK[..], &FORMAT.to_be_bytes()].concat()
}

/// A frame. `None` for more content than its kind takes.
pub fn frame(kind: Kind, content: &[u8]) -> Option<Vec<u8>> {
    if content.len() > kind.longest() {
        return None;
    }
    let length = u32::try_from(content.len()).ok()?;
    Some([&[kind.number()], &length.to_be_bytes()[..], content].concat())
}

/// The content of a frame of records. `None` for what no store holds.
pub fn records(place: u8, entries: &[StoredEntry]) -> Option<Vec<u8>> {
    let length = |entry: &StoredEntry| RECORD_HEAD_BYTES + entry.key.len() + entry.value.len();
    let mut content = Vec::with_capacity(1 + entries.iter().map(length).sum::<usize>());
    content.push(place);
    for StoredEntry {
        key,
        value,
        expires_at,
    } in entries
    {
        if !is_key(key) || value.len() > LONGEST_VALUE {
            return None;
        }
        content.extend_from_slice(&u16::try_from(key.len()).ok()?.to_be_bytes());
        content.extend_from_slice(key.as_bytes());
        content.extend_from_slice(&expires_at.unwrap_or(NEVER).to_be_bytes());
        content.extend_from_slice(&u32::try_from(value.len()).ok()?.to_be_bytes());
        content.extend_from_slice(value);
    }
    Some(content)
}

/// Reads what [`records`] made, record after record; `None` for anything else.
pub fn read_records(content: &[u8]) -> Option<(u8, Vec<StoredEntry>)> {
    let (place, mut rest) = content.split_first()?;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk()?;
        let (key, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
        let (end, after) = after.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (value, after) = after.split_at_checked(length)?;
        let key = str::from_utf8(key).ok().filter(|key| is_key(key))?;
        if value.len() > LONGEST_VALUE {
            return None;
        }
        entries.push(StoredEntry {
            key: key.to_owned(),
            value: value.to_vec(),
            expires_at: Some(u64::from_be_bytes(*end)).filter(|end| *end != NEVER),
        });
        rest = after;
    }
    (!entries.is_empty()).then_some((*place, entries))
}

fn is_key(key: &str) -> bool {
    (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, value: &[u8], expires_at: Option<u64>) -> StoredEntry {
        StoredEntry {
            key: key.to_owned(),
            value: value.to_vec(),
            expires_at,
        }
    }

    #[test]
    fn s11_records_read_back_and_no_cut_frame_of_them_does() {
        let entries = [
            entry("a/b", b"value", None),
            entry("c", b"", Some(0)),
            entry("~", &[0xff; 70], Some(u64::MAX - 1)),
        ];
        let content = records(3, &entries).unwrap();
        assert_eq!(read_records(&content), Some((3, entries.to_vec())));
        // One byte, and the lengths of the first record and of both.
        let boundaries = [1 + 14 + 3 + 5, 1 + 14 + 3 + 5 + 14 + 1];
        for end in 0..content.len() {
            let is_boundary = boundaries.contains(&end);
            assert_eq!(
                read_records(&content[..end]).is_some(),
                is_boundary,
                "{end}"
            );
        }
    }

    #[test]
    fn s11_keys_and_values_that_no_store_holds_are_neither_written_nor_read() {
        for key in ["", "a b", "ü", "a\n", &"k".repeat(LONGEST_KEY + 1)] {
            assert_eq!(records(0, &[entry(key, b"", None)]), None, "{key}");
        }
        let longest = vec![0; LONGEST_VALUE];
        let content = records(0, &[entry("k", &longest, None)]).unwrap();
        assert!(read_records(&content).is_some());
        let longer = vec![0; LONGEST_VALUE + 1];
        assert_eq!(records(0, &[entry("k", &longer, None)]), None);
        let key = entry(&"k".repeat(LONGEST_KEY), b"", None);
        let mut content = records(0, std::slice::from_ref(&key)).unwrap();
        assert_eq!(read_records(&content), Some((0, vec![key])));
        content[5] = b' ';
        assert_eq!(read_records(&content), None);
        assert_eq!(read_records(&[0]), None, "no record");
        assert_eq!(read_records(&[]), None);
    }

    #[test]
    fn s14_a_frame_holds_a_page_of_a_snapshot_and_no_more() {
        let small = vec![entry(&"k".repeat(LONGEST_KEY), b"v", None); SNAPSHOT_PAGE_ENTRIES];
        let content = records(0, &small).unwrap();
        assert!(frame(Kind::Records, &content).is_some());
        assert!(Kind::Records.longest() < 4 * 1024 * 1024);
        assert!(frame(Kind::Records, &vec![0; Kind::Records.longest()]).is_some());
        assert!(frame(Kind::Records, &vec![0; Kind::Records.longest() + 1]).is_none());
    }

    #[test]
    fn a_manifest_is_of_known_namespaces_the_keyring_before_all_others() {
        let manifest = |labels: &[&str]| Manifest {
            program: String::new(),
            created_at: 0,
            installation: None,
            seal: SealKind::KeyFile,
            namespaces: labels.iter().map(|&label| label.to_owned()).collect(),
        };
        let known = |labels: &[&str]| manifest(labels).known_namespaces();
        let expected = vec![Namespace::Keyring, Namespace::Access];
        assert_eq!(known(&["keyring", "access"]), Some(expected));
        for labels in [
            &["access", "keyring"][..],
            &["keyring", "access", "access"],
            &["keyring", "secrets"],
            &[],
        ] {
            assert_eq!(known(labels), None, "{labels:?}");
        }
    }
}
