//! Opening the file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::backends::FileBackend;
use redb::{Builder, Database, DatabaseError, ReadableTable as _, StorageError};
use rustix::fs::{Advice, fadvise};

use super::layout::{DAMAGED, ENTRIES, EXPIRIES, KNOWN_SCHEMA, SCHEMA, STORE, VERSIONS_RESERVED};
use crate::directory::sync_parent;

/// Memory for pages that were read or wait to be written.
const CACHE_BYTES: usize = 128 * 1024 * 1024;

/// Why a store file could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The operating system refused or failed.
    #[error("cannot use the store file {}: {source}", path.display())]
    Inaccessible {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// Another process, or another backend of this one, has it open (SEC-S13).
    #[error("the store file {} is in use by another process; stop that one first, or choose another path", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this software wrote it (SEC-S12).
    #[error("the store file {} has schema {found}, and this version knows schemas up to {KNOWN_SCHEMA}; use the version that wrote it, or a newer one", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The number in the file.
        found: u64,
    },
    /// It is no store file, or it was changed behind the store's back (SEC-S3).
    #[error("the store file {} is damaged, or is something else: {reason}; restore it from a backup", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage that was found.
        reason: String,
    },
}

/// Hands the file to redb. Tests put faults in between.
pub type Opener = Box<dyn Fn(&Builder, FileBackend) -> Result<Database, DatabaseError> + Send>;

/// A file that can be opened, and opened again after it failed.
pub struct StoreFile {
    path: PathBuf,
    opener: Opener,
}

/// A database that was verified, and what must be known to write to it.
pub struct OpenFile {
    /// The tables of the current schema are all there.
    pub database: Database,
    /// No version in it exceeds this number.
    pub versions_reserved: u64,
}

impl StoreFile {
    /// The file at `path`.
    pub fn new(path: &Path) -> Self {
        Self::with_opener(
            path,
            Box::new(|builder, file| builder.create_with_backend(file)),
        )
    }

    /// The file at `path`, handed to redb by `opener`.
    pub fn with_opener(path: &Path, opener: Opener) -> Self {
        let path = path.to_owned();
        Self { path, opener }
    }

    /// Opens the file and verifies every page of it; creates it where there is none.
    pub fn open(&self) -> Result<OpenFile, OpenError> {
        let file = self
            .open_file()
            .map_err(|source| self.inaccessible(source))?;
        let database = self.open_database(file)?;
        let versions_reserved = self.prepare_tables(&database)?;
        Ok(OpenFile {
            database,
            versions_reserved,
        })
    }

    fn open_file(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match options
            .clone()
            .create_new(true)
            .mode(0o600)
            .open(&self.path)
        {
            Ok(file) => {
                sync_parent(&self.path)?;
                Ok(file)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let file = options.open(&self.path)?;
                // After a failed sync the page cache may show what the disk does not hold. Verify what the disk holds.
                fadvise(&file, 0, None, Advice::DontNeed)?;
                Ok(file)
            }
            Err(error) => Err(error),
        }
    }

    fn open_database(&self, file: File) -> Result<Database, OpenError> {
        let repaired = Arc::new(AtomicBool::new(false));
        let note = repaired.clone();
        let mut builder = Database::builder();
        builder
            .set_cache_size(CACHE_BYTES)
            .set_repair_callback(move |_| note.store(true, Ordering::Relaxed));
        let mut database = FileBackend::new(file)
            .and_then(|file| (self.opener)(&builder, file))
            .map_err(|error| self.explain(error))?;
        // After a crash opening has walked the whole file already.
        if !repaired.load(Ordering::Relaxed) {
            let intact = database.check_integrity();
            if !intact.map_err(|error| self.explain(error))? {
                // redb went back to an older state by now, which the next start would find intact.
                note_damage(&database).map_err(|error| self.damaged(error))?;
            }
        }
        Ok(database)
    }

    /// Makes the tables of a new store, refuses a newer or damaged one, and tells the highest version reserved.
    fn prepare_tables(&self, database: &Database) -> Result<u64, OpenError> {
        let facts = Facts::load_or_create(database).map_err(|error| match error {
            redb::Error::Io(source) => self.inaccessible(source),
            other => self.damaged(other),
        })?;
        if facts.schema != KNOWN_SCHEMA {
            return Err(OpenError::NewerSchema {
                path: self.path.clone(),
                found: facts.schema,
            });
        }
        if facts.damaged {
            return Err(self.damaged("pages did not match their checksums"));
        }
        Ok(facts.versions_reserved)
    }

    fn explain(&self, error: DatabaseError) -> OpenError {
        match error {
            DatabaseError::DatabaseAlreadyOpen => OpenError::InUse {
                path: self.path.clone(),
            },
            DatabaseError::Storage(StorageError::Io(source))
                if !matches!(
                    source.kind(),
                    io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
                ) =>
            {
                self.inaccessible(source)
            }
            other => self.damaged(other),
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn inaccessible(&self, source: io::Error) -> OpenError {
        let path = self.path.clone();
        OpenError::Inaccessible { path, source }
    }

    fn damaged(&self, reason: impl ToString) -> OpenError {
        OpenError::Damaged {
            path: self.path.clone(),
            reason: reason.to_string(),
        }
    }
}

/// The content of the `store` table.
struct Facts {
    schema: u64,
    damaged: bool,
    versions_reserved: u64,
}

impl Facts {
    /// Reads them; makes all tables where there are none yet.
    fn load_or_create(database: &Database) -> Result<Self, redb::Error> {
        let transaction = database.begin_write()?;
        let mut store = transaction.open_table(STORE)?;
        let number = |row: &str| -> Result<Option<u64>, redb::Error> {
            Ok(store.get(row)?.map(|number| number.value()))
        };
        if let Some(schema) = number(SCHEMA)? {
            return Ok(Self {
                schema,
                damaged: number(DAMAGED)?.is_some(),
                versions_reserved: number(VERSIONS_RESERVED)?.unwrap_or(0),
            });
        }
        store.insert(SCHEMA, KNOWN_SCHEMA)?;
        drop(store);
        transaction.open_table(ENTRIES)?;
        transaction.open_table(EXPIRIES)?;
        transaction.commit()?;
        Ok(Self {
            schema: KNOWN_SCHEMA,
            damaged: false,
            versions_reserved: 0,
        })
    }
}

fn note_damage(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    transaction.open_table(STORE)?.insert(DAMAGED, 1)?;
    transaction.commit()?;
    Ok(())
}
