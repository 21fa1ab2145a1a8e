//! New files, made from a backup.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::file::SharedConnection;
use super::{Part, SpinError, SpinFiles, SpinForm, part};
use crate::directory::sync_parent;
use crate::{Namespace, RootKey};

/// Ends the name of a file until all files are whole.
const UNFINISHED: &str = ".restoring";
/// End the names of the files that SQLite keeps beside a file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The places of files that are to be made.
pub(super) struct FreePlaces<'f> {
    files: &'f SpinFiles,
    /// The files that an earlier restore has left.
    left: Vec<PathBuf>,
    folder: File,
}

impl<'f> FreePlaces<'f> {
    /// Makes sure that no file is where one is to be made.
    pub(super) fn look(files: &'f SpinFiles) -> Result<Self, SpinError> {
        let folder = lock_folder(files.path_of_identity())?;
        Ok(Self {
            files,
            left: left_by_restore(files)?,
            folder,
        })
    }

    /// Makes the files, without their names.
    pub(super) fn make(self, seal_key: &RootKey) -> Result<FreshFiles, SpinError> {
        for path in self.left {
            remove(&path)?;
        }
        let paths = self.files.paths();
        let made = paths.map(|(namespace, path)| FreshFile::create(namespace, path, seal_key));
        Ok(FreshFiles {
            files: made.collect::<Result<_, _>>()?,
            _folder: self.folder,
        })
    }
}

/// Files that get their names by [`Self::finish`]: Spin finds none of them before. Those that do not get there are removed.
pub(super) struct FreshFiles {
    files: Vec<FreshFile>,
    /// Locked for this restore.
    _folder: File,
}

impl FreshFiles {
    pub(super) fn part(&self, namespace: Namespace) -> Option<&dyn Part> {
        let file = self.files.iter().find(|file| file.namespace == namespace)?;
        Some(&*file.part)
    }

    /// Gives the files their names, each whole and on disk.
    pub(super) fn finish(self) -> Result<(), SpinError> {
        // Kept to the end: by their two names a later restore tells the files of one that was cut off.
        let mut named: Vec<(PathBuf, Unfinished)> = Vec::new();
        // That of the installation's identity comes last: before it, Spin finds no installation.
        for file in self.files {
            let path = file.path.clone();
            match file.finish() {
                Ok(unfinished) => named.push((path, unfinished)),
                Err(error) => {
                    for (path, _) in named {
                        remove(&path)?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

struct FreshFile {
    namespace: Namespace,
    path: PathBuf,
    part: Box<dyn Part>,
    connection: SharedConnection,
    // Dropped after the fields that have it open.
    unfinished: Unfinished,
}

/// The path of a file that is not whole. Dropping it removes the file.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        for path in [self.0.clone()].into_iter().chain(beside(&self.0)) {
            // A file that cannot be removed here is removed by the next restore.
            let _ = remove(&path);
        }
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
        let unfinished = Unfinished(unfinished);
        let connection = SharedConnection::open_own(&unfinished.0)?;
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

    /// Gives the file its name beside the one that it has.
    fn finish(self) -> Result<Unfinished, SpinError> {
        let Self {
            path, unfinished, ..
        } = self;
        self.connection.gather(&unfinished.0)?;
        // With the last connection go the files beside it.
        drop(self.part);
        drop(self.connection);
        ensure_free(beside(&unfinished.0).chain(beside(&path)))?;
        match fs::hard_link(&unfinished.0, &path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(SpinError::Exists { path });
            }
            named => named.and_then(|()| sync_parent(&path)),
        }
        .map_err(|error| SpinError::of_file(&path, error))?;
        Ok(unfinished)
    }
}

/// Locks the folder of the file at `path` for one restore at a time.
fn lock_folder(path: &Path) -> Result<File, SpinError> {
    let folder = folder_of(path);
    let failed = |error| SpinError::of_file(folder, error);
    fs::create_dir_all(folder).map_err(failed)?;
    let opened = File::open(folder).map_err(failed)?;
    match opened.try_lock() {
        Ok(()) => Ok(opened),
        Err(TryLockError::WouldBlock) => Err(SpinError::Locked {
            path: folder.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Makes sure that no file is where one is to be made, but for those that an earlier restore has named before it was cut off, which are
/// told by their other name. Answers these.
fn left_by_restore(files: &SpinFiles) -> Result<Vec<PathBuf>, SpinError> {
    let mut left = Vec::new();
    for (namespace, path) in files.paths() {
        if files
            .paths()
            .any(|(other, same)| other != namespace && same == path)
        {
            let path = path.to_owned();
            return Err(SpinError::Shared { path });
        }
        ensure_free(beside(path))?;
        let is_left = namespace != Namespace::Access
            && identity_of(path)?.is_some()
            && identity_of(path)? == identity_of(&with_ending(path, UNFINISHED))?;
        if is_left {
            left.push(path.to_owned());
        } else {
            ensure_free([path.to_owned()])?;
        }
    }
    Ok(left)
}

/// Makes sure that none of these files is there.
fn ensure_free(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), SpinError> {
    for path in paths {
        if identity_of(&path)?.is_some() {
            return Err(SpinError::Exists { path });
        }
    }
    Ok(())
}

/// The device and the number of the file at `path`, a link among them; `None` where there is none.
fn identity_of(path: &Path) -> Result<Option<(u64, u64)>, SpinError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some((found.dev(), found.ino()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SpinError::of_file(path, error)),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
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
