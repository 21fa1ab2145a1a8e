//! Opening the file.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use redb::backends::FileBackend;
use redb::{Builder, Database, DatabaseError, ReadableTable as _, StorageError};

use super::layout::{DAMAGED, ENTRIES, EXPIRIES, KNOWN_SCHEMA, SCHEMA, STORE, VERSIONS_RESERVED};
use super::paged_file::PagedFile;
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
pub type Opener = Box<dyn Fn(&Builder, PagedFile) -> Result<Database, DatabaseError> + Send>;

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
    /// To be told apart from a file that takes its place.
    pub identity: FileIdentity,
}

/// The device and the inode of a file, and when it was made: the number of an inode is used again once its file is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity(u64, u64, Option<SystemTime>);

impl FileIdentity {
    fn in_metadata(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino(), metadata.created().ok())
    }
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
        let exists = self.exists().map_err(|source| self.inaccessible(source))?;
        if !exists {
            self.create()?;
        }
        self.verified(None)
    }

    /// Opens the file that was open as `former` once more, and verifies every page of it.
    ///
    /// A file that is missing by now is not created, and another one in its place is not opened: what the server holds in memory does not belong to it.
    pub fn open_again(&self, former: FileIdentity) -> Result<OpenFile, OpenError> {
        self.verified(Some(former))
    }

    fn verified(&self, former: Option<FileIdentity>) -> Result<OpenFile, OpenError> {
        // redb panics over some damaged pages that it reads before their checksums are verified.
        let opened = catch_unwind(AssertUnwindSafe(|| self.open_existing(former)));
        opened.unwrap_or_else(|_| Err(self.damaged("a page cannot be read")))
    }

    fn open_existing(&self, former: Option<FileIdentity>) -> Result<OpenFile, OpenError> {
        let file = OpenOptions::new().read(true).write(true).open(&self.path);
        let file = file.map_err(|source| self.inaccessible(source))?;
        let metadata = file.metadata();
        let metadata = metadata.map_err(|source| self.inaccessible(source))?;
        let identity = FileIdentity::in_metadata(&metadata);
        if former.is_some_and(|former| former != identity) {
            let text = "another file was put in its place while the server ran: restart the server";
            return Err(self.inaccessible(io::Error::other(text)));
        }
        if metadata.len() == 0 {
            // `create` never leaves one, and redb would make a new store of it.
            return Err(self.damaged("it is empty (remove it if it never held a store)"));
        }
        // Before anything is done to the file of another process. Where there are no such locks, redb's own has to do.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(self.in_use());
        }
        let database = self.open_database(file)?;
        let versions_reserved = self.prepare_tables(&database)?;
        Ok(OpenFile {
            database,
            versions_reserved,
            identity,
        })
    }

    /// Makes an empty store beside its place, and moves it there once it is whole. A crash in between leaves nothing at that place, so the
    /// next start makes the store again; and a file at that place that cannot be read is never taken for a store that was not finished.
    ///
    /// Two processes may do so at once. Only the one that holds the lock of the file beside it continues.
    fn create(&self) -> Result<(), OpenError> {
        let unfinished = self.unfinished();
        let failed = |source| self.inaccessible(source);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        let file = options.open(&unfinished).map_err(failed)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => self.in_use(),
            TryLockError::Error(source) => failed(source),
        })?;
        // Before the lock was held, another process may have finished this file, or removed the name that led to it.
        if self.exists().map_err(failed)? || !names(&unfinished, &file).map_err(failed)? {
            return Err(self.in_use());
        }
        file.set_len(0).map_err(failed)?;
        // It holds the lock until it is dropped, since that is the lock of this file.
        let _database = FileBackend::new(file)
            .and_then(|file| Database::builder().create_with_backend(file))
            .map_err(|error| self.explain(error))?;
        std::fs::rename(&unfinished, &self.path).map_err(failed)?;
        sync_parent(&self.path).map_err(failed)
    }

    /// Where the file lies while it is being made.
    fn unfinished(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".new");
        path.into()
    }

    /// True also for a link that leads nowhere: the disk that it leads to may be missing, and nothing may take its place.
    fn exists(&self) -> io::Result<bool> {
        match std::fs::symlink_metadata(&self.path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
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
        let mut database = PagedFile::new(file)
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
            DatabaseError::DatabaseAlreadyOpen => self.in_use(),
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

    fn in_use(&self) -> OpenError {
        let path = self.path.clone();
        OpenError::InUse { path }
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

/// True when `path` leads to the open `file`.
fn names(path: &Path, file: &File) -> io::Result<bool> {
    let opened = FileIdentity::in_metadata(&file.metadata()?);
    match std::fs::metadata(path) {
        Ok(named) => Ok(FileIdentity::in_metadata(&named) == opened),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
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
