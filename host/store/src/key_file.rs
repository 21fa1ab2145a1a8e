//! The file that holds the root key (SEC-K2).

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use gatehouse_barrier::{RootKey, RootKeyError};
use gatehouse_ports::{OsRandom, RandomError};
use zeroize::Zeroizing;

use crate::directory::sync_parent;

/// Bytes after which a file is certainly no key file.
const LONGEST_FILE: usize = 1024;

/// Permissions of the group and of all other users.
const OTHERS: u32 = 0o077;

/// Why there is no root key.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It does not exist or cannot be read.
    #[error("cannot read the key file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// Other users can read or change it.
    #[error("others may use the key file {path} (mode {mode:04o}); run: chmod 600 {path}", path = path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It holds something else, or only a part of a key.
    #[error("the key file {} holds no root key: {source}", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// The fault in its content.
        source: RootKeyError,
    },
    /// It could not be created. An existing file is never replaced.
    #[error("cannot create the key file {}: {source}", path.display())]
    NotCreated {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// No key can be made without randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// Reads the root key from a file that only its owner may use.
///
/// # Errors
///
/// When the file is missing, open to others, or holds no key.
pub fn read_key_file(path: &Path) -> Result<RootKey, KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & OTHERS != 0 {
        let path = path.to_owned();
        return Err(KeyFileError::Exposed { path, mode });
    }
    // Room for all at once: a string that grows would leave copies of the key behind.
    let mut text = Zeroizing::new(String::with_capacity(LONGEST_FILE));
    file.take(LONGEST_FILE as u64)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    RootKey::from_text(&text).map_err(|source| KeyFileError::NotAKey {
        path: path.to_owned(),
        source,
    })
}

/// Creates a file with a new random root key, mode 0600, and waits until file and name are on disk.
///
/// # Errors
///
/// When a file of that name exists, or it cannot be written.
pub fn create_key_file(path: &Path) -> Result<RootKey, KeyFileError> {
    let key = RootKey::generate(&OsRandom)?;
    let text = key.to_text();
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        sync_parent(path)
    };
    write().map_err(|source| KeyFileError::NotCreated {
        path: path.to_owned(),
        source,
    })?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn text_of(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn k2_a_created_file_has_mode_0600_and_reads_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("root.key");
        let created = create_key_file(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = read_key_file(&path).unwrap();
        assert_eq!(*read.to_text(), *created.to_text());
        assert_eq!(text_of(&path), format!("{}\n", *created.to_text()));
    }

    #[test]
    fn k2_an_existing_key_file_is_never_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("root.key");
        create_key_file(&path).unwrap();
        let before = text_of(&path);
        let again = create_key_file(&path);
        assert!(matches!(again, Err(KeyFileError::NotCreated { .. })));
        assert_eq!(text_of(&path), before);
    }

    #[test]
    fn k2_a_file_open_to_others_is_refused_with_the_command_that_cures_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("root.key");
        create_key_file(&path).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let message = read_key_file(&path).err().unwrap().to_string();
            let cure = format!("chmod 600 {}", path.display());
            assert!(message.ends_with(&cure), "{message}");
        }
    }

    #[test]
    fn k2_missing_truncated_and_foreign_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("root.key");
        let missing = read_key_file(&path);
        assert!(matches!(missing, Err(KeyFileError::Unreadable { .. })));

        create_key_file(&path).unwrap();
        let whole = text_of(&path);
        for content in [&whole[..20], "", "a pass phrase", &whole.repeat(100)] {
            fs::write(&path, content).unwrap();
            let refused = read_key_file(&path);
            assert!(matches!(refused, Err(KeyFileError::NotAKey { .. })));
        }
    }
}
