//! Opening the store of an installation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gatehouse_ports::{Store, StoreError};

#[cfg(feature = "postgresql")]
use super::database::DatabaseParts;
use super::file::{PATIENCE, SharedConnection};
use super::key_value;
use super::snapshot::SpinSnapshot;
use super::{Part, SpinError, SpinFiles, SpinForm, SpinPlace, part};
use crate::{Backup, BackupError, Namespace, RootKey};

/// The longest wait for a program that has another file locked than the first.
const FURTHER_PATIENCE: Duration = Duration::from_secs(1);

/// The store of an installation under Spin.
pub struct SpinStore {
    seal_key: RootKey,
    access: Box<dyn Part>,
    others: Vec<(Namespace, Box<dyn Part>)>,
    empty: Vec<(Namespace, PathBuf)>,
}

/// One of its files.
struct OpenFile<'f> {
    path: &'f Path,
    connection: SharedConnection,
}

impl SpinStore {
    /// Opens the store to read it as it is at this moment, which all of its files have in common: Spin may go on. It changes no record.
    ///
    /// # Errors
    ///
    /// When there is no installation, `seal_key` does not open it, or another program keeps it locked.
    pub fn open_to_read(place: &SpinPlace, seal_key: &RootKey) -> Result<Self, SpinError> {
        match place {
            SpinPlace::Files(files) => {
                let (store, opened) = Self::open(files, seal_key, "pragma query_only = on")?;
                hold_this_moment(&opened, files.form, &store.empty)?;
                Ok(store)
            }
            #[cfg(feature = "postgresql")]
            SpinPlace::Database(database) => {
                Ok(Self::from_parts(database.open_to_read(seal_key)?, seal_key))
            }
        }
    }

    /// Opens the store to change it. Spin may go on: file or database decide between writers.
    ///
    /// # Errors
    ///
    /// As [`Self::open_to_read`], and for a key-value store, which only Spin writes to.
    pub fn open_to_write(place: &SpinPlace, seal_key: &RootKey) -> Result<Self, SpinError> {
        match place {
            SpinPlace::Files(files) if files.form == SpinForm::KeyValue => {
                Err(StoreError::Unavailable(key_value::READ_ONLY.to_owned()).into())
            }
            SpinPlace::Files(files) => Ok(Self::open(files, seal_key, "")?.0),
            #[cfg(feature = "postgresql")]
            SpinPlace::Database(database) => Ok(Self::from_parts(
                database.open_to_write(seal_key)?,
                seal_key,
            )),
        }
    }

    #[cfg(feature = "postgresql")]
    fn from_parts(parts: DatabaseParts, seal_key: &RootKey) -> Self {
        Self {
            seal_key: seal_key.duplicate(),
            access: parts.access,
            others: parts.others,
            empty: Vec::new(),
        }
    }

    fn open<'f>(
        files: &'f SpinFiles,
        seal_key: &RootKey,
        setting: &str,
    ) -> Result<(Self, Vec<OpenFile<'f>>), SpinError> {
        let mut connections = Vec::new();
        let mut others = Vec::new();
        let mut empty = Vec::new();
        let mut opened = |namespace, path: &'f Path| -> Result<Option<Box<dyn Part>>, SpinError> {
            let Some(connection) = with_records(files.form, namespace, path)? else {
                return Ok(None);
            };
            connection.run(path, setting)?;
            let part = part(files.form, namespace, connection.clone(), seal_key);
            part.open()?;
            connections.push(OpenFile { path, connection });
            Ok(Some(part))
        };
        let path = files.path_of_identity();
        let access = opened(Namespace::Access, path)?.ok_or_else(|| {
            let path = path.to_owned();
            match path.exists() {
                true => SpinError::NoInstallation { path },
                false => SpinError::Missing { path },
            }
        })?;
        for (namespace, path) in files.further_paths() {
            match opened(namespace, path)? {
                Some(part) => others.push((namespace, part)),
                None => empty.push((namespace, path.to_owned())),
            }
        }
        let store = Self {
            seal_key: seal_key.duplicate(),
            access,
            others,
            empty,
        };
        Ok((store, connections))
    }

    /// The records of the capability `access`.
    #[must_use]
    pub fn access(&self) -> &dyn Store {
        &*self.access
    }

    /// The files that are not there or have no records, as those of a capability that was never called.
    pub fn empty(&self) -> impl Iterator<Item = &Path> {
        self.empty.iter().map(|(_, path)| path.as_path())
    }

    /// Begins a backup of the store as it was when it was opened to be read. `now` is in milliseconds since 1970, and `installation` the
    /// identity that the manifest is to name.
    ///
    /// # Errors
    ///
    /// When there is no randomness, or a file does not answer.
    pub async fn backup(
        self,
        installation: Option<String>,
        now: u64,
    ) -> Result<Backup, BackupError> {
        let mut parts = self.others;
        parts.push((Namespace::Access, self.access));
        let snapshot = SpinSnapshot::new(parts, &self.seal_key)?;
        Backup::begin_from(Box::new(snapshot), self.seal_key, installation, now).await
    }
}

/// A connection to the file of `namespace`; `None` where it is not there or has no records of it.
fn with_records(
    form: SpinForm,
    namespace: Namespace,
    path: &Path,
) -> Result<Option<SharedConnection>, SpinError> {
    let is_there = path.try_exists();
    if !is_there.map_err(|error| SpinError::of_file(path, error))? {
        return Ok(None);
    }
    let connection = SharedConnection::open(path)?;
    let holds = connection.holds(path, form, namespace)?;
    Ok(holds.then_some(connection))
}

/// Has each connection go on with the state that its file has now. For a moment no other program writes to any of them.
fn hold_this_moment(
    files: &[OpenFile<'_>],
    form: SpinForm,
    empty: &[(Namespace, PathBuf)],
) -> Result<(), SpinError> {
    let mut writers: BTreeMap<&Path, SharedConnection> = BTreeMap::new();
    for OpenFile { path, .. } in files {
        // One file of a key-value store may be that of several capabilities.
        if writers.contains_key(path) {
            continue;
        }
        let writer = SharedConnection::open(path)?;
        // Spin waits for the first file while this waits for the next.
        let patience = if writers.is_empty() {
            PATIENCE
        } else {
            FURTHER_PATIENCE
        };
        writer.keep_others_from_writing(path, patience)?;
        writers.insert(path, writer);
    }
    for (namespace, path) in empty {
        if with_records(form, *namespace, path)?.is_some() {
            let path = path.clone();
            return Err(SpinError::BegunMeanwhile { path });
        }
    }
    for OpenFile { path, connection } in files {
        // The state is chosen by the first read and not by `begin`.
        connection.run(path, "begin; select count(*) from sqlite_master")?;
    }
    // Dropping the writers lets other programs write again.
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use gatehouse_ports::{Change, OsRandom, Put};

    use super::*;

    /// Has the capability write its first record, as an instance of it does.
    fn begin(files: &SpinFiles, namespace: Namespace, key: &RootKey) {
        let mut paths = files.paths();
        let (_, path) = paths.find(|(of, _)| *of == namespace).unwrap();
        std::fs::File::create_new(path).unwrap();
        let connection = SharedConnection::open(path).unwrap();
        let first = Change::Put(Put {
            key: "a".to_owned(),
            value: b"first".to_vec(),
            expires_at: None,
        });
        let part = part(files.form, namespace, connection, key);
        part.commit(Vec::new(), vec![first]).unwrap();
    }

    #[test]
    fn s11_a_capability_that_is_first_used_while_a_backup_begins_is_not_left_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let named = |label| Ok::<PathBuf, Infallible>(folder.path().join(label));
        let files = SpinFiles::new(SpinForm::Sqlite, named).unwrap();
        let key = RootKey::generate(&OsRandom).unwrap();
        begin(&files, Namespace::Access, &key);
        let (store, opened) = SpinStore::open(&files, &key, "").unwrap();
        begin(&files, Namespace::Orgs, &key);
        let held = hold_this_moment(&opened, files.form, &store.empty);
        let path = folder.path().join("orgs");
        assert!(
            matches!(&held, Err(SpinError::BegunMeanwhile { path: of }) if *of == path),
            "{held:?}"
        );
        // The next one has both.
        drop((store, opened));
        let store = SpinStore::open_to_read(&SpinPlace::Files(files), &key).unwrap();
        let empty = [folder.path().join("auth-method")];
        assert!(store.empty().eq(&empty));
    }
}
