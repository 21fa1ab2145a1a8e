//! Writing files to a folder so that a complete one can be told from an incomplete one.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The name of a file in the folder, and its content.
#[derive(Debug)]
pub(super) struct File {
    /// With `/` between folders.
    pub path: String,
    pub bytes: Cow<'static, [u8]>,
}

/// Writes `files` to `directory`, each whole or not at all, in their order. None is put in place before all of them are written, so
/// that a full disk leaves what was there.
///
/// With `replace` the folder may hold something: what is called like one of the files is replaced, the rest stays. The last file goes
/// first and comes last: an interruption leaves a folder without it.
///
/// # Errors
///
/// When the folder holds something and `replace` is not given, or a file cannot be written.
pub(super) fn fill(directory: &Path, files: &[File], replace: bool) -> Result<()> {
    let shown = directory.display();
    fs::create_dir_all(directory).with_context(|| format!("cannot create {shown}"))?;
    let mut entries = fs::read_dir(directory).with_context(|| format!("cannot read {shown}"))?;
    ensure!(
        replace || entries.next().is_none(),
        "{shown} is not empty: name another folder, or add --replace to write over files of the same names"
    );
    // In the folder itself, as the one place that is certain to be on the same file system.
    let staged = tempfile::Builder::new()
        .prefix(".gatehouse-export-")
        .tempdir_in(directory)
        .with_context(|| format!("cannot write to {shown}"))?;
    for file in files {
        write(&staged.path().join(&file.path), &file.bytes)?;
    }
    if let Some(last) = files.last() {
        let path = directory.join(&last.path);
        if path.exists() {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    for file in files {
        let path = directory.join(&file.path);
        create_parent(&path)?;
        fs::rename(staged.path().join(&file.path), &path)
            .with_context(|| format!("cannot replace {}", path.display()))?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    create_parent(path)?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn create_parent(path: &Path) -> Result<()> {
    let Some(parent) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(content: &str) -> Vec<File> {
        ["inner/one", "two", "last"]
            .map(|path| File {
                path: path.to_owned(),
                bytes: Cow::Owned(content.as_bytes().to_vec()),
            })
            .into()
    }

    fn read(folder: &Path, path: &str) -> Option<String> {
        fs::read_to_string(folder.join(path)).ok()
    }

    /// The files of the folder, without those that lie deeper.
    fn entries(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_that_is_not_there_is_made_and_holds_the_files_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/deep");
        fill(&folder, &files("a"), false).unwrap();
        assert_eq!(entries(&folder), ["inner", "last", "two"]);
        assert_eq!(entries(&folder.join("inner")), ["one"]);
        assert_eq!(read(&folder, "inner/one").as_deref(), Some("a"));
    }

    #[test]
    fn a_folder_that_holds_something_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("two"), "mine").unwrap();
        let refused = fill(folder.path(), &files("a"), false).unwrap_err();
        assert!(refused.to_string().contains("--replace"), "{refused}");
        assert_eq!(entries(folder.path()), ["two"]);
        assert_eq!(read(folder.path(), "two").as_deref(), Some("mine"));
    }

    #[test]
    fn replacing_writes_over_the_same_names_and_keeps_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), &files("old"), false).unwrap();
        fs::write(folder.path().join("mine"), "mine").unwrap();
        fill(folder.path(), &files("new"), true).unwrap();
        assert_eq!(entries(folder.path()), ["inner", "last", "mine", "two"]);
        for path in ["inner/one", "two", "last"] {
            assert_eq!(read(folder.path(), path).as_deref(), Some("new"), "{path}");
        }
        assert_eq!(read(folder.path(), "mine").as_deref(), Some("mine"));
    }

    #[test]
    fn an_export_that_breaks_off_half_way_is_without_its_last_file() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), &files("old"), false).unwrap();
        fs::remove_file(folder.path().join("two")).unwrap();
        fs::create_dir_all(folder.path().join("two/in-the-way")).unwrap();
        let broken = fill(folder.path(), &files("new"), true).unwrap_err();
        assert!(broken.to_string().contains("cannot replace"), "{broken}");
        assert_eq!(entries(folder.path()), ["inner", "two"]);
    }

    #[test]
    fn a_file_where_the_folder_should_be_is_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, "mine").unwrap();
        let refused = fill(&path, &files("a"), true).unwrap_err().to_string();
        assert!(refused.contains(&path.display().to_string()), "{refused}");
        assert_eq!(read(place.path(), "file").as_deref(), Some("mine"));
    }
}
