//! The file that a backup is written to.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

use crate::seal::witness::sync_folder_of;

/// A file that gets its name when it is complete, and is removed if it never is. Only its owner may read it.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    replaces: bool,
    file: NamedTempFile,
}

impl Destination {
    /// Begins a file that is to be called `path`; one of that name is replaced if `replaces` says so.
    ///
    /// # Errors
    ///
    /// When there is such a file and it is not to be replaced, or none can be made in its folder.
    pub fn create(path: &Path, replaces: bool) -> Result<Self> {
        if !replaces && path.symlink_metadata().is_ok() {
            bail!(
                "{} is there already: name another file, or add --force",
                path.display()
            );
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Its mode is 0600.
        let file = tempfile::Builder::new()
            .prefix(".gatehouse-backup-")
            .tempfile_in(folder);
        let file = file.with_context(|| format!("cannot make a file in {}", folder.display()))?;
        Ok(Self {
            path: path.to_owned(),
            replaces,
            file,
        })
    }

    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// The bytes written so far, from the beginning.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn reopen(&self) -> io::Result<File> {
        self.file.reopen()
    }

    /// Gives the file its name. Content and name are on disk then.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or a file of that name was created meanwhile.
    pub fn finish(self) -> Result<()> {
        let Self {
            path,
            replaces,
            file,
        } = self;
        let finished = || {
            file.as_file().sync_all()?;
            let named = match replaces {
                true => file.persist(&path),
                false => file.persist_noclobber(&path),
            };
            named.map_err(|failed| failed.error)?;
            sync_folder_of(&path)
        };
        finished().map_err(|error: io::Error| match error.kind() {
            ErrorKind::AlreadyExists => anyhow::anyhow!(
                "{} was created meanwhile: name another file, or add --force",
                path.display()
            ),
            _ => anyhow::Error::new(error).context(format!("cannot write {}", path.display())),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn s11_a_backup_is_the_owners_alone_and_has_its_name_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup");
        let mut destination = Destination::create(&path, false).unwrap();
        destination.write(b"one ").unwrap();
        destination.write(b"two").unwrap();
        assert!(!path.exists());
        destination.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one two");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn s11_what_is_given_up_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup");
        let mut destination = Destination::create(&path, false).unwrap();
        destination.write(b"half").unwrap();
        drop(destination);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn s11_a_file_is_replaced_only_when_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup");
        let early = Destination::create(&path, false).unwrap();
        fs::write(&path, "kept").unwrap();
        let refused = Destination::create(&path, false).unwrap_err().to_string();
        assert!(refused.contains("--force"), "{refused}");
        let refused = early.finish().unwrap_err().to_string();
        assert!(refused.contains("--force"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");

        let mut forced = Destination::create(&path, true).unwrap();
        forced.write(b"new").unwrap();
        forced.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing/backup");
        let refused = Destination::create(&path, false).unwrap_err().to_string();
        assert!(refused.contains("missing"), "{refused}");
    }
}
