//! The file of a sink: what it must be like, and where its chain has got (SEC-L3, SEC-L4).

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::chain::{Chain, Line, Torn};

/// The permissions of a log: read and write for its owner, and nothing for other users.
const FORBIDDEN_IN_FILE: u32 = 0o7177;

/// The permission that only the owner has in the folder of a log: to change what is in it.
const FORBIDDEN_IN_FOLDER: u32 = 0o022;

/// Bytes at the end of a file among which its last line must begin.
const LONGEST_TAIL: u64 = 64 << 20;

/// Why a file cannot be a log.
#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    /// Its folder is not there, or is no folder.
    #[error("the folder {} cannot be used: {source}; make it, for the user of the server alone", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// Others may replace the log.
    #[error(
        "others may change what is in the folder {folder} (mode {mode:04o}); run: chmod go-w {folder}, or choose another",
        folder = folder.display()
    )]
    ExposedFolder {
        /// The folder.
        folder: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another user owns the folder, and may do with the log as they like.
    #[error("the folder {} belongs to another user; choose one of the user of the server, or of root", folder.display())]
    ForeignFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// It cannot be opened; a symbolic link is not followed.
    #[error("cannot open {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// A folder, a device, a pipe.
    #[error("{} is no regular file", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// Others may use it, or a user may run it.
    #[error("{path} must be readable and writable for its owner alone (mode {mode:04o}); run: chmod 600 {path}", path = path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another process writes to it.
    #[error("another process writes to {}", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// It holds something else.
    #[error("{} holds no audit records at its end; move it away, or name another file", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
    },
}

/// The content of an opened log.
pub(super) enum Content {
    /// No line yet, maybe a part of the first one.
    Nothing(Option<Torn>),
    /// Lines, and maybe something behind the last one.
    Lines(Chain, Option<Torn>),
}

/// A log, open for one process.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    /// Bytes in it that are known to be there.
    length: u64,
    /// True if each write is brought to the disk.
    sync: bool,
}

/// A write that did not come to its end.
#[derive(Debug)]
pub(super) struct CutOff {
    /// How many bytes were written before the failure.
    pub(super) written: usize,
    /// Why.
    pub(super) source: io::Error,
}

impl LogFile {
    /// Opens the log at `path`, which is made if it is not there.
    pub(super) fn open(path: &Path, sync: bool) -> Result<(Self, Content), LogFileError> {
        let unusable = |source| LogFileError::Unusable {
            path: path.to_owned(),
            source,
        };
        check(path)?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(unusable)?;
        let metadata = file.metadata().map_err(unusable)?;
        check_file(path, &metadata)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LogFileError::Taken {
                    path: path.to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        let content = content(&file, metadata.len())
            .map_err(unusable)?
            .ok_or_else(|| LogFileError::NotALog {
                path: path.to_owned(),
            })?;
        if metadata.len() == 0 && sync {
            File::open(folder_of(path))
                .and_then(|folder| folder.sync_all())
                .map_err(unusable)?;
        }
        let log = Self {
            path: path.to_owned(),
            file,
            length: metadata.len(),
            sync,
        };
        Ok((log, content))
    }

    /// The file at the path of this one now, if that is another one or none.
    pub(super) fn successor(&self) -> Result<Option<(Self, Content)>, LogFileError> {
        let own = self.file.metadata();
        let own = own.map_err(|source| LogFileError::Unusable {
            path: self.path.clone(),
            source,
        })?;
        let is_same = std::fs::symlink_metadata(&self.path)
            .is_ok_and(|found| found.dev() == own.dev() && found.ino() == own.ino());
        if is_same {
            return Ok(None);
        }
        Self::open(&self.path, self.sync).map(Some)
    }

    /// True if it was removed, so that what is written to it has no reader.
    pub(super) fn is_gone(&self) -> bool {
        self.file
            .metadata()
            .map_or(true, |metadata| metadata.nlink() == 0)
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), CutOff> {
        write_counted(&mut self.file, bytes)?;
        if self.sync {
            self.file.sync_data().map_err(|source| CutOff {
                written: bytes.len(),
                source,
            })?;
        }
        self.length = self.length.saturating_add(bytes.len() as u64);
        Ok(())
    }

    /// Removes what a write that was cut off has left. Says whether it is gone.
    pub(super) fn take_back(&self) -> bool {
        // Where another process has made it shorter, this would fill it up with zeros.
        let metadata = self.file.metadata();
        metadata.is_ok_and(|metadata| metadata.len() >= self.length)
            && self.file.set_len(self.length).is_ok()
    }

    /// Takes what a write has left for a part of the log.
    pub(super) fn keep(&mut self, written: usize) {
        self.length = self.length.saturating_add(written as u64);
    }
}

/// Writes everything, and says how much it was if that does not work.
pub(super) fn write_counted(file: &mut File, bytes: &[u8]) -> Result<(), CutOff> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = bytes.len() - rest.len();
        match file.write(rest) {
            Ok(0) => {
                return Err(CutOff {
                    written,
                    source: io::ErrorKind::WriteZero.into(),
                });
            }
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(CutOff { written, source }),
        }
    }
    Ok(())
}

/// The reason that would stop [`LogFile::open`], as far as that can be told without making anything.
pub(super) fn check(path: &Path) -> Result<(), LogFileError> {
    check_folder(path)?;
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => check_file(path, &metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(LogFileError::Unusable {
            path: path.to_owned(),
            source,
        }),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn check_folder(path: &Path) -> Result<(), LogFileError> {
    let folder = folder_of(path);
    let refused = |source| LogFileError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let metadata = std::fs::metadata(folder).map_err(refused)?;
    if !metadata.is_dir() {
        return Err(refused(io::ErrorKind::NotADirectory.into()));
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & FORBIDDEN_IN_FOLDER != 0 {
        return Err(LogFileError::ExposedFolder {
            folder: folder.to_owned(),
            mode,
        });
    }
    let owner = metadata.uid();
    if owner != 0 && owner != geteuid().as_raw() {
        return Err(LogFileError::ForeignFolder {
            folder: folder.to_owned(),
        });
    }
    Ok(())
}

fn check_file(path: &Path, metadata: &Metadata) -> Result<(), LogFileError> {
    let path = || path.to_owned();
    if !metadata.is_file() {
        return Err(LogFileError::NotRegular { path: path() });
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & FORBIDDEN_IN_FILE != 0 {
        return Err(LogFileError::Exposed { path: path(), mode });
    }
    Ok(())
}

/// The content of a file of `length` bytes; `None` where that is no log. Only its end is read.
fn content(file: &File, length: u64) -> io::Result<Option<Content>> {
    if length == 0 {
        return Ok(Some(Content::Nothing(None)));
    }
    let mut window: u64 = 64 << 10;
    loop {
        let begin = length.saturating_sub(window);
        let mut tail = vec![0; usize::try_from(length - begin).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut tail, begin)?;
        if let Some((chain, torn)) = last_line(&tail, begin == 0) {
            return Ok(Some(Content::Lines(chain, torn)));
        }
        if begin == 0 {
            return Ok(part_of_first_line(&tail));
        }
        if window >= LONGEST_TAIL {
            return Ok(None);
        }
        window *= 4;
    }
}

/// The chain up to the last line in `tail`, and what is behind that line. `is_whole` says that the tail begins where a line does.
fn last_line(tail: &[u8], is_whole: bool) -> Option<(Chain, Option<Torn>)> {
    let mut end = tail.len();
    loop {
        let before = tail.get(..end)?;
        let begin = before.iter().rposition(|byte| *byte == b'\n');
        let text = tail.get(begin.map_or(0, |at| at + 1)..end)?;
        if (begin.is_some() || is_whole)
            && let Some(line) = Line::read(text)
        {
            let torn = match tail.get(end..)? {
                // The line is there, its end is not.
                [] => Some(Torn::new()),
                [b'\n'] => None,
                [_, rest @ ..] => {
                    let mut torn = Torn::new();
                    torn.add(rest);
                    Some(torn)
                }
            };
            return Some((Chain::after(&line), torn));
        }
        end = begin?;
    }
}

/// A file without a line is a log if it looks like the beginning of one.
fn part_of_first_line(bytes: &[u8]) -> Option<Content> {
    let begin = b"{\"sequence\":0,";
    let compared = bytes.len().min(begin.len());
    let is_beginning = bytes.get(..compared) == begin.get(..compared);
    (is_beginning && !bytes.contains(&b'\n')).then(|| {
        let mut torn = Torn::new();
        torn.add(bytes);
        Content::Nothing(Some(torn))
    })
}
