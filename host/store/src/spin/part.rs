//! The records of one capability, and the capabilities that have any.

use gatehouse_ports::{OsRandom, Store, SystemClock};
use gatehouse_storage_adapter::sqlite::SqliteAdapter;
use gatehouse_storage_adapter::{Adapter, Export};

use super::file::{FileHost, SharedConnection};
use super::files::SpinForm;
use crate::{Namespace, RootKey};

/// The capabilities, that with the identity of the installation last.
#[cfg(feature = "postgresql")]
pub(super) const NAMESPACES: [Namespace; 3] =
    [Namespace::AuthMethod, Namespace::Orgs, Namespace::Access];

/// The records of one capability.
pub(super) trait Part: Store + Export + Send + Sync {}

impl<P: Store + Export + Send + Sync> Part for P {}

/// The records of `namespace` behind a connection, by the adapter for their form.
pub(super) fn part(
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
