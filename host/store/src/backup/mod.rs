//! Backups: the whole content of a store at one point in time, in one file (SEC-S11).
//!
//! A [`Backup`] is made from a snapshot of any backend and comes as a sequence of bytes; [`verify_backup`] looks through such a file and
//! says whether it is whole; a [`Restoration`] puts it into an empty backend of any kind. Records stay sealed all the way, with their names
//! readable, as they are in the store; those of an installation under Spin are sealed anew.
//!
//! **The file** is a mark with the number of the format, and frames: one byte that says the kind, the length of the content as 4 bytes
//! big-endian, and the content. The frames are, in this order:
//!
//! | kind | content |
//! | --- | --- |
//! | 1, once | the [`Manifest`], as JSON |
//! | 2, any number | records of one namespace: its place in the manifest, one byte; then for each record the length of the key, 2 bytes; the key; the end of life, 8 bytes, all ones for never; the length of the value, 4 bytes; the value |
//! | 3, once | the [`Summary`], as JSON |
//! | 4, once | the SHA-256 digest of all bytes before this frame, and what the root key attests of it |
//!
//! Namespaces follow each other in the order of the manifest, and records in the byte order of their keys, so none is there twice. The keyring
//! is the first namespace: a holder of the root key knows at once if the file is of its store. Nothing follows the last frame.
//!
//! **What is trusted when**: a file comes from anywhere. Its lengths are bounded before anything is allocated. Nothing of it is written into a
//! store before all of it was read and the root key has attested its digest: a file that was cut, altered, put together from others or made
//! by another one is refused by then.

mod error;
mod format;
#[cfg(feature = "spin")]
mod opened;
mod reading;
mod restoration;
mod under_way;
mod writing;

pub use error::BackupError;
pub use format::{Inventory, Manifest, SealKind, Summary};
#[cfg(feature = "spin")]
pub(crate) use opened::OpenedRecords;
pub use reading::{read_manifest, verify_backup};
pub use restoration::{Restoration, RestoredSeal};
pub(crate) use under_way::ensure_restored;
pub use writing::Backup;

use crate::Namespace;

/// The purpose for which a root key attests the digest of a backup.
const PURPOSE: &str = "backup";

/// The namespaces of a backup, in their order.
const NAMESPACES: [Namespace; 5] = [
    Namespace::Keyring,
    Namespace::AuthMethod,
    Namespace::Access,
    Namespace::Orgs,
    Namespace::Host,
];
