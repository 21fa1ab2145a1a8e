//! Backups of installations under Spin, and restores to there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
#[cfg(feature = "postgresql")]
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use gatehouse_access::{AccessService, System as _};
use gatehouse_ports::{Clock as _, OsRandom, Store, SystemClock};
#[cfg(feature = "postgresql")]
use gatehouse_store::SpinDatabase;
use gatehouse_store::{
    Backup, Namespace, RootKey, SpinError, SpinFiles, SpinForm, SpinPlace, SpinRestoration,
    SpinStore, read_key_file, read_manifest,
};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::restoring::{RestoreOptions, Restored, end_tokens_of};
use super::root_key::{KeySource, root_key};
#[cfg(feature = "postgresql")]
use crate::outbound::client_configuration;

/// An installation under Spin.
#[derive(Debug, Clone, Copy)]
pub struct SpinInstallation<'a> {
    /// Where its records are.
    pub records: SpinRecords<'a>,
    /// The file whose text is the variable `seal_key`.
    pub seal_key: &'a Path,
}

/// Where an installation under Spin keeps its records.
#[derive(Debug, Clone, Copy)]
pub enum SpinRecords<'a> {
    /// In files.
    Files {
        /// The runtime configuration that names them.
        runtime: &'a Path,
        /// The form of the records.
        form: SpinForm,
    },
    /// In a PostgreSQL database.
    Database {
        /// The file whose text is the variable `postgres_url`.
        url: &'a Path,
        /// PEM file with certificate authorities to trust beside those of the system.
        ca: Option<&'a Path>,
    },
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
    /// The paths of its files, as Spin finds them; none where its records are in a database.
    ///
    /// # Errors
    ///
    /// When the runtime configuration cannot be read, or names no files.
    pub fn paths(self) -> Result<Vec<PathBuf>> {
        match self.records {
            SpinRecords::Files { runtime, form } => {
                let files = files(runtime, form)?;
                Ok(files.all().map(Path::to_owned).collect())
            }
            SpinRecords::Database { .. } => Ok(Vec::new()),
        }
    }

    fn place(self) -> Result<SpinPlace> {
        match self.records {
            SpinRecords::Files { runtime, form } => Ok(SpinPlace::Files(files(runtime, form)?)),
            SpinRecords::Database { url, ca } => database(url, ca),
        }
    }

    fn open(
        self,
        open: impl FnOnce(&SpinPlace, &RootKey) -> Result<SpinStore, SpinError>,
    ) -> Result<SpinStore> {
        let key = read_key_file(self.seal_key)?;
        Ok(open(&self.place()?, &key)?)
    }

    /// Opens its store to change it. Spin may go on.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, the database cannot be used, or the key does not open the store.
    pub fn open_to_write(self) -> Result<SpinStore> {
        self.open(SpinStore::open_to_write)
    }
}

/// The files that a runtime configuration names. As in Spin (`crates/runtime-config` of its sources), relative paths of key-value stores
/// begin at the folder of that file, and those of databases at the folder in which the program was started.
fn files(runtime: &Path, form: SpinForm) -> Result<SpinFiles> {
    let file = runtime.display();
    let text = fs::read_to_string(runtime);
    let text = text.with_context(|| format!("cannot read {file}"))?;
    let configuration: Runtime = toml::from_str(&text)
        .with_context(|| format!("{file} is no runtime configuration of Spin"))?;
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    let (section, stores, folder) = match form {
        SpinForm::Sqlite => ("sqlite_database", &configuration.sqlite_database, here),
        SpinForm::KeyValue => {
            let folder = runtime.parent().unwrap_or(Path::new(""));
            (
                "key_value_store",
                &configuration.key_value_store,
                here.join(folder),
            )
        }
    };
    SpinFiles::new(form, |label| {
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

/// The database at the address in the file `url`.
#[cfg(feature = "postgresql")]
fn database(url: &Path, ca: Option<&Path>) -> Result<SpinPlace> {
    // An address in place of a file must not be repeated: it holds the password.
    let name = url.to_string_lossy();
    if name.contains("://") || name.contains("password=") {
        bail!(
            "--postgres-url-file takes the name of a file: write the address into one, so that no list of processes shows its password"
        );
    }
    let text = fs::read_to_string(url).map(Zeroizing::new);
    let text = text.with_context(|| format!("cannot read {}", url.display()))?;
    let tls = client_configuration("--postgres-ca-file", ca)?;
    Ok(SpinPlace::Database(SpinDatabase::new(
        &text,
        &Arc::new(tls),
    )?))
}

/// Says that there is no client.
#[cfg(not(feature = "postgresql"))]
fn database(_: &Path, _: Option<&Path>) -> Result<SpinPlace> {
    bail!("this program was built without its feature `postgresql`: use one that has it")
}

/// Begins a backup of an installation under Spin, as it is now, and changes no record of it. Answers also the files that are not there or
/// have no records.
///
/// # Errors
///
/// When there is no installation, the key does not open it, another program keeps it locked, or the database cannot be reached.
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

/// Restores a backup into new files or an empty database of an installation under Spin, sealed by its `seal_key`. Tokens end as with
/// [`restore`](super::restore), and `share` and `progress` are the same.
///
/// # Errors
///
/// When the backup does not verify, or there is one of the files, or a record in the database, already: nothing has changed then. When the
/// restore is cut off, Spin finds no installation, and another restore begins anew.
pub fn restore_under_spin(
    installation: SpinInstallation<'_>,
    options: RestoreOptions<'_>,
    share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>>,
    progress: impl FnMut(u64),
) -> Result<Restored> {
    if let SpinRecords::Files {
        form: SpinForm::KeyValue,
        ..
    } = installation.records
    {
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
    let place = installation.place()?;
    let restoration = SpinRestoration::begin(input, &place, &key, &seal_key, progress)?;
    let part = |namespace| -> Result<&dyn Store> {
        let part = restoration.part(namespace);
        part.context("Spin has no place for this part of the store")
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
                records: SpinRecords::Files {
                    runtime: &runtime,
                    form,
                },
                seal_key: Path::new("unused"),
            };
            let mut paths = installation.paths().unwrap();
            paths.sort();
            let expected =
                ["access", "auth-method", "orgs"].map(|label| from.join("in").join(label));
            assert_eq!(paths, expected);
        }
    }

    #[cfg(feature = "postgresql")]
    #[test]
    fn an_address_in_place_of_the_file_that_holds_it_is_refused_and_not_repeated() {
        let refused = |url: &Path| database(url, None).err().unwrap();
        let address = "postgresql://gatehouse:hunter2-canary@db.example.com/gatehouse";
        for address in [address, "host=db.example.com password=hunter2-canary"] {
            let told = format!("{:#}", refused(Path::new(address)));
            assert!(told.contains("the name of a file"), "{told}");
            assert!(!told.contains("hunter2-canary"), "{told}");
        }
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("postgres-url");
        let told = format!("{:#}", refused(&missing));
        assert!(told.contains("cannot read"), "{told}");
        fs::write(&missing, "hunter2-canary\n").unwrap();
        let told = format!("{:#}", refused(&missing));
        assert!(told.contains("postgresql://USER:PASSWORD@HOST"), "{told}");
        assert!(!told.contains("hunter2-canary"), "{told}");
        fs::write(&missing, format!("{address}?sslmode=require\n")).unwrap();
        assert!(matches!(
            database(&missing, None),
            Ok(SpinPlace::Database(_))
        ));
    }
}
