//! An export as files: what they are is told by an index for programs, and by checksums for `sha256sum --check`.

use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;

use super::artifacts::{Artifact, sha256};
use super::folder::File;

const INDEX: &str = "index.json";

const CHECKSUMS: &str = "SHA256SUMS";

#[derive(Serialize)]
struct Index {
    /// Of this program.
    version: &'static str,
    artifacts: Vec<Artifact>,
}

/// Every artifact, the index and, as the last file, the checksums of all others: where they are, the export is whole.
///
/// # Errors
///
/// When the index cannot be written as JSON, which its types exclude.
pub(super) fn files(artifacts: Vec<Artifact>) -> Result<Vec<File>> {
    let mut files: Vec<File> = artifacts
        .iter()
        .map(|artifact| File {
            path: artifact.file.clone(),
            bytes: Cow::Borrowed(artifact.bytes),
        })
        .collect();
    let index = Index {
        version: env!("CARGO_PKG_VERSION"),
        artifacts,
    };
    let mut index = serde_json::to_vec_pretty(&index)?;
    index.push(b'\n');
    files.push(File {
        path: INDEX.to_owned(),
        bytes: Cow::Owned(index),
    });
    let sums: String = files.iter().map(line).collect();
    files.push(File {
        path: CHECKSUMS.to_owned(),
        bytes: Cow::Owned(sums.into_bytes()),
    });
    Ok(files)
}

/// A line as the command `sha256sum` reads it.
fn line(file: &File) -> String {
    let digest = sha256(&file.bytes);
    let hexadecimal = digest.trim_start_matches("sha256:");
    format!("{hexadecimal}  {}\n", file.path)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::artifacts;
    use super::*;

    fn content<'a>(files: &'a [File], path: &str) -> &'a [u8] {
        let file = files.iter().find(|file| file.path == path);
        &file.unwrap_or_else(|| panic!("{path} is missing")).bytes
    }

    #[test]
    fn the_index_describes_every_file_that_is_no_list() {
        let files = files(artifacts::all(None).unwrap()).unwrap();
        let index: Value = serde_json::from_slice(content(&files, INDEX)).unwrap();
        let described = index["artifacts"].as_array().unwrap();
        assert_eq!(described.len(), files.len() - 2);
        for artifact in described {
            let bytes = content(&files, artifact["file"].as_str().unwrap());
            assert_eq!(artifact["digest"], sha256(bytes));
            assert_eq!(artifact["size"], bytes.len());
            for name in ["name", "kind", "version", "description"] {
                let text = artifact[name].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{name} of {artifact}");
            }
            let is_wit = artifact["kind"] == "wit";
            assert_eq!(artifact.get("flavour").is_none(), is_wit, "{artifact}");
        }
    }

    #[test]
    fn the_checksums_come_last_and_cover_every_other_file() {
        let files = files(artifacts::all(None).unwrap()).unwrap();
        let (last, others) = files.split_last().unwrap();
        assert_eq!(last.path, CHECKSUMS);
        let sums = std::str::from_utf8(&last.bytes).unwrap();
        assert_eq!(sums.lines().count(), others.len());
        for (line, file) in sums.lines().zip(others) {
            let (sum, path) = line.split_once("  ").unwrap();
            assert_eq!(path, file.path);
            assert_eq!(format!("sha256:{sum}"), sha256(&file.bytes));
        }
    }
}
