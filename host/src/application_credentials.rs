//! The server's own credentials at Google, from a file (contract 8.4).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use zeroize::Zeroizing;

/// Bytes of the largest file; what Google issues has less than 4 KiB.
const LARGEST_FILE: u64 = 64 << 10;

/// Why the file cannot be used. The error never shows the content of the file.
#[derive(Debug, thiserror::Error)]
#[error(
    "google.application_credentials: {path} {problem}; name another file there or in GOOGLE_APPLICATION_CREDENTIALS, or set it to \
     \"none\" to do without", path = path.display()
)]
pub struct CredentialsError {
    /// The file.
    pub path: PathBuf,
    /// The flaw.
    pub problem: CredentialsFileError,
}

/// A flaw of a file of credentials.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsFileError {
    /// The operating system refuses to open or read it.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// A folder, a pipe, a device.
    #[error("is not a file")]
    NotAFile,
    /// Larger than any file of credentials.
    #[error("is larger than 64 KiB")]
    TooLarge,
    /// Something else than a JSON object in UTF-8.
    #[error("does not hold a JSON object")]
    NotAnObject,
}

/// The text of a file of credentials.
///
/// It is only checked to be a JSON object: the components know the kinds of credentials.
///
/// # Errors
///
/// When the file holds no such text. No other source is tried then: an operator who names a file means that one.
pub fn read(path: &Path) -> Result<Zeroizing<String>, CredentialsError> {
    text(path).map_err(|problem| CredentialsError {
        path: path.to_owned(),
        problem,
    })
}

fn text(path: &Path) -> Result<Zeroizing<String>, CredentialsFileError> {
    use CredentialsFileError::{NotAFile, NotAnObject, TooLarge, Unreadable};
    // Asked before opening, which would wait for the other end of a pipe.
    if !path.metadata().map_err(Unreadable)?.is_file() {
        return Err(NotAFile);
    }
    let file = File::open(path).map_err(Unreadable)?;
    // Room for everything from the start: a text that grows leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(LARGEST_FILE as usize + 1));
    match file.take(LARGEST_FILE + 1).read_to_string(&mut text) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Err(NotAnObject),
        Err(error) => return Err(Unreadable(error)),
    }
    if text.len() as u64 > LARGEST_FILE {
        return Err(TooLarge);
    }
    let is_object =
        text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(&text).is_ok();
    if is_object {
        Ok(text)
    } else {
        Err(NotAnObject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(content: &[u8]) -> Result<String, CredentialsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials.json");
        std::fs::write(&path, content).unwrap();
        read(&path).map(|text| text.to_string())
    }

    #[test]
    fn an_object_is_handed_out_as_it_is() {
        let content = " {\"type\": \"authorized_user\"}\n";
        assert_eq!(read_text(content.as_bytes()).unwrap(), content);
    }

    #[test]
    fn anything_but_an_object_is_refused_and_not_repeated() {
        for content in [
            &b""[..],
            b"[\"hidden\"]",
            b"{\"private_key\": \"hidden\"",
            b"{} hidden",
            b"{\"hidden\": \"\xff\"}",
        ] {
            let error = read_text(content).unwrap_err();
            assert!(
                matches!(error.problem, CredentialsFileError::NotAnObject),
                "{error:?}"
            );
            assert!(!format!("{error} {error:?}").contains("hidden"));
        }
    }

    #[test]
    fn a_file_of_64_kib_is_read_and_a_larger_one_refused() {
        let mut content = vec![b' '; 64 << 10];
        content[..2].copy_from_slice(b"{}");
        assert!(read_text(&content).is_ok());
        content.push(b' ');
        let error = read_text(&content).unwrap_err();
        assert!(
            matches!(error.problem, CredentialsFileError::TooLarge),
            "{error}"
        );
    }

    #[test]
    fn a_refusal_names_the_file_and_the_ways_out() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.json");
        let text = read(&missing).unwrap_err().to_string();
        for needle in [
            &*missing.to_string_lossy(),
            "cannot be read",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "\"none\"",
        ] {
            assert!(text.contains(needle), "{needle} in {text}");
        }
        let error = read(folder.path()).unwrap_err();
        assert!(
            matches!(error.problem, CredentialsFileError::NotAFile),
            "{error}"
        );
    }
}
