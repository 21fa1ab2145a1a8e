//! Files that may hold a secret.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use zeroize::Zeroizing;

/// The text of a file that may hold a secret.
///
/// # Errors
///
/// When it cannot be read, is longer than `maximum` bytes, or is not UTF-8. The error shows nothing of it.
pub(super) fn read_bounded(path: &Path, maximum: u64) -> Result<Zeroizing<String>> {
    let named = || format!("cannot read {}", path.display());
    let file = std::fs::File::open(path).with_context(named)?;
    let mut text = Zeroizing::new(String::new());
    let read = file
        .take(maximum.saturating_add(1))
        .read_to_string(&mut text);
    let read = read.with_context(named)?;
    ensure!(
        u64::try_from(read).is_ok_and(|read| read <= maximum),
        "{} is longer than {maximum} bytes",
        path.display()
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_longer_than_allowed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(*read_bounded(&path, 4).unwrap(), "1234");
        let refused = read_bounded(&path, 3).unwrap_err().to_string();
        assert!(refused.contains("longer than 3 bytes"), "{refused}");
    }
}
