//! The interface `migrations`.

use super::{Component, access, migrations_wit, types_wit};
use crate::{Access, Migration, RemountError};

impl migrations_wit::Guest for Component {
    fn move_mount(source: String, target: String) -> Result<String, migrations_wit::RemountError> {
        Ok(access(|it| it.move_mount(&source, &target))?)
    }

    fn read(id: String) -> Result<Option<migrations_wit::Migration>, types_wit::Failure> {
        Ok(access(|it| it.read_migration(&id))?.map(Into::into))
    }
}

impl From<Migration> for migrations_wit::Migration {
    fn from(migration: Migration) -> Self {
        Self {
            source: migration.source,
            target: migration.target,
        }
    }
}

impl From<RemountError> for migrations_wit::RemountError {
    fn from(error: RemountError) -> Self {
        match error {
            RemountError::TokenMount => Self::TokenMount,
            RemountError::ReservedTarget => Self::ReservedTarget,
            RemountError::NoMount => Self::NoMount,
            RemountError::InvalidTarget => Self::InvalidTarget,
            RemountError::PathInUse(path) => Self::PathInUse(path),
            RemountError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
