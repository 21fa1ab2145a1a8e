//! The file of an access log, which continues in a new file where log rotation has moved the old one away.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;

/// The permissions of a file that is made: its lines tell who asks for what.
const MODE: u32 = 0o600;

/// Why a file cannot be an access log.
#[derive(Debug, thiserror::Error)]
pub(super) enum AccessFileError {
    /// It cannot be opened for writing, nor be made.
    #[error("log.access: cannot open {}: {source}; make its folder, writable for the user of the server", path.display())]
    Unusable { path: PathBuf, source: io::Error },
    /// A folder, a device, a pipe.
    #[error("log.access: {} is no regular file", path.display())]
    NotRegular { path: PathBuf },
}

/// The writer of the file, and the handle by which it is opened again.
#[derive(Clone)]
pub(super) struct AccessFile(Arc<Opened>);

struct Opened {
    path: PathBuf,
    file: Mutex<File>,
    /// Lines that could not be written.
    lost: AtomicU64,
}

impl AccessFile {
    /// Opens the file, which is made where there is none.
    pub(super) fn open(path: &Path) -> Result<Self, AccessFileError> {
        Ok(Self(Arc::new(Opened {
            file: Mutex::new(opened(path)?),
            path: path.to_owned(),
            lost: AtomicU64::new(0),
        })))
    }

    /// Switches to the file that is at the path now. Where none can be opened, the one before stays in use.
    pub(super) fn reopen(&self) -> Result<(), AccessFileError> {
        let file = opened(&self.0.path)?;
        *self.file() = file;
        Ok(())
    }

    /// How many lines could not be written so far.
    pub(super) fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.0.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn opened(path: &Path) -> Result<File, AccessFileError> {
    let unusable = |source| AccessFileError::Unusable {
        path: path.to_owned(),
        source,
    };
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(MODE)
        // Opening a pipe would wait for its reader.
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(unusable)?;
    if !file.metadata().map_err(unusable)?.is_file() {
        return Err(AccessFileError::NotRegular {
            path: path.to_owned(),
        });
    }
    Ok(file)
}

impl Write for AccessFile {
    /// Writes a whole line. If the disk does not take all of it, a part may stand in the file, and the line counts as lost.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let written = self.file().write_all(line);
        if written.is_err() {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
        written.map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A file of the system has no buffer of its own.
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn lines_go_on_in_a_new_file_once_the_old_one_was_put_away_and_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("access.log"), folder.path().join("old"));
        let handle = AccessFile::open(&path).unwrap();
        let mut writer = handle.clone();
        writer.write_all(b"one\n").unwrap();
        fs::rename(&path, &old).unwrap();
        writer.write_all(b"two\n").unwrap();
        handle.reopen().unwrap();
        writer.write_all(b"three\n").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(handle.lost(), 0);
        // A start appends behind the lines that are there.
        AccessFile::open(&path)
            .unwrap()
            .write_all(b"four\n")
            .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\nfour\n");
    }

    #[test]
    fn where_no_new_file_can_be_opened_the_old_one_stays_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let mut log = AccessFile::open(&inner.join("access.log")).unwrap();
        let moved = folder.path().join("moved");
        fs::rename(&inner, &moved).unwrap();
        let refused = log.reopen().unwrap_err().to_string();
        assert!(refused.starts_with("log.access: cannot open"), "{refused}");
        log.write_all(b"one\n").unwrap();
        let text = fs::read_to_string(moved.join("access.log")).unwrap();
        assert_eq!(text, "one\n");
    }

    #[test]
    fn a_folder_and_a_device_are_refused_and_lines_that_a_full_disk_does_not_take_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path(), Path::new("/dev/full")] {
            assert!(AccessFile::open(path).is_err(), "{}", path.display());
        }
        let path = folder.path().join("access.log");
        let mut log = AccessFile::open(&path).unwrap();
        *log.file() = OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(log.write_all(b"one\n").is_err());
        assert_eq!(log.lost(), 1);
    }
}
