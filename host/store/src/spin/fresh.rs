//! New files, made from a backup.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Seek};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use gatehouse_ports::{Change, CommitError, Store};

use super::file::SharedConnection;
use super::{Part, SpinError, SpinFiles, SpinForm, part};
use crate::backup::OpenedRecords;
use crate::directory::sync_parent;
use crate::{BackupError, Inventory, Namespace, RootKey};

/// Behind the name of a file that is not whole yet.
const UNFINISHED: &str = ".restoring";
/// Behind the name of a file, the names of those that SQLite keeps beside it.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Most records of one commit.
const RECORDS_PER_COMMIT: usize = 256;

/// Files into which a backup has been put, and which get their names by [`Self::finish`]: Spin finds none of them before.
pub struct SpinRestoration {
    files: Vec<FreshFile>,
    inventory: Inventory,
}

struct FreshFile {
    namespace: Namespace,
    path: PathBuf,
    unfinished: PathBuf,
    connection: SharedConnection,
    part: Box<dyn Part>,
}

impl SpinRestoration {
    /// Reads the backup twice, first to verify all of it, then to put its records into new files, sealed under `seal_key`. `root_key` is the
    /// key that the backup was made with. `progress` is told how many bytes were read, up to twice the length of the file. Records of
    /// the server itself, which Spin has no use for, are left out.
    ///
    /// # Errors
    ///
    /// When the backup does not verify, or one of the files is there already; nothing was written then. When a write fails: the next
    /// restore begins anew.
    pub fn begin(
        mut input: impl Read + Seek,
        files: &SpinFiles,
        root_key: &RootKey,
        seal_key: &RootKey,
        progress: impl FnMut(u64),
    ) -> Result<Self, SpinError> {
        let mut records = OpenedRecords::begin(&mut input, root_key, progress)?;
        ensure_free(files)?;
        let mut fresh = Vec::new();
        for (namespace, path) in files.paths() {
            fresh.push(FreshFile::create(namespace, path, seal_key)?);
        }
        while let Some((namespace, mut changes)) = records.next()? {
            let Some(file) = fresh.iter().find(|file| file.namespace == namespace) else {
                continue;
            };
            while !changes.is_empty() {
                let rest = changes.split_off(changes.len().min(RECORDS_PER_COMMIT));
                let some: Vec<Change> = std::mem::replace(&mut changes, rest);
                file.part
                    .commit(Vec::new(), some)
                    .map_err(|error| match error {
                        CommitError::Failed(error) => SpinError::Store(error),
                        CommitError::Conflict(_) => BackupError::Contended.into(),
                    })?;
            }
        }
        Ok(Self {
            files: fresh,
            inventory: records.finish()?,
        })
    }

    /// The records of a capability, for what is to be changed before they count. `None` for a part of the store that Spin has none of.
    #[must_use]
    pub fn part(&self, namespace: Namespace) -> Option<&dyn Store> {
        let file = self.files.iter().find(|file| file.namespace == namespace)?;
        Some(&*file.part)
    }

    /// Gives the files their names, each whole and on disk.
    ///
    /// # Errors
    ///
    /// When that cannot be written. The next restore begins anew.
    pub fn finish(self) -> Result<Inventory, SpinError> {
        // That of the installation's identity comes last: as long as its unfinished file is there, this restore was cut off.
        for file in self.files {
            file.finish()?;
        }
        Ok(self.inventory)
    }
}

impl FreshFile {
    fn create(namespace: Namespace, path: &Path, seal_key: &RootKey) -> Result<Self, SpinError> {
        let unfinished = with_ending(path, UNFINISHED);
        let failed = |error| SpinError::of_file(&unfinished, error);
        for left in [unfinished.clone()].into_iter().chain(beside(&unfinished)) {
            remove(&left)?;
        }
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600);
        made.open(&unfinished).map_err(failed)?;
        let connection = SharedConnection::open(&unfinished)?;
        let part = part(SpinForm::Sqlite, namespace, connection.clone(), seal_key);
        part.open()?;
        Ok(Self {
            namespace,
            path: path.to_owned(),
            unfinished,
            connection,
            part,
        })
    }

    fn finish(self) -> Result<(), SpinError> {
        let into_one_file = "pragma wal_checkpoint(truncate)";
        self.connection.run(&self.unfinished, into_one_file)?;
        // With the last connection go the files beside.
        drop(self.part);
        drop(self.connection);
        let renamed = fs::rename(&self.unfinished, &self.path);
        renamed
            .and_then(|()| sync_parent(&self.path))
            .map_err(|error| SpinError::of_file(&self.path, error))
    }
}

/// Makes sure that no file is where one is to be made. What an earlier restore has left that was cut off is removed.
fn ensure_free(files: &SpinFiles) -> Result<(), SpinError> {
    let identity = files.path_of_identity();
    let is_cut_off = !identity.exists() && with_ending(identity, UNFINISHED).exists();
    if is_cut_off {
        for (_, path) in files.further_paths() {
            remove(path)?;
        }
    }
    for (_, path) in files.paths() {
        for path in [path.to_owned()].into_iter().chain(beside(path)) {
            // A link to nothing is in the way too.
            if path.symlink_metadata().is_ok() {
                return Err(SpinError::Exists { path });
            }
        }
    }
    Ok(())
}

fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    BESIDE.into_iter().map(|ending| with_ending(path, ending))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

fn remove(path: &Path) -> Result<(), SpinError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(SpinError::of_file(path, error)),
        _ => Ok(()),
    }
}
