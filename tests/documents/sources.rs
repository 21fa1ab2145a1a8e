//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Folders that hold what tools made or others wrote.
const FOREIGN: [&str; 5] = ["target", "node_modules", "deps", "corpus", "seeds"];

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

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are below the root")
        .to_owned()
}

/// Our own files with one of the extensions, in the order of their paths.
pub(crate) fn sources(extensions: &[&str]) -> Vec<Source> {
    let root = root();
    let files = WalkDir::new(&root).sort_by_file_name().into_iter();
    files
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || FOREIGN.contains(&name.as_ref()))
        })
        .map(|entry| entry.expect("a folder of sources can be read").into_path())
        .filter(|path| {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            path.is_file() && extensions.contains(&extension.as_ref())
        })
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source is text");
            let path = path
                .strip_prefix(&root)
                .expect("sources are below the root");
            let path = path.to_string_lossy().replace('\\', "/");
            Source { path, text }
        })
        .collect()
}
