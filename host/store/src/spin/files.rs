//! The files of an installation under Spin.

use std::path::{Path, PathBuf};

use crate::Namespace;

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
    pub(super) form: SpinForm,
    pub(super) access: PathBuf,
    pub(super) auth_method: PathBuf,
    pub(super) orgs: PathBuf,
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
    pub(super) fn path_of_identity(&self) -> &Path {
        &self.access
    }

    /// The files of the other capabilities.
    pub(super) fn further_paths(&self) -> [(Namespace, &Path); 2] {
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
    pub(super) fn paths(&self) -> impl Iterator<Item = (Namespace, &Path)> {
        let identity = (Namespace::Access, self.path_of_identity());
        self.further_paths().into_iter().chain([identity])
    }
}
