//! The store of an installation under Spin: three files of SQLite, which are copied into a backup and made from one.
//!
//! Spin gives each capability a file of its own. The [storage adapter](gatehouse_storage_adapter) keeps the records there, sealed by a keyring
//! for each file, which in turn the variable `seal_key` of Spin seals. A backup has one keyring for all of its records, so on the way
//! every record is opened and sealed anew. The root key stays the same unless another one is wanted: the `seal_key` of one is the key file of
//! the other.
//!
//! The adapter reads and writes the files itself, as it does within Spin, so that their form is defined in one crate.

mod error;
mod file;
mod fresh;
mod key_value;
mod read;
mod snapshot;

use std::path::{Path, PathBuf};

use gatehouse_ports::{OsRandom, Store, SystemClock};
use gatehouse_storage_adapter::sqlite::SqliteAdapter;
use gatehouse_storage_adapter::{Adapter, Export};

pub use error::SpinError;
pub use fresh::SpinRestoration;
pub use read::SpinStore;

use self::file::{FileHost, SharedConnection};
use crate::{Namespace, RootKey};

/// The form of the records in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpinForm {
    /// Tables of `spin:sqlite`.
    Sqlite,
    /// Sealed pages in a key-value store.
    KeyValue,
}

/// The files of an installation under Spin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinFiles {
    form: SpinForm,
    access: PathBuf,
    auth_method: PathBuf,
    orgs: PathBuf,
}

impl SpinFiles {
    /// The files with these records. `path` is asked for that of each label: `access`, `auth-method` and `orgs`.
    ///
    /// # Errors
    ///
    /// When `path` fails.
    pub fn new<E>(
        form: SpinForm,
        path: impl Fn(&'static str) -> Result<PathBuf, E>,
    ) -> Result<Self, E> {
        let path = |namespace: Namespace| path(namespace.label());
        Ok(Self {
            form,
            access: path(Namespace::Access)?,
            auth_method: path(Namespace::AuthMethod)?,
            orgs: path(Namespace::Orgs)?,
        })
    }

    /// The file that is there wherever there is an installation: it holds its identity.
    fn path_of_identity(&self) -> &Path {
        &self.access
    }

    /// The files of the other capabilities.
    fn further_paths(&self) -> [(Namespace, &Path); 2] {
        [
            (Namespace::AuthMethod, &self.auth_method),
            (Namespace::Orgs, &self.orgs),
        ]
    }

    /// The paths of all files.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.paths().map(|(_, path)| path)
    }

    /// All files, that of the identity last.
    fn paths(&self) -> impl Iterator<Item = (Namespace, &Path)> {
        let identity = (Namespace::Access, self.path_of_identity());
        self.further_paths().into_iter().chain([identity])
    }
}

/// The records of one capability.
trait Part: Store + Export + Send + Sync {}

impl<P: Store + Export + Send + Sync> Part for P {}

/// The records of `namespace` behind a connection, by the adapter for their form.
fn part(
    form: SpinForm,
    namespace: Namespace,
    connection: SharedConnection,
    seal_key: &RootKey,
) -> Box<dyn Part> {
    let host = FileHost::new(connection, seal_key);
    let label = namespace.label();
    match form {
        SpinForm::Sqlite => Box::new(SqliteAdapter::new(host, label, SystemClock, OsRandom)),
        SpinForm::KeyValue => Box::new(Adapter::new(host, label, SystemClock, OsRandom)),
    }
}
