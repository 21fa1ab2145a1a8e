//! Backups of installations under Spin, and restores to there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use gatehouse_access::{AccessService, System as _};
use gatehouse_ports::{Clock as _, OsRandom, Store, SystemClock};
use gatehouse_store::{
    Backup, Namespace, RootKey, SpinError, SpinFiles, SpinForm, SpinRestoration, SpinStore,
    read_key_file, read_manifest,
};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::restoring::{RestoreOptions, Restored, end_tokens_of};
use super::root_key::{KeySource, root_key};

/// An installation under Spin.
#[derive(Debug, Clone, Copy)]
pub struct SpinInstallation<'a> {
    /// The runtime configuration that names its files.
    pub runtime: &'a Path,
    /// The file whose text is the variable `seal_key`.
    pub seal_key: &'a Path,
    /// The form of its records.
    pub form: SpinForm,
}

/// A runtime configuration of Spin, as far as it is about stores.
#[derive(Deserialize)]
struct Runtime {
    #[serde(default)]
    sqlite_database: BTreeMap<String, StoreOfLabel>,
    #[serde(default)]
    key_value_store: BTreeMap<String, StoreOfLabel>,
}

#[derive(Deserialize)]
struct StoreOfLabel {
    #[serde(rename = "type")]
    kind: String,
    path: Option<PathBuf>,
}

impl SpinInstallation<'_> {
    /// The paths of its files, as Spin finds them.
    ///
    /// # Errors
    ///
    /// When the runtime configuration cannot be read, or names no files.
    pub fn paths(self) -> Result<Vec<PathBuf>> {
        Ok(self.files()?.all().map(Path::to_owned).collect())
    }

    /// The files that the runtime configuration names. As in Spin (`crates/runtime-config` of its sources), relative paths of key-value stores
    /// begin at the folder of that file, and those of databases at the folder in which the program was started.
    fn files(self) -> Result<SpinFiles> {
        let file = self.runtime.display();
        let text = fs::read_to_string(self.runtime);
        let text = text.with_context(|| format!("cannot read {file}"))?;
        let runtime: Runtime = toml::from_str(&text)
            .with_context(|| format!("{file} is no runtime configuration of Spin"))?;
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        let (section, stores, folder) = match self.form {
            SpinForm::Sqlite => ("sqlite_database", &runtime.sqlite_database, here),
            SpinForm::KeyValue => {
                let folder = self.runtime.parent().unwrap_or(Path::new(""));
                (
                    "key_value_store",
                    &runtime.key_value_store,
                    here.join(folder),
                )
            }
        };
        SpinFiles::new(self.form, |label| {
            let Some(store) = stores.get(label) else {
                bail!(
                    "{file} has no [{section}.{label}]: name the file that `spin up` is given by --runtime-config-file"
                );
            };
            match (&*store.kind, &store.path) {
                ("spin", Some(path)) => Ok(folder.join(path)),
                ("spin", None) => bail!(
                    "[{section}.{label}] of {file} has no path, so Spin keeps it in memory: give it one"
                ),
                _ => bail!(
                    "[{section}.{label}] of {file} is no file of Spin's own: back it up where its server runs"
                ),
            }
        })
    }

    fn open(
        self,
        open: impl FnOnce(&SpinFiles, &RootKey) -> Result<SpinStore, SpinError>,
    ) -> Result<SpinStore> {
        let key = read_key_file(self.seal_key)?;
        Ok(open(&self.files()?, &key)?)
    }

    /// Opens its store to change it. Spin may go on.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or the key does not open the store.
    pub fn open_to_write(self) -> Result<SpinStore> {
        self.open(SpinStore::open_to_write)
    }
}

/// Begins a backup of an installation under Spin, as it is now, and changes no record of it. Answers also the files that are not there or
/// have no records.
///
/// # Errors
///
/// When there is no installation, the key does not open it, or another program keeps it locked.
pub async fn begin_under_spin(
    installation: SpinInstallation<'_>,
) -> Result<(Backup, Vec<PathBuf>)> {
    let store = installation.open(SpinStore::open_to_read)?;
    let access = AccessService::new(store.access(), SystemClock, OsRandom);
    let cluster = access.current_cluster();
    let cluster = cluster.context("the identity of the installation cannot be read")?;
    let empty = store.empty().map(Path::to_owned).collect();
    let id = cluster.map(|cluster| cluster.id);
    let backup = store.backup(id, SystemClock.now_milliseconds()).await?;
    Ok((backup, empty))
}

/// Restores a backup into new files of an installation under Spin, sealed by its `seal_key`. Tokens end as with
/// [`restore`](super::restore), and `share` and `progress` are the same.
///
/// # Errors
///
/// When the backup does not verify, or one of the files is there already: nothing has changed then. When the restore is cut off, Spin
/// finds no file with the identity of an installation, and another restore begins anew.
pub fn restore_under_spin(
    installation: SpinInstallation<'_>,
    options: RestoreOptions<'_>,
    share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>>,
    progress: impl FnMut(u64),
) -> Result<Restored> {
    if installation.form == SpinForm::KeyValue {
        bail!(
            "a backup is restored into SQLite: leave out --spin-records, and start Spin with spin.toml"
        );
    }
    if options.sharing.is_some() {
        bail!("Spin has its key in the variable seal_key, which cannot be split into shares");
    }
    let unreadable = || format!("cannot read {}", options.file.display());
    let input = File::open(options.file).with_context(unreadable)?;
    let manifest = read_manifest(&input)?;
    let key_file = Some(options.key_file.unwrap_or(installation.seal_key));
    let key = root_key(manifest.seal, KeySource { key_file, share })?;
    let seal_key = read_key_file(installation.seal_key)?;
    let files = installation.files()?;
    let restoration = SpinRestoration::begin(input, &files, &key, &seal_key, progress)?;
    let part = |namespace| -> Result<&dyn Store> {
        let part = restoration.part(namespace);
        part.context("Spin has no file for this part of the store")
    };
    if !options.keep_tokens {
        end_tokens_of(part(Namespace::Access)?, part(Namespace::Orgs)?)?;
    }
    Ok(Restored {
        inventory: restoration.finish()?,
        has_new_key: !seal_key.is_same_as(&key),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_begin_where_those_of_spin_do() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = folder.path().join("runtime.toml");
        let sections = ["sqlite_database", "key_value_store"].map(|section| {
            ["access", "auth-method", "orgs"]
                .map(|label| {
                    format!("[{section}.{label}]\ntype = \"spin\"\npath = \"in/{label}\"\n")
                })
                .concat()
        });
        fs::write(&runtime, sections.concat()).unwrap();
        let here = std::env::current_dir().unwrap();
        for (form, from) in [
            (SpinForm::Sqlite, here.as_path()),
            (SpinForm::KeyValue, folder.path()),
        ] {
            let installation = SpinInstallation {
                runtime: &runtime,
                seal_key: Path::new("unused"),
                form,
            };
            let mut paths = installation.paths().unwrap();
            paths.sort();
            let expected =
                ["access", "auth-method", "orgs"].map(|label| from.join("in").join(label));
            assert_eq!(paths, expected);
        }
    }
}
