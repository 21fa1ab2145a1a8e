//! Begins a target folder with what another one has compiled.
//!
//! Forms of one crate need folders of their own, and have nearly all dependencies in common: compiled for each folder, these take many times
//! as long as the crate. Cargo finds what was copied as fresh as in the other folder, or compiles it again.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process;

use anyhow::{Context, Result};

/// Cargo holds it while it works in the folder of a profile.
const LOCK: &str = ".cargo-lock";
/// The folder of the compiler's output. No file in it is written twice under one name, except those of this workspace.
const COMPILED: &str = "deps";
/// Large, and of use to the crates of this workspace alone.
const INCREMENTAL: &str = "incremental";
/// Part of the name of each file that was made of a crate of this workspace.
const OF_WORKSPACE: &str = "gatehouse_";

/// Copies the folders `profiles` of the target folder `from` to `to`, unless `to` exists. Does nothing where `from` does not exist, or
/// where the file system has no locks: cargo then compiles everything.
///
/// # Errors
///
/// When a file cannot be read or written. `to` is complete or not there.
pub fn seed(from: &Path, to: &Path, profiles: &[String]) -> Result<()> {
    if to.exists() || !from.exists() {
        return Ok(());
    }
    let mut unfinished = to.to_owned().into_os_string();
    unfinished.push(format!(".{}", process::id()));
    let unfinished = Path::new(&unfinished);
    // The folder of an earlier process that was killed has hard links, and a copy must not write through them.
    match fs::remove_dir_all(unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", unfinished.display()));
        }
        _ => {}
    }
    for profile in profiles {
        let source = from.join(profile);
        if !source.exists() {
            continue;
        }
        // The lock keeps cargo from writing there meanwhile.
        let lock = File::create(source.join(LOCK));
        let lock = lock.with_context(|| format!("cannot write to {}", source.display()))?;
        if lock.lock().is_err() {
            return Ok(());
        }
        copy(&source, &unfinished.join(profile))
            .with_context(|| format!("cannot copy {}", source.display()))?;
    }
    match fs::rename(unfinished, to) {
        // Another process has been faster.
        Err(_) if to.exists() => fs::remove_dir_all(unfinished),
        // No profile was there.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        renamed => renamed,
    }
    .with_context(|| format!("cannot make {}", to.display()))
}

/// Copies a folder with the times of its files, by which cargo tells what is fresh. Compiled dependencies take no room a second time where
/// the file system can have a file in two places.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let is_compiled = from.ends_with(COMPILED);
    fs::create_dir_all(to)?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let copied = to.join(&name);
        if entry.file_type()?.is_dir() {
            if name != INCREMENTAL {
                copy(&path, &copied)?;
            }
        } else if name == LOCK || name.to_string_lossy().contains(OF_WORKSPACE) {
            // Cargo makes these again.
        } else if !is_compiled || fs::hard_link(&path, &copied).is_err() {
            fs::copy(&path, &copied)?;
            let modified = entry.metadata()?.modified()?;
            let file = File::options().append(true).open(&copied)?;
            file.set_modified(modified)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// A folder of its own for a test, empty.
    fn place(name: &str) -> std::path::PathBuf {
        let place = std::env::temp_dir().join(format!("gatehouse-seed-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        place
    }

    #[test]
    fn a_new_folder_gets_the_files_with_their_times_and_one_that_is_there_stays() {
        let place = place("copied");
        let [from, to] = ["from", "to"].map(|name| place.join(name));
        let deps = from.join("draft/deps");
        fs::create_dir_all(&deps).unwrap();
        fs::create_dir_all(from.join("draft/incremental")).unwrap();
        fs::write(deps.join("libgatehouse_ports.rlib"), "").unwrap();
        fs::write(deps.join("libserde.rlib"), "dependency").unwrap();
        let file = from.join("draft/lib.json");
        fs::write(&file, "compiled").unwrap();
        let earlier = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let opened = File::options().append(true).open(&file).unwrap();
        opened.set_modified(earlier).unwrap();
        let profiles = ["draft", "absent"].map(str::to_owned);

        seed(&from, &to, &profiles).unwrap();
        let copied = to.join("draft/lib.json");
        assert_eq!(fs::read_to_string(&copied).unwrap(), "compiled");
        assert_eq!(copied.metadata().unwrap().modified().unwrap(), earlier);
        let dependency = fs::read_to_string(to.join("draft/deps/libserde.rlib"));
        assert_eq!(dependency.unwrap(), "dependency");
        for left_out in [
            "draft/incremental",
            "draft/.cargo-lock",
            "draft/deps/libgatehouse_ports.rlib",
            "absent",
        ] {
            assert!(!to.join(left_out).exists(), "{left_out}");
        }
        assert_eq!(place.read_dir().unwrap().count(), 2);

        fs::write(&file, "compiled again").unwrap();
        seed(&from, &to, &profiles).unwrap();
        assert_eq!(fs::read_to_string(&copied).unwrap(), "compiled");
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn without_a_folder_to_copy_none_is_made() {
        let place = place("absent");
        let [from, to] = ["from", "to"].map(|name| place.join(name));
        seed(&from, &to, &["draft".to_owned()]).unwrap();
        fs::create_dir(&from).unwrap();
        seed(&from, &to, &["draft".to_owned()]).unwrap();
        assert!(!to.exists());
        fs::remove_dir_all(place).unwrap();
    }
}
