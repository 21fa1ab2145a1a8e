//! The store of an installation under Spin: three files of SQLite, or the tables of a PostgreSQL database, which are copied into a backup and
//! made from one.
//!
//! Each capability has a file of its own, or rows of its own in the database. The [storage adapter](gatehouse_storage_adapter) keeps the
//! records there, sealed by a keyring for each capability, which in turn the variable `seal_key` of Spin seals. A backup has one keyring for
//! all of its records, so on the way every record is opened and sealed anew. The root key stays the same unless another one is wanted: the
//! `seal_key` of one is the key file of the other.
//!
//! The adapter reads and writes files and tables itself, as it does within Spin, so that their form is defined in one crate.

#[cfg(feature = "postgresql")]
mod database;
mod error;
mod file;
mod fresh;
mod key_value;
mod read;
mod restoration;
mod snapshot;

use std::path::{Path, PathBuf};

use gatehouse_ports::{OsRandom, Store, SystemClock};
use gatehouse_storage_adapter::sqlite::SqliteAdapter;
use gatehouse_storage_adapter::{Adapter, Export};

#[cfg(feature = "postgresql")]
pub use database::{SpinDatabase, SpinDatabaseError};
pub use error::SpinError;
pub use read::SpinStore;
pub use restoration::SpinRestoration;

use self::file::{FileHost, SharedConnection};
use crate::{Namespace, RootKey};

/// The capabilities, that with the identity of the installation last.
#[cfg(feature = "postgresql")]
const NAMESPACES: [Namespace; 3] = [Namespace::AuthMethod, Namespace::Orgs, Namespace::Access];

/// Where an installation under Spin keeps its records.
#[derive(Clone)]
pub enum SpinPlace {
    /// In files.
    Files(SpinFiles),
    /// In a PostgreSQL database.
    #[cfg(feature = "postgresql")]
    Database(SpinDatabase),
}

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
