//! Compiled code that is made ahead, damaged, or gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use gatehouse_tests::{Installation, Storage, gatehouse_binary};

/// The one file of the folder.
fn kept(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "more than one file is left");
    file
}

fn written(file: &Path) -> SystemTime {
    fs::metadata(file).unwrap().modified().unwrap()
}

fn start(folder: &Path) -> Installation {
    let settings = format!("[components]\ncache_directory = {folder:?}\n");
    Installation::start(Storage::Memory, &settings).unwrap()
}

fn assert_serves(installation: &Installation) {
    let answer = installation.send("GET", "/v1/sys/health", None, None);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn w8_code_compiled_ahead_is_loaded_and_code_that_was_cut_is_made_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("code");
    let mut compile = Command::new(gatehouse_binary());
    compile.args(["components", "compile", "--to"]).arg(&folder);
    assert!(compile.status().unwrap().success());
    let file = kept(&folder);
    let (whole, before) = (fs::read(&file).unwrap(), written(&file));

    let installation = start(&folder);
    assert_serves(&installation);
    assert_eq!(kept(&folder), file);
    assert_eq!(written(&file), before);
    drop(installation);

    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    assert_serves(&start(&folder));
    assert_eq!(kept(&folder), file);
    assert_eq!(fs::read(&file).unwrap().len(), whole.len());
}
