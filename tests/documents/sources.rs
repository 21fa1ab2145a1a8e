//! The files of the repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use gatehouse_tests::workspace;

/// Folders that hold what others wrote, or what tools made of it.
const FOREIGN: [&str; 2] = ["deps", "seeds"];

pub(crate) struct Source {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Holds tests, or what only tests use.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs")
    }

    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Our own files with one of the extensions, in the order of their paths: those that git knows, and nothing that was built beside them.
pub(crate) fn sources(extensions: &[&str]) -> Vec<Source> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(workspace())
        .output()
        .expect("git lists the files of the repository");
    assert!(
        listed.status.success(),
        "these tests need a clone: {listed:?}"
    );
    let listed = String::from_utf8(listed.stdout).expect("paths are text");
    let mut paths: Vec<&str> = listed.split_terminator('\0').collect();
    paths.sort_unstable();
    paths
        .into_iter()
        .filter(|path| is_ours(path) && has_extension(path, extensions))
        // One that is deleted in the work tree is known until that is committed.
        .filter(|path| workspace().join(path).is_file())
        .map(|path| Source {
            path: path.to_owned(),
            text: fs::read_to_string(workspace().join(path)).expect("a source is text"),
        })
        .collect()
}

fn is_ours(path: &str) -> bool {
    path.split('/')
        .all(|name| !(name.starts_with('.') || FOREIGN.contains(&name)))
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(path).extension().unwrap_or_default();
    extensions.iter().any(|known| extension == *known)
}
