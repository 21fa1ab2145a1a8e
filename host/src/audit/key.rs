//! The key under which a sink hashes texts.
//!
//! It lies in a file of its own, so that a search of the log for a known text works after a restart, while the server is sealed, and
//! whatever happens to the seal. Anyone who has this file can test guesses of a hashed text; it opens nothing.

use std::path::Path;

use gatehouse_ports::OsRandom;
use gatehouse_store::{KeyFileError, RootKey, create_key_file, read_key_file};

use super::hashing::TextHasher;

/// The hasher of a sink that keeps its key in `file`, which is made if there is none. Without a file the key ends with the process.
///
/// # Errors
///
/// When the file is there and holds no key, is open to others, or cannot be made.
pub(super) fn hasher(file: Option<&Path>) -> Result<TextHasher, KeyFileError> {
    let key = match file {
        Some(file) if file.exists() => read_key_file(file)?,
        Some(file) => create_key_file(file)?,
        None => RootKey::generate(&OsRandom)?,
    };
    Ok(TextHasher::new(&key.to_text()))
}

/// The reason that would stop [`hasher`], as far as that can be told without making anything.
pub(super) fn problem(file: &Path) -> Option<String> {
    let read = file.exists().then(|| read_key_file(file));
    read.and_then(Result::err).map(|error| error.to_string())
}
