//! Moving a mount to another path (contract 6.3).

use std::time::Duration;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::api::{Migration, Migrations, MountError, RemountError, ServiceError};
use crate::generation::{TooManyPathsError, is_at_or_below};
use crate::mounts::normalize_path;
use crate::random;
use crate::records::{MigrationRecord, MountRecord, TOKEN_MOUNT, migration_key, mount_key};
use crate::service::AccessService;

/// How long it can be asked what became of a move, in seconds.
const MIGRATION_KEPT: u64 = Duration::from_hours(24).as_secs();

impl<S: Store, C: Clock, R: Random> Migrations for AccessService<S, C, R> {
    /// One commit takes the mount from one key to the other: what belongs to it is kept under its identifier or its accessor,
    /// and stays.
    fn move_mount(&self, source: &str, target: &str) -> Result<String, RemountError> {
        let source = normalize_path(source).map_err(|_| RemountError::NoMount)?;
        let target = normalize_path(target).map_err(|_| RemountError::InvalidTarget)?;
        if source == TOKEN_MOUNT {
            return Err(RemountError::TokenMount);
        }
        if is_at_or_below(
            target.trim_end_matches('/'),
            TOKEN_MOUNT.trim_end_matches('/'),
        ) {
            return Err(RemountError::ReservedTarget);
        }
        let id = random::uuid(&self.random)?;
        let migration = MigrationRecord {
            source: source.clone(),
            target: target.clone(),
        };
        let kept_until = self.clock.now_seconds().saturating_add(MIGRATION_KEPT);
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction: Transaction = self.begin_mount_change().map_err(remount_error)?;
            let mount = self.records.get::<MountRecord>(&mount_key(&source))?;
            let mount = mount.ok_or(RemountError::NoMount)?;
            self.require_free(&target).map_err(remount_error)?;
            let mut moved = mount.record;
            moved.path.clone_from(&target);
            // Its tokens of the old path end for good, also when the mount comes back there.
            moved.generations.cut("").map_err(|TooManyPathsError| {
                ServiceError::Damaged("a cut of a whole mount was refused".to_owned())
            })?;
            transaction
                .require(mount_key(&source), mount.version)
                .delete(mount_key(&source))
                .put(mount_key(&target), &moved)?
                .put_until(
                    migration_key(&id),
                    &migration,
                    Some(kept_until.saturating_mul(1000)),
                )?;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                id.clone(),
            )?)
        })
    }

    fn read_migration(&self, id: &str) -> Result<Option<Migration>, ServiceError> {
        // A text that was never given out is not a key either, however long it is.
        if id.len() != random::UUID_LENGTH {
            return Ok(None);
        }
        let migration = self.records.get::<MigrationRecord>(&migration_key(id))?;
        Ok(migration.map(|migration| Migration {
            source: migration.record.source,
            target: migration.record.target,
        }))
    }
}

fn remount_error(error: MountError) -> RemountError {
    match error {
        MountError::PathInUse(path) => RemountError::PathInUse(path),
        MountError::Failure(failure) => RemountError::Failure(failure),
        _ => RemountError::InvalidTarget,
    }
}
