//! The environment variables of the console: the key of its sessions, and when they end.

use std::path::Path;

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_store::{KeyFileError, read_key_file};
use zeroize::Zeroizing;

use crate::settings::ConsoleSettings;

/// Bytes of the key that seals sessions.
const KEY_BYTES: usize = 32;
/// Separates this key from everything else that is derived from the root key.
const LABEL: &[u8] = b"gatehouse console session key 1";

/// There is no key for the console.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleKeyError {
    /// The system has no randomness.
    #[error("the system gave no random bytes for the key of the console")]
    NoRandomness,
    /// The key file, from which the key is derived, cannot be used.
    #[error("the key of the console: {0}")]
    KeyFile(#[from] KeyFileError),
}

/// The environment variables by which components learn how the console is set up. One of them is a secret.
///
/// With `key_file`, the key is derived from the root key in it, so that sessions hold at every server of the installation and through
/// restarts. Without one (the store is in memory, or its key is in shares, which a server does not have at its start) each process makes
/// its own.
///
/// # Errors
///
/// When the file cannot be read, or the system has no randomness.
pub fn environment(
    settings: &ConsoleSettings,
    key_file: Option<&Path>,
) -> Result<[(String, String); 2], ConsoleKeyError> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    match key_file {
        Some(file) => key = read_key_file(file)?.derived(LABEL),
        None => rand::fill(key.as_mut_slice()).map_err(|_| ConsoleKeyError::NoRandomness)?,
    }
    Ok([
        (
            "GATEHOUSE_CONSOLE_KEY".to_owned(),
            URL_SAFE_NO_PAD.encode(key.as_slice()),
        ),
        (
            "GATEHOUSE_CONSOLE_IDLE_SECONDS".to_owned(),
            settings.idle_timeout.as_secs().to_string(),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gatehouse_store::create_key_file;

    use super::*;

    fn key(key_file: Option<&Path>) -> String {
        let settings = ConsoleSettings {
            enabled: true,
            idle_timeout: Duration::from_secs(60),
        };
        let [(_, key), (_, idle)] = environment(&settings, key_file).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(&key).unwrap().len(), KEY_BYTES);
        assert_eq!(idle, "60");
        key
    }

    #[test]
    fn h17_servers_with_one_key_file_share_the_key_of_sessions_and_no_others_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("one"), folder.path().join("two"));
        let root = create_key_file(&file).unwrap();
        create_key_file(&other).unwrap();
        assert_eq!(key(Some(&file)), key(Some(&file)));
        assert_ne!(key(Some(&file)), key(Some(&other)));
        assert!(!root.to_text().contains(&key(Some(&file))));
    }

    #[test]
    fn h17_sessions_of_earlier_releases_open_with_the_same_key_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        create_key_file(&file).unwrap();
        std::fs::write(&file, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n").unwrap();
        assert_eq!(
            key(Some(&file)),
            "FVYO_IaV3B__KDkVurB9XIDIUheXqz5vT2H1YtOztzE"
        );
    }

    #[test]
    fn h17_without_a_key_file_every_process_has_a_key_of_its_own() {
        assert_ne!(key(None), key(None));
    }

    #[test]
    fn a_key_file_that_is_missing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let settings = ConsoleSettings {
            enabled: true,
            idle_timeout: Duration::from_secs(60),
        };
        let missing = environment(&settings, Some(&folder.path().join("none")));
        assert!(matches!(missing, Err(ConsoleKeyError::KeyFile(_))));
    }
}
